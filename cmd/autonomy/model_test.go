package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/autonomy-team/autonomy/agent/provider/script"
	"github.com/autonomy-team/autonomy/internal/app"
	"github.com/autonomy-team/autonomy/internal/config"
)

// modelKey is where a script's environment keeps its scripted model.
type modelKey struct{}

// modelCommands are the commands of scripts that need a model behind the program.
func modelCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"scriptmodel": scriptModel, "requests": countRequests, "dumprequests": dumpRequests, "release": releaseHeld,
		"waitrequests": waitRequests, "until": until, "events": runEvents, "alter": alter,
		"identity": oneIdentity,
	}
}

// scriptModel plays a script file over HTTP until the script ends: scriptmodel FILE. A second one takes the place of
// the first. Programs started from then on find it as their model; its address is $MODEL.
func scriptModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: scriptmodel FILE")
	}
	s, err := script.Load(ts.MkAbs(args[0]))
	ts.Check(err)
	server, err := script.NewServer(s)
	ts.Check(err)
	ts.Defer(server.Close)
	held, _ := ts.Value(modelKey{}).(**script.Server)
	*held = server
	ts.Setenv("MODEL", server.URL())
	ts.Setenv("AUTONOMY_BASE_URL", server.URL())
	ts.Setenv("AUTONOMY_MODEL", "scripted")
}

func model(ts *testscript.TestScript) *script.Server {
	held, _ := ts.Value(modelKey{}).(**script.Server)
	if *held == nil {
		ts.Fatalf("no scriptmodel is playing")
	}
	return *held
}

// countRequests checks how many requests the model got: requests N.
func countRequests(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(strings.Join(args, ""))
	ts.Check(err)
	if got := model(ts).Count(); (got == want) == neg {
		ts.Fatalf("the model got %d requests, want %d", got, want)
	}
}

// waitRequests waits until the model has got so many requests: waitrequests N.
func waitRequests(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(strings.Join(args, ""))
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ts.Check(model(ts).Wait(ctx, want))
}

// dumpRequests writes the messages of the requests so far, one a line as "ROLE: TEXT", an empty line before each request:
// dumprequests FILE.
func dumpRequests(ts *testscript.TestScript, _ bool, args []string) {
	var b strings.Builder
	for _, r := range model(ts).Requests() {
		b.WriteByte('\n')
		for _, m := range r.Request.Messages {
			fmt.Fprintf(&b, "%s: %s\n", m.Role, strings.ReplaceAll(m.Content, "\n", "⏎"))
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}

// releaseHeld lets the answers of one name go: release NAME.
func releaseHeld(ts *testscript.TestScript, _ bool, args []string) { model(ts).Release(args[0]) }

// until repeats a command until its output holds a text, for at most 20 s: until TEXT PROGRAM ARG…
func until(ts *testscript.TestScript, neg bool, args []string) {
	deadline := time.Now().Add(20 * time.Second)
	for {
		_ = ts.Exec(args[1], args[2:]...)
		out := ts.ReadFile("stdout") + ts.ReadFile("stderr")
		if strings.Contains(out, args[0]) == !neg {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%q did not come, last:\n%s", args[0], out)
		}
		time.Sleep(50 * time.Millisecond) // another process leaves no signal
	}
}

// oneIdentity checks the requests so far: each of a member holds its identity block exactly once, and begins with all
// of the member's request before, byte for byte, tools included.
func oneIdentity(ts *testscript.TestScript, _ bool, _ []string) {
	type request struct {
		Messages []json.RawMessage
		Tools    json.RawMessage
	}
	before := map[string]request{}
	for i, recorded := range model(ts).Requests() {
		var r request
		ts.Check(json.Unmarshal(recorded.Body, &r))
		if strings.Contains(string(r.Messages[0]), "You judge whether") {
			continue // not a request of a member's loop
		}
		blocks, who := 0, ""
		for _, m := range r.Messages {
			if text := string(m); strings.Contains(text, "<identity>") || strings.Contains(text, `\u003cidentity`) {
				blocks++
				who = text
			}
		}
		if blocks != 1 {
			ts.Fatalf("request %d holds %d identity blocks", i+1, blocks)
		}
		old := before[who]
		if old.Tools != nil && string(old.Tools) != string(r.Tools) {
			ts.Fatalf("request %d offers other tools than the one before", i+1)
		}
		for j, m := range old.Messages {
			if j >= len(r.Messages) || string(m) != string(r.Messages[j]) {
				ts.Fatalf("request %d does not begin with the one before: message %d", i+1, j+1)
			}
		}
		before[who] = r
	}
	if len(before) == 0 {
		ts.Fatalf("no request of a member")
	}
}

// runEvents checks the types of a run's events in their order: events RUN-INDEX TYPE…, where 0 is the newest run.
// Model calls are left out unless they are asked for.
func runEvents(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	logs, err := filepath.Glob(ts.MkAbs(".autonomy/runs/*.jsonl"))
	ts.Check(err)
	if n >= len(logs) {
		ts.Fatalf("there are %d runs", len(logs))
	}
	want := strings.Join(args[1:], " ")
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(ts.ReadFile(logs[len(logs)-1-n])), "\n") {
		var e struct{ Type string }
		ts.Check(json.Unmarshal([]byte(line), &e))
		if e.Type != "model_call" || strings.Contains(want, "model_call") {
			got = append(got, e.Type)
		}
	}
	if strings.Join(got, " ") != want {
		ts.Fatalf("events\n%s\nwant\n%s", strings.Join(got, " "), want)
	}
}

// alter replaces the first occurrence of a text in the newest run's log and keeps the original beside it: alter OLD NEW.
// With the word restore it puts the original back.
func alter(ts *testscript.TestScript, _ bool, args []string) {
	logs, err := filepath.Glob(ts.MkAbs(".autonomy/runs/*.jsonl"))
	ts.Check(err)
	path := logs[len(logs)-1]
	if args[0] == "restore" {
		ts.Check(os.Rename(path+".kept", path))
		return
	}
	data, err := os.ReadFile(path)
	ts.Check(err)
	if !strings.Contains(string(data), args[0]) {
		ts.Fatalf("the log does not hold %q", args[0])
	}
	ts.Check(os.WriteFile(path+".kept", data, 0o600))
	ts.Check(os.WriteFile(path, []byte(strings.Replace(string(data), args[0], args[1], 1)), 0o600))
}

// replayAll decides every run that a script recorded anew. It is called after the daemons have ended.
func replayAll(dir string) (runs int, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || entry.Name() != ".autonomy" {
			return nil
		}
		ctx := context.Background()
		a, err := app.Open(ctx, app.Options{
			Workspace: config.Workspace{Root: filepath.Dir(path)}, UserDir: filepath.Join(dir, "home"),
		})
		if err != nil {
			return err
		}
		infos, err := a.Runs(ctx, 0)
		if err != nil {
			return err
		}
		for _, info := range infos {
			replayed, err := a.Replay(ctx, info.ID)
			switch {
			case err != nil:
				return fmt.Errorf("replay %s: %w", info.ID, err)
			case info.Termination == "" && replayed.Termination == "": // its process died, or its log could not be written
			case !replayed.Same:
				return fmt.Errorf("replay of %s (%s) differs: %s", info.ID, info.Termination, replayed.Divergence)
			}
			runs++
		}
		return fs.SkipDir
	})
	return runs, err
}
