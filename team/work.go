package team

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/board"
)

// work is the phase WORK: one job, and what follows from its end.
func (t *Teammate) work(ctx context.Context, l *life, e *errand) step {
	report := t.do(ctx, l, e)
	if e.job.Kind == TaskJob {
		return t.concludeTask(ctx, l, e, report)
	}
	return t.concludeTalk(ctx, l, e, report)
}

// do runs the worker under a context that ends when the member is stopped by force or the task is taken.
func (t *Teammate) do(ctx context.Context, l *life, e *errand) agent.Report {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t.move(Working, func(st *Status) {
		forgetTask(st)
		if task := e.job.Task; task != nil {
			st.Task, st.Claim = task.ID, task.Ref().Claim
			st.Subject, st.ActiveForm, st.Attempt = task.Subject, task.ActiveForm, task.Attempt
		}
	})
	t.setCurrent(func(cause error) { cancel(cause) })
	defer t.setCurrent(nil)
	if task := e.job.Task; task != nil && t.wasTaken(task.Ref()) {
		cancel(&takenError{"before the attempt began"})
	}
	report := t.callWorker(ctx, t.equip(e, l))
	t.update(func(st *Status) {
		st.Tokens += max(0, report.Usage.Total()-e.tokens)
		st.LastActivity = time.Now()
		if report.Run != "" {
			st.Run = report.Run
		}
	})
	return report
}

func (t *Teammate) setCurrent(cancel func(error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current = cancel
}

// callWorker turns a panic of the worker into a report.
func (t *Teammate) callWorker(ctx context.Context, job Job) (report agent.Report) {
	defer func() {
		if v := recover(); v != nil {
			report = agent.Report{Termination: agent.Failed, Code: agent.CodePanic, Message: fmt.Sprint(v)}
		}
	}()
	return t.sup.cfg.Worker.Work(ctx, job)
}

// equip gives the job the functions through which its worker reaches the member.
func (t *Teammate) equip(e *errand, l *life) Job {
	job := e.job
	t.mu.Lock()
	job.Member = t.status.Spec
	job.Notes = t.notes[:len(t.notes):len(t.notes)]
	t.heard = nil
	t.mu.Unlock()
	select { // an interrupt meant for the run before
	case <-t.interrupt:
	default:
	}
	job.Stop, job.Interrupt = l.stop, t.interrupt
	var once sync.Once
	job.Entered = func(ctx context.Context) error {
		err := t.entered(ctx, e)
		if err == nil {
			once.Do(func() { t.dropNotes(len(job.Notes)) })
		}
		return err
	}
	job.Receive = func(ctx context.Context) (Delivery, error) { return t.receive(ctx, e) }
	job.Progress = func(p Progress) { t.progress(e, p) }
	return job
}

// entered is called when the opening is durable. A prompt is taken off the roster: it comes only once.
func (t *Teammate) entered(ctx context.Context, e *errand) error {
	if err := e.enter(ctx); err != nil {
		return err
	}
	t.mu.Lock()
	prompt := e.job.Kind == PromptJob && t.status.Prompt != ""
	if prompt {
		t.status.Prompt = ""
	}
	t.mu.Unlock()
	if prompt {
		return t.sup.saveRoster(ctx)
	}
	return nil
}

func (t *Teammate) dropNotes(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notes = t.notes[min(n, len(t.notes)):]
}

func (t *Teammate) progress(e *errand, p Progress) {
	e.mu.Lock()
	e.tokens += p.Tokens
	e.mu.Unlock()
	note := func(st *Status) {
		st.LastActivity = time.Now()
		st.Tokens += p.Tokens
		if p.Run != "" {
			st.Run = p.Run
		}
	}
	switch {
	case p.Approval != "":
		t.move(WaitingApproval, func(st *Status) { note(st); st.Approval = p.Approval })
	case p.Answered:
		t.move(Working, note)
	default:
		t.update(note)
	}
}

// concludeTask settles an attempt by the table.
func (t *Teammate) concludeTask(ctx context.Context, l *life, e *errand, r agent.Report) step {
	ref := e.job.Task.Ref()
	if t.wasTaken(ref) {
		t.settleTaken(ctx)
		return step{}
	}
	end := endOf(r, e.job.Round)
	if r.Termination != agent.Achieved && (ctx.Err() != nil || l.stopping() && r.Termination == agent.Cancelled) {
		end = ending{end: board.Release{Reason: "stopped"}}
	}
	if end.end == nil {
		t.attempt.round++
		t.attempt.refused = r.Refused
		return step{}
	}
	t.finish(ctx, l, ref, r, end.end)
	return t.consequences(end, r)
}

// concludeTalk settles a run on mail or a prompt.
func (t *Teammate) concludeTalk(ctx context.Context, l *life, e *errand, r agent.Report) step {
	end := endOf(r, 0)
	switch stopped := ctx.Err() != nil || l.stopping(); {
	case stopped && r.Termination != agent.Achieved:
		if e.hasEntered() {
			t.unfinished = e.again()
		}
		return step{}
	case end.crash != "" && !e.hasEntered():
		// The prompt, or the mail that was not acknowledged, comes again by itself.
		return step{crash: end.crash}
	case end.crash == "" && end.pause != nil:
		if e.hasEntered() {
			t.unfinished = e.again()
		}
		return t.consequences(end, r)
	case end.crash == "" && !e.hasEntered():
		return step{pause: &pause{code: "transcript", reason: "the transcript did not take the work: " + reasonOf(r)}}
	}
	t.answerEnd(ctx, e, r)
	return t.consequences(end, r)
}

// consequences is what an ending means for the member and its account.
func (t *Teammate) consequences(end ending, r agent.Report) step {
	if end.pause == nil && end.crash == "" {
		t.resting = 0
		if r.Turns > 0 {
			t.sup.accounts.succeed(t.sup.cfg.Key(t.spec()))
		}
	}
	return step{pause: end.pause, crash: end.crash}
}
