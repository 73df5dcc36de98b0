package app

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/provider/script"
	"github.com/autonomy-team/autonomy/internal/control"
)

func withModel(t *testing.T, p *place, entries ...script.Entry) *script.Server {
	t.Helper()
	server, err := script.NewServer(script.Of(entries...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	p.env["AUTONOMY_PROVIDER"], p.env["AUTONOMY_MODEL"] = "custom", "scripted"
	p.env["AUTONOMY_BASE_URL"] = server.URL()
	return server
}

// The third run of a goal that was achieved twice by the same action asks no model, and still verifies.
func TestThirdRunMakesNoModelCall(t *testing.T) {
	p := newPlace(t)
	do := script.Do("bash", `{"command":"echo x >> made.txt","purpose":"make it"}`)
	server := withModel(t, p, do, script.Text("done"), do, script.Text("done"))
	goal := GoalOptions{Goal: "make the file", Verify: "test -s made.txt", Mode: "full"}
	for run := 1; run <= 3; run++ {
		report, err := p.RunGoal(t.Context(), goal)
		if err != nil || report.Termination != agent.Achieved || !report.Verified {
			t.Fatalf("run %d: %+v, %v", run, report, err)
		}
	}
	if server.Count() != 4 {
		t.Errorf("%d requests, want 4: two for each of the first two runs", server.Count())
	}
	if data, _ := os.ReadFile(filepath.Join(p.ws.Root, "made.txt")); string(data) != "x\nx\nx\n" {
		t.Errorf("made.txt = %q, want the action done in each run", data)
	}
	runs, err := p.Runs(t.Context(), 0)
	if err != nil || len(runs) != 3 || runs[0].Goal != "make the file" || runs[0].Termination != "achieved" {
		t.Fatalf("Runs = %+v, %v", runs, err)
	}
	for _, r := range runs {
		again, err := p.Replay(t.Context(), r.ID)
		if err != nil || !again.Same {
			t.Errorf("replay of %s: %+v, %v", r.ID, again, err)
		}
	}
}

func TestAlteredRunIsDetected(t *testing.T) {
	p := newPlace(t)
	withModel(t, p, script.Text("done"))
	report, err := p.RunGoal(t.Context(), GoalOptions{Goal: "say done", Judge: "never"})
	if err != nil {
		t.Fatal(err)
	}
	path := p.ws.Run(string(report.Run))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), "say done", "say gone", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Replay(t.Context(), report.Run); err == nil {
		t.Error("an altered log was replayed")
	}
	info, err := p.RunInfo(report.Run)
	if err != nil || info.Damaged == "" {
		t.Errorf("RunInfo = %+v, %v, want it shown as damaged", info, err)
	}
}

func TestRunWithoutModelSaysHowToChooseOne(t *testing.T) {
	_, err := newPlace(t).RunGoal(t.Context(), GoalOptions{Goal: "x"})
	var e *control.Error
	if !errors.As(err, &e) || e.Code != control.CodeNeedsModel || !strings.Contains(e.Hint, "model setup") {
		t.Errorf("error = %#v", err)
	}
}

func TestRunsAreFoundByTheirBeginning(t *testing.T) {
	p := newPlace(t)
	log, err := p.beginRun(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer log.close()
	if id, err := p.FindRun(strings.ToLower(string(log.id[:20]))); err != nil || id != log.id {
		t.Errorf("FindRun = %s, %v", id, err)
	}
	if _, err := p.FindRun("ZZZ"); !errors.Is(err, ErrNoRun) {
		t.Errorf("FindRun(ZZZ) = %v", err)
	}
	for _, err := range p.Run("../../etc/passwd") {
		if !errors.Is(err, ErrNoRun) {
			t.Errorf("Run outside the folder: %v", err)
		}
	}
}

func TestToolsPassTheGateway(t *testing.T) {
	p := newPlace(t)
	seen, err := p.CallTool(t.Context(), "bash", json.RawMessage(`{"command":"echo hi"}`), "", nil)
	if err != nil || seen.Status != action.OK || !strings.Contains(seen.Output, "hi") {
		t.Errorf("a person's command: %+v, %v", seen, err)
	}
	seen, err = p.CallTool(t.Context(), "bash", json.RawMessage(`{"command":"echo hi"}`), "read-only", nil)
	if err != nil || seen.Status != action.Denied {
		t.Errorf("in read-only: %+v, %v", seen, err)
	}
	seen, err = p.CallTool(t.Context(), "write_file", json.RawMessage(`{"path":".tasks/task_1.json","content":"{}"}`), "full", nil)
	if err != nil || seen.Status == action.OK {
		t.Errorf("writing the board: %+v, %v", seen, err)
	}
	seen, err = p.CallTool(t.Context(), "no_such", json.RawMessage(`{}`), "", nil)
	if err != nil || seen.Status != action.Inadmissible {
		t.Errorf("unknown tool: %+v, %v", seen, err)
	}
	why, err := p.Explain("bash", json.RawMessage(`{"command":"ls"}`), "auto")
	if err != nil || why.Decision != action.Ask {
		t.Errorf("Explain = %+v, %v", why, err)
	}
}

func TestVerifyNeedsTrust(t *testing.T) {
	p := newPlace(t)
	ok, exit, _, err := p.Verify(t.Context(), "exit 3", nil)
	if ok || exit != 3 || err != nil {
		t.Errorf("Verify = %v, %d, %v", ok, exit, err)
	}
	if err := p.Revoke(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := p.Verify(t.Context(), "true", nil); !errors.Is(err, ErrUntrusted) {
		t.Errorf("untrusted: %v", err)
	}
}

// A key that a person pastes into a goal is in no request, neither to the model nor to the judge.
func TestNoKeyReachesAPrompt(t *testing.T) {
	p := newPlace(t)
	server := withModel(t, p, script.Text("done"), script.Text(`{"verdict":"achieved","reason":"seen"}`))
	p.env["OPENAI_API_KEY"] = "feather/of+openai.key"
	p.open(t, p.opts.UserDir) // the keys are read at the start
	report, err := p.RunGoal(t.Context(), GoalOptions{Goal: "try feather/of+openai.key and ghp_canarycanarycanarycanary0002"})
	if err != nil || report.Termination != agent.Achieved {
		t.Fatalf("%+v, %v", report, err)
	}
	if server.Count() != 2 {
		t.Fatalf("%d requests", server.Count())
	}
	for i, r := range server.Requests() {
		if strings.Contains(string(r.Body), "feather") || strings.Contains(string(r.Body), "ghp_canary") {
			t.Errorf("request %d: %s", i+1, r.Body)
		}
	}
	log, err := os.ReadFile(p.ws.Run(string(report.Run)))
	if err != nil || strings.Contains(string(log), "feather") || strings.Contains(string(log), "ghp_canary") {
		t.Errorf("the run's log: %s, %v", log, err)
	}
}
