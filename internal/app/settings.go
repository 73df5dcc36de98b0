package app

import (
	"fmt"

	"github.com/autonomy-team/autonomy/internal/config"
)

// userDir is the folder of the user's own settings, keys and trust.
func (a *App) userDir() (string, error) {
	if a.opts.UserDir != "" {
		return a.opts.UserDir, nil
	}
	return config.UserDir(a.opts.Getenv)
}

// Settings merges what the user, a trusted workspace, the environment and the flags say.
func (a *App) Settings() (config.Settings, error) {
	dir, err := a.userDir()
	if err != nil {
		return config.Settings{}, fmt.Errorf("find the user's settings: %w", err)
	}
	o := config.Options{UserDir: dir, Env: a.opts.Getenv, Flags: a.opts.Flags}
	if a.acts(a.ws.Config()) {
		o.Workspace = &a.ws
	}
	s, err := config.Load(o)
	if err != nil {
		return s, fmt.Errorf("read the settings: %w", err)
	}
	return s, nil
}

// readKeys reads the user's keys.
func (a *App) readKeys() (config.Keys, error) {
	dir, err := a.userDir()
	if err != nil {
		return config.Keys{}, fmt.Errorf("find the user's keys: %w", err)
	}
	return config.ReadKeys(config.KeysFile(dir))
}
