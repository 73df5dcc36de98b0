package config

import (
	"errors"
	"path/filepath"
)

// UserDir is the folder of the user's settings, keys, policy and trust: $XDG_CONFIG_HOME/autonomy, else
// ~/.config/autonomy on every system. It need not exist. A relative XDG_CONFIG_HOME counts as unset, as the XDG rules
// say: it would make the folder of a workspace the user's.
func UserDir(env func(string) string) (string, error) {
	if dir := env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "autonomy"), nil
	}
	if home := env("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "autonomy"), nil
	}
	return "", errors.New("no folder for user settings: set HOME or XDG_CONFIG_HOME to an absolute path")
}

// StateDir is the folder for what the program leaves for the user outside any workspace: $XDG_STATE_HOME/autonomy, else
// ~/.local/state/autonomy. It need not exist.
func StateDir(env func(string) string) (string, error) {
	if dir := env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "autonomy"), nil
	}
	if home := env("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "autonomy"), nil
	}
	return "", errors.New("no folder for user state: set HOME or XDG_STATE_HOME to an absolute path")
}

// KeysFile is the file of the user's keys in UserDir.
func KeysFile(userDir string) string { return filepath.Join(userDir, "keys.env") }

// TrustFile is the file of the user's trust decisions in UserDir.
func TrustFile(userDir string) string { return filepath.Join(userDir, "trust.json") }

// UserConfig is the file of the user's settings in UserDir.
func UserConfig(userDir string) string { return filepath.Join(userDir, "config.yaml") }
