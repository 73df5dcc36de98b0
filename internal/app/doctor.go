package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy/agent/provider"
	"github.com/autonomy-team/autonomy/board"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/control"
	"github.com/autonomy-team/autonomy/internal/doctor"
	"github.com/autonomy-team/autonomy/internal/filelock"
)

// DoctorOptions are the flags of `doctor`.
type DoctorOptions struct {
	Offline  bool
	Model    provider.Choice // the model to look at; empty = the one of the settings
	TryLock  []string        // command line that tries the lock at the path added to it: doctor.Locks
	Progress func(done, total int)
}

// Diagnose looks whether everything works here. Nothing of a key is in the rows.
func (a *App) Diagnose(ctx context.Context, o DoctorOptions) []doctor.Row {
	chains := a.personChecks()
	if a.ws.Exists() {
		chains = append(chains, a.workspaceChecks(o)...)
	} else {
		chains = append(chains, doctor.Chain{{Name: "workspace", Required: true, Run: func(context.Context) doctor.Finding {
			return doctor.Finding{State: doctor.Failure, Seen: "none at or above " + a.ws.Root, Fix: "run autonomy init here"}
		}}})
	}
	chains = append(chains, doctor.Chain{doctor.Git()}, doctor.Chain{doctor.Chromium()}, doctor.Chain{doctor.Sandbox()})
	chains = append(chains, doctor.Models(a.subject(o.Model)))
	if set, err := a.Settings(); err == nil && len(set.Fallback) > 0 {
		chains = append(chains, doctor.Chain{{Name: "fallback", Run: func(context.Context) doctor.Finding {
			return a.checkFallback(set.Fallback)
		}}})
	}
	return a.clean(doctor.Run(ctx, chains, doctor.Options{Offline: o.Offline, Progress: o.Progress}))
}

// clean masks what servers and files may have said.
func (a *App) clean(rows []doctor.Row) []doctor.Row {
	for i := range rows {
		rows[i].Seen, rows[i].Fix = a.redact.String(rows[i].Seen), a.redact.String(rows[i].Fix)
	}
	return rows
}

// subject is the model that the settings and the choice resolve to, as doctor looks at it.
func (a *App) subject(c provider.Choice) doctor.Model {
	e, err := a.flagEndpoint(c)
	m := doctor.Model{Endpoint: e, Err: err, Version: control.Version()}
	var wire *control.Error
	if errors.As(a.modelError(err), &wire) {
		m.Fix = wire.Hint
	}
	return m
}

// personChecks look at what belongs to the person and not to the workspace.
func (a *App) personChecks() []doctor.Chain {
	return []doctor.Chain{
		{{Name: "binary", Run: a.checkBinary}},
		{{Name: "config", Required: true, Run: a.checkConfig}},
		{{Name: "keys.env", Required: true, Run: a.checkKeys}},
	}
}

func (a *App) workspaceChecks(o DoctorOptions) []doctor.Chain {
	poll := 5 * time.Second
	if set, err := a.Settings(); err == nil { // the row config says when it can't be read
		poll = set.Poll
	}
	return []doctor.Chain{
		{{Name: "trust", Run: a.checkTrust}},
		{
			doctor.Writable("board", a.ws.Tasks()),
			{Name: "tasks", Run: a.checkTasks},
			{Name: "claims", Run: a.checkClaims},
		},
		{doctor.Writable("inboxes", a.ws.Inbox())},
		{doctor.Locks(a.ws.Team(), o.TryLock)},
		{doctor.Events(a.ws.Tasks(), poll)},
		{doctor.FileSystem(a.ws.Root)},
		{{Name: "members", Run: a.checkMembers}},
	}
}

