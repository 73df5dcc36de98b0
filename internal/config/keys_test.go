package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/autonomy-team/autonomy/internal/config"
)

func TestReadKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.env")
	if keys, err := config.ReadKeys(path); err != nil || len(keys.Names()) > 0 {
		t.Errorf("no file: %v, %v", keys, err)
	}
	write(t, path, "\ufeff# comment\r\n\r\nA_KEY=abc\r\nexport B=\"d e\"\nC='x=y'\nD=\n")
	keys, err := config.ReadKeys(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"A_KEY": "abc", "B": "d e", "C": "x=y", "D": "", "E": ""} {
		if got := keys.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if shown := fmt.Sprintf("%v %+v %#v %s", keys, keys, keys, keys); strings.Contains(shown, "abc") {
		t.Errorf("a key is printed: %s", shown)
	}
}

func TestKeysOpenToOthersAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.env")
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o620} {
		write(t, path, "A=b\n")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		var wide *config.PermissionError
		_, err := config.ReadKeys(path)
		if !errors.As(err, &wide) || !strings.Contains(err.Error(), "chmod 600 "+path) {
			t.Errorf("%o: %v", mode, err)
		}
		if err := config.SetKey(path, "A", "c"); !errors.As(err, &wide) {
			t.Errorf("set at %o: %v", mode, err)
		}
	}
}

func TestBadKeyLineIsNamedAndNotShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.env")
	for _, line := range []string{"sk-secret", "A B=sk-secret", "=sk-secret", "1A=sk-secret", "A=sk-\x01secret"} {
		write(t, path, "# first\n"+line+"\n")
		_, err := config.ReadKeys(path)
		var bad *config.KeyError
		if !errors.As(err, &bad) || bad.Line != 2 || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestSetKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "keys.env")
	for _, set := range [][2]string{{"A", "1"}, {"B", "2"}, {"A", "3"}, {"B", ""}} {
		if err := config.SetKey(path, set[0], set[1]); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := config.ReadKeys(path)
	if err != nil || !slices.Equal(keys.Names(), []string{"A"}) || keys.Get("A") != "3" {
		t.Errorf("%v, %v", keys, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for _, set := range [][2]string{{"", "x"}, {"a b", "x"}, {"A", "x\ny"}, {"A", "x\x00"}} {
		if err := config.SetKey(path, set[0], set[1]); err == nil {
			t.Errorf("%q was stored", set)
		}
	}
}

func TestSetKeyKeepsAnyValue(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, "keys.env")
		value := rapid.StringMatching(`[ -~]{1,20}`).Draw(t, "value")
		if err := config.SetKey(path, "K", value); err != nil {
			t.Fatal(err)
		}
		if keys, err := config.ReadKeys(path); err != nil || keys.Get("K") != value {
			t.Fatalf("stored %q, read %q, %v", value, keys.Get("K"), err)
		}
	})
}
