package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/daemon"
	"github.com/autonomy-team/autonomy/internal/filelock"
	"github.com/autonomy-team/autonomy/team"
)

func TestClassify(t *testing.T) {
	tests := map[string]struct {
		err  error
		code int
		hint string // part of it
	}{
		"no workspace":     {config.ErrNoWorkspace, ExitUsage, "-C DIR"},
		"no daemon":        {control.ErrNotRunning, ExitNoDaemon, "autonomy up"},
		"other version":    {&control.VersionError{}, ExitFailed, ""},
		"second daemon":    {&daemon.AlreadyRunningError{}, ExitRunning, ""},
		"told so remotely": {control.Errorf(control.CodeRunning, "already running"), ExitRunning, ""},
		"bad request":      {control.Errorf(control.CodeInvalid, "no"), ExitUsage, ""},
		"remote advice":    {&control.Error{Code: control.CodeConflict, Message: "x", Hint: "stop it first"}, ExitFailed, "stop it first"},
		"untrusted":        {app.ErrUntrusted, ExitFailed, "autonomy trust"},
		"busy":             {&filelock.BusyError{}, ExitFailed, "try again"},
		"bad name":         {&team.NameError{Name: "Alice"}, ExitUsage, ""},
		"interrupted":      {context.Canceled, ExitFailed, ""},
		"invalid task":     {&board.InvalidError{Path: "task_1.json"}, ExitFailed, "task check"},
		"bad values":       {&board.InvalidError{Path: "new task", Err: board.ErrInput}, ExitUsage, ""},
		"no such task":     {&board.NotFoundError{ID: 4}, ExitFailed, "task list"},
		"claimed":          {&board.ClaimedError{ID: 4, Owner: "bob"}, ExitFailed, "task release 4"},
		"not ready":        {&board.NotReadyError{ID: 4}, ExitFailed, "task explain 4"},
		"wrong state":      {&board.StateError{ID: 4}, ExitFailed, "task show 4"},
		"folder gone":      {&board.FolderError{}, ExitFailed, "autonomy init"},
		"usage":            {usage("no"), ExitUsage, ""},
		"hinted":           {hinted(errors.New("no"), "do %s", "this"), ExitFailed, "do this"},
		"hinted usage":     {hinted(usage("no"), "do this"), ExitUsage, "do this"},
		"silent":           {silent(ExitUnfinished), ExitUnfinished, ""},
		"code and cause":   {&failure{code: ExitUsage, err: config.ErrNoWorkspace}, ExitUsage, "-C DIR"},
		"anything else":    {errors.New("boom"), ExitFailed, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, err := range []error{test.err, fmt.Errorf("do it: %w", test.err), errors.Join(test.err, errors.New("more"))} {
				code, hint := classify(err)
				if code != test.code || !strings.Contains(hint, test.hint) || test.hint == "" && hint != "" {
					t.Errorf("%v: status %d, hint %q; want %d, %q", err, code, hint, test.code, test.hint)
				}
			}
		})
	}
}

func TestReportSaysEachThingOnce(t *testing.T) {
	tests := map[string]error{
		"": silent(ExitUnfinished),
		"autonomy: needs a model: autonomy model setup\n": &control.Error{
			Code: control.CodeNeedsModel, Message: "needs a model: autonomy model setup", Hint: "run autonomy model setup",
		},
		"autonomy: busy\n  stop it first\n":                      hinted(errors.New("busy"), "stop it first"),
		"autonomy: interrupted\n":                                fmt.Errorf("wait for alice: %w", context.Canceled),
		"autonomy: wait: context canceled\nalice did not stop\n": errors.Join(fmt.Errorf("wait: %w", context.Canceled), errors.New("alice did not stop")),
		"autonomy: open \\x1b[2Jx: no such file\n":               errors.New("open \x1b[2Jx: no such file"),
	}
	for want, err := range tests {
		var out bytes.Buffer
		report(&Streams{Err: &out}, err)
		if out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	}
}
