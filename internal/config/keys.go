package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/autonomy-team/autonomy/internal/atomicfile"
)

const maxKeys = 64 << 10 // bytes of keys.env

// Keys are the user's keys by the name of their variable. It prints as its names alone.
type Keys struct{ values map[string]string }

// Get returns the key of that name, "" if there is none.
func (k Keys) Get(name string) string { return k.values[name] }

// Names returns the names in order.
func (k Keys) Names() []string { return slices.Sorted(maps.Keys(k.values)) }

// Values returns the keys themselves, for a redactor to know them.
func (k Keys) Values() []string { return slices.Collect(maps.Values(k.values)) }

// String shows no key, so that one that is printed by mistake tells nothing.
func (k Keys) String() string { return fmt.Sprintf("keys %s", k.Names()) }

// GoString is String.
func (k Keys) GoString() string { return k.String() }

// PermissionError says that a file of secrets is open to others. Error names the fix.
type PermissionError struct {
	Path string
	Mode fs.FileMode
	UID  uint32 // owner, when it is somebody else
	Own  bool   // the owner is the user, so that the mode is what is wrong
}

func (e *PermissionError) Error() string {
	if !e.Own {
		return fmt.Sprintf("%s belongs to user id %d, not to you", e.Path, e.UID)
	}
	return fmt.Sprintf("%s is open to others (mode %04o): chmod 600 %s", e.Path, e.Mode.Perm(), e.Path)
}

// KeyError says that a line of keys.env is not NAME=VALUE. It never holds the line.
type KeyError struct {
	Path string
	Line int
	Msg  string
}

func (e *KeyError) Error() string { return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Msg) }

// ReadKeys reads a keys.env: lines NAME=VALUE, blank ones, comments after #, an optional "export " and quotes around
// the value. One that does not exist holds no keys; one that others may read is a *PermissionError.
func ReadKeys(path string) (Keys, error) {
	keys := Keys{values: map[string]string{}}
	src, info, err := atomicfile.ReadFile(atomicfile.OS(), path, maxKeys)
	if errors.Is(err, fs.ErrNotExist) {
		return keys, nil
	}
	if err != nil {
		return keys, fmt.Errorf("read keys: %w", err)
	}
	if err := private(path, info); err != nil {
		return keys, err
	}
	number := 0
	for line := range bytes.Lines(src) {
		number++
		name, value, msg := keyLine(string(line))
		if msg != "" {
			return Keys{}, &KeyError{Path: path, Line: number, Msg: msg}
		}
		if name != "" {
			keys.values[name] = value
		}
	}
	return keys, nil
}

func private(path string, info fs.FileInfo) error {
	e := &PermissionError{Path: path, Mode: info.Mode(), Own: true}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() && st.Uid != 0 {
		e.UID, e.Own = st.Uid, false
		return e
	}
	if info.Mode().Perm()&0o077 != 0 {
		return e
	}
	return nil
}

// keyLine reads one line. An empty name without a message is a line that sets nothing.
func keyLine(line string) (name, value, msg string) {
	line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
	if line == "" || line[0] == '#' {
		return "", "", ""
	}
	name, value, ok := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "export ")), "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || !ValidKeyName(name) {
		return "", "", "must be NAME=VALUE, NAME of letters, digits and _"
	}
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		value = value[1 : n-1]
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", "", "the value of " + name + " has control characters"
	}
	return name, value, ""
}

// ValidKeyName reports whether name can be that of an environment variable.
func ValidKeyName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// SetKey stores a key in keys.env, in place of an older one of that name; an empty value removes it. Comments and other
// lines stay. The file is made 0600, its folder 0700.
func SetKey(path, name, value string) error {
	if _, _, msg := keyLine(name + "=" + value); msg != "" || name == "" || strings.ContainsAny(value, "\r\n") {
		return fmt.Errorf("set key: %q with such a value cannot be stored", name)
	}
	if _, err := ReadKeys(path); err != nil {
		return err
	}
	src, _, err := atomicfile.ReadFile(atomicfile.OS(), path, maxKeys)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("set key: %w", err)
	}
	var kept bytes.Buffer
	for line := range bytes.Lines(src) {
		if old, _, _ := keyLine(string(line)); old == name {
			continue
		}
		kept.Write(bytes.TrimRight(line, "\r\n"))
		kept.WriteByte('\n')
	}
	if value != "" {
		fmt.Fprintf(&kept, "%s=%s\n", name, quoted(value))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("set key: %w", err)
	}
	if err := atomicfile.Replace(atomicfile.OS(), path, kept.Bytes(), 0o600); err != nil {
		return fmt.Errorf("set key: %w", err)
	}
	return nil
}

// quoted keeps what keyLine would take away: spaces at the ends and quotes around the value.
func quoted(value string) string {
	if value != strings.TrimSpace(value) || strings.HasPrefix(value, `"`) || strings.HasPrefix(value, "'") {
		return `"` + value + `"`
	}
	return value
}
