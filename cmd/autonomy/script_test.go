package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary stand in for the program: scripts start it as "autonomy", and the daemon and the
// launcher that it starts are this binary too.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"autonomy": main})
}

// TestScripts runs every script under testdata/script. Each has a workspace and a home of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
			env.Defer(func() { stopDaemons(env.WorkDir) })
			return os.MkdirAll(home, 0o700)
		},
	})
}