func (a *App) checkBinary(context.Context) doctor.Finding {
	seen := fmt.Sprintf("autonomy %s (%s, %s/%s)", control.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	info, held, err := filelock.Holder(a.ws.DaemonLock())
	var daemon struct {
		PID     int    `json:"pid"`
		Version string `json:"version"`
	}
	if err == nil && held && json.Unmarshal(info, &daemon) == nil && daemon.Version != control.Version() {
		return doctor.Finding{
			State: doctor.Warning, Seen: fmt.Sprintf("%s; the daemon (pid %d) is version %s", seen, daemon.PID, daemon.Version),
			Fix: "restart it: autonomy down, then autonomy up --resume",
		}
	}
	return doctor.Finding{State: doctor.OK, Seen: seen}
}

func (a *App) checkConfig(context.Context) doctor.Finding {
	set, err := a.Settings()
	if err != nil {
		return doctor.Finding{State: doctor.Failure, Seen: err.Error(), Fix: "correct the file; docs/formats/config.md lists the fields"}
	}
	if len(set.Warnings) > 0 {
		return doctor.Finding{
			State: doctor.Warning, Seen: strings.Join(set.Warnings, "; "), Fix: "remove the value, or allow it in your own config.yaml",
		}
	}
	return doctor.Finding{State: doctor.OK, Seen: "readable"}
}

func (a *App) checkKeys(context.Context) doctor.Finding {
	dir, err := a.userDir()
	if err != nil {
		return doctor.Finding{State: doctor.Failure, Seen: err.Error(), Fix: "set HOME"}
	}
	path := config.KeysFile(dir)
	keys, err := config.ReadKeys(path)
	var wide *config.PermissionError
	switch {
	case errors.As(err, &wide) && wide.Own:
		return doctor.Finding{State: doctor.Failure, Seen: fmt.Sprintf("%s has mode %04o, so it is not read", path, wide.Mode.Perm()), Fix: "chmod 600 " + path}
	case err != nil:
		return doctor.Finding{State: doctor.Failure, Seen: err.Error(), Fix: "correct the file, or remove it and use autonomy keys set"}
	case len(keys.Names()) == 0:
		return doctor.Finding{State: doctor.OK, Seen: "no stored keys"}
	}
	return doctor.Finding{State: doctor.OK, Seen: "only you can read it: " + strings.Join(keys.Names(), ", ")}
}

func (a *App) checkTrust(ctx context.Context) doctor.Finding {
	const fix = "run autonomy trust --show, then autonomy trust"
	state := a.TrustState(ctx)
	if !state.Trusted || state.Why != "" {
		return doctor.Finding{State: doctor.Warning, Seen: state.Why, Fix: fix}
	}
	listing, err := a.ShowTrust(ctx)
	if err != nil {
		return doctor.Finding{State: doctor.Warning, Seen: err.Error(), Fix: fix}
	}
	var waiting []string
	for _, t := range listing.Tasks {
		if !t.Accepted {
			waiting = append(waiting, t.Name)
		}
	}
	if len(waiting) > 0 {
		return doctor.Finding{State: doctor.Warning, Seen: "came with git and wait for consent: " + some(waiting), Fix: fix}
	}
	return doctor.Finding{State: doctor.OK, Seen: "trusted"}
}

func (a *App) checkTasks(ctx context.Context) doctor.Finding {
	b, err := a.Board()
	if err != nil {
		return doctor.Finding{State: doctor.Warning, Seen: err.Error(), Fix: "put the config right first"}
	}
	files, err := b.Check(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return doctor.Finding{State: doctor.OK, Seen: "none yet"}
	}
	if err != nil {
		return doctor.Finding{State: doctor.Warning, Seen: err.Error(), Fix: "make " + a.ws.Tasks() + " readable for you"}
	}
	var invalid []string
	valid := 0
	for _, f := range files {
		switch f.State {
		case board.CheckInvalid:
			invalid = append(invalid, fmt.Sprintf("%s:%d: %s", f.File, f.Error.Line, f.Error.Message))
		case board.CheckAccepted:
			valid++
		}
	}
	if len(invalid) > 0 {
		return doctor.Finding{State: doctor.Warning, Seen: "invalid: " + some(invalid), Fix: "correct the files; autonomy task check looks at all of them"}
	}
	return doctor.Finding{State: doctor.OK, Seen: fmt.Sprintf("%d valid", valid)}
}

// checkClaims looks for tasks whose claim belongs to a daemon that is dead.
func (a *App) checkClaims(context.Context) doctor.Finding {
	b, err := a.Board()
	if err != nil {
		return doctor.Finding{State: doctor.Warning, Seen: err.Error(), Fix: "put the config right first"}
	}
	var orphans []string
	for _, e := range b.List() {
		c := e.Task.Claim
		if e.Err == nil && c != nil && e.Task.InForce() && c.Instance != "" && !a.Alive(c.Instance) {
			orphans = append(orphans, fmt.Sprintf("#%d of %s", e.ID, c.By))
		}
	}
	if len(orphans) > 0 {
		return doctor.Finding{
			State: doctor.Warning, Seen: "left behind by a daemon that died: " + some(orphans), Fix: "autonomy up takes them back",
		}
	}
	return doctor.Finding{State: doctor.OK, Seen: "none is orphaned"}
}

// checkMembers looks whether the model of each member on the roster can be reached by name and key. It asks no server.
func (a *App) checkMembers(ctx context.Context) doctor.Finding {
	members, err := a.Enrolled(ctx)
	if err != nil {
		return doctor.Finding{State: doctor.Warning, Seen: err.Error(), Fix: "correct the file while no daemon runs"}
	}
	var wrong []string
	for _, m := range members {
		if !m.HasModel() {
			continue
		}
		if _, err := a.memberEndpoint(choiceOf(m.Spec)); err != nil {
			wrong = append(wrong, string(m.Name)+": "+err.Error())
		}
	}
	if len(wrong) > 0 {
		return doctor.Finding{
			State: doctor.Warning, Seen: "without their model: " + some(wrong), Fix: "set the key with autonomy keys set, or spawn the member anew",
		}
	}
	return doctor.Finding{State: doctor.OK, Seen: fmt.Sprintf("%d on the roster", len(members))}
}

// checkFallback looks whether the models that stand in can be reached by name and key. It asks no server.
func (a *App) checkFallback(names []string) doctor.Finding {
	var wrong []string
	for _, name := range names {
		id, model, _ := strings.Cut(name, "/")
		if _, err := a.memberEndpoint(provider.Choice{Provider: id, Model: model}); err != nil {
			wrong = append(wrong, name+": "+err.Error())
		}
	}
	if len(wrong) > 0 {
		return doctor.Finding{State: doctor.Warning, Seen: "passed over: " + some(wrong), Fix: "set the key, or correct fallback in config.yaml"}
	}
	return doctor.Finding{State: doctor.OK, Seen: strings.Join(names, ", ")}
}

// some joins the first few of a list.
func some(list []string) string {
	const most = 5
	if len(list) > most {
		return strings.Join(list[:most], "; ") + fmt.Sprintf("; and %d more", len(list)-most)
	}
	return strings.Join(list, "; ")
}

// Here is the workspace that dir lies in, or dir itself where there is none: for commands of the person alone.
func Here(dir string) config.Workspace {
	if ws, err := config.FindWorkspace(dir); err == nil {
		return ws
	}
	return config.Workspace{Root: filepath.Clean(dir)}
}
