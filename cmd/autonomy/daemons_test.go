package main

import (
	"context"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/control"
)

// stopDaemons ends the daemon of every workspace under dir, so that a script that fails half-way leaves none behind.
func stopDaemons(dir string) {
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || entry.Name() != ".team" {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
		defer cancel()
		client, err := control.Dial(ctx, config.Workspace{Root: filepath.Dir(path)})
		if client != nil {
			defer client.Close()
		}
		if err == nil {
			_ = client.Down(ctx, control.Down{Now: true})
		}
		return fs.SkipDir
	})
}
