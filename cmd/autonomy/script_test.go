package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/autonomy-team/autonomy/agent/provider/script"
)

// TestMain lets the test binary stand in for the program: scripts start it as "autonomy", and the daemon and the
// launcher that it starts are this binary too.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"autonomy": main})
}

// TestScripts runs every script under testdata/script. Each has a workspace and a home of its own. Every run that one
// recorded is replayed when it has ended.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds:                modelCommands(),
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("GORACE", os.Getenv("GORACE")) // how long a process under the race detector sleeps at its end
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
			env.Values[modelKey{}] = new(*script.Server)
			env.Defer(func() {
				stopDaemons(env.WorkDir)
				if _, err := replayAll(env.WorkDir); err != nil {
					env.T().Fatal(err)
				}
			})
			return os.MkdirAll(home, 0o700)
		},
	})
}
