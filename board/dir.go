package board

import (
	"context"
	"errors"

	"github.com/autonomy-team/autonomy"
)

// Dir is a board in a folder. All methods may be called from any goroutine.
type Dir struct{ cfg Config }

// Open validates the configuration. Nothing is read before Refresh or Settle.
func Open(cfg Config) (*Dir, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Dir{cfg: cfg}, nil
}

var errUnbuilt = errors.New("not built yet")

func (d *Dir) Refresh(ctx context.Context, names ...string) (Changes, error) { return Changes{}, errUnbuilt }
func (d *Dir) Recheck(ctx context.Context) (Changes, error)                  { return Changes{}, errUnbuilt }
func (d *Dir) Settle(ctx context.Context) error                              { return errUnbuilt }
func (d *Dir) List() []Entry                                                 { return nil }
func (d *Dir) Get(id autonomy.TaskID) (Entry, error)                         { return Entry{}, errUnbuilt }
func (d *Dir) Stuck() []autonomy.TaskID                                      { return nil }
func (d *Dir) Create(ctx context.Context, draft Draft) (Task, error)         { return Task{}, errUnbuilt }
func (d *Dir) Claim(ctx context.Context, id autonomy.TaskID, who Claimant) (Task, error) {
	return Task{}, errUnbuilt
}
func (d *Dir) ClaimNext(ctx context.Context, who Claimant) (Task, error) { return Task{}, errUnbuilt }
func (d *Dir) Eligible(id autonomy.TaskID, who Claimant) (bool, string)  { return false, "" }
func (d *Dir) BestFor(who Claimant) (autonomy.TaskID, bool)              { return 0, false }
func (d *Dir) Own(name autonomy.AgentName, instance autonomy.InstanceID) (Task, bool) {
	return Task{}, false
}
func (d *Dir) Finish(ctx context.Context, ref Ref, end End) (Task, error) { return Task{}, errUnbuilt }
func (d *Dir) Stopped(ctx context.Context, ref Ref) error                 { return errUnbuilt }
func (d *Dir) Lost(ref Ref) error                                         { return nil }
func (d *Dir) Reap(ctx context.Context) ([]Reaped, error)                 { return nil, errUnbuilt }
func (d *Dir) ClaimByPerson(ctx context.Context, id autonomy.TaskID, name autonomy.AgentName) (Task, error) {
	return Task{}, errUnbuilt
}
func (d *Dir) Complete(ctx context.Context, id autonomy.TaskID, result Result) (Task, error) {
	return Task{}, errUnbuilt
}
func (d *Dir) Release(ctx context.Context, id autonomy.TaskID) (Task, error) { return Task{}, errUnbuilt }
func (d *Dir) Retry(ctx context.Context, id autonomy.TaskID) (Task, error)   { return Task{}, errUnbuilt }
func (d *Dir) Cancel(ctx context.Context, id autonomy.TaskID) (Task, error)  { return Task{}, errUnbuilt }
func (d *Dir) Assign(ctx context.Context, id autonomy.TaskID, name autonomy.AgentName) (Task, error) {
	return Task{}, errUnbuilt
}
func (d *Dir) Edit(ctx context.Context, id autonomy.TaskID, patch Patch) (Task, error) {
	return Task{}, errUnbuilt
}
func (d *Dir) Archive(ctx context.Context, ids ...autonomy.TaskID) error { return errUnbuilt }
func (d *Dir) Check(ctx context.Context) ([]Checked, error)              { return nil, errUnbuilt }
func (d *Dir) Explain(id autonomy.TaskID, members []Claimant) (Explanation, error) {
	return Explanation{}, errUnbuilt
}
