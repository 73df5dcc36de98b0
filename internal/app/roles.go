package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/gateway"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/config"
	"github.com/autonomy-team/autonomy/internal/strictyaml"
	"github.com/autonomy-team/autonomy/team"
)

// role is what .autonomy/roles/ROLE.md says; docs/formats/config.md describes the file.
type role struct {
	Description string   `yaml:"description"`
	Provider    string   `yaml:"provider"`
	Model       string   `yaml:"model"`
	Toolsets    []string `yaml:"toolsets"`
	Mode        string   `yaml:"mode"`

	charge string // the body: what members of the role are told
}

// maxRole bounds a role's file.
const maxRole = 64 << 10

// roleName are the labels that can name a file. Any other label is a role without one.
var roleName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// roleOf reads the file of a role. One that does not exist, or that no person has accepted as it is now, says nothing.
func (a *App) roleOf(name autonomy.Role) (role, error) {
	if !roleName.MatchString(string(name)) {
		return role{}, nil
	}
	path := filepath.Join(a.ws.Roles(), string(name)+".md")
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || !a.acts(path) {
		return role{}, nil
	}
	src, _, err := atomicfile.ReadFile(atomicfile.OS(), path, maxRole)
	if err != nil {
		return role{}, fmt.Errorf("read role %s: %w", name, err)
	}
	front, body, err := strictyaml.FrontMatter(src)
	if err != nil {
		return role{}, fmt.Errorf("read role %s: %w", name, err)
	}
	r := role{charge: string(body)}
	if err := strictyaml.Decode(front, path, &r); err != nil {
		return role{}, fmt.Errorf("read role %s: %w", name, err)
	}
	if _, err := gateway.ParseMode(r.Mode); err != nil {
		return role{}, fmt.Errorf("read role %s: %w", name, err)
	}
	return r, nil
}

// narrow lets a role's file restrict a member: its model counts where none was chosen, its mode where it is stricter,
// and of the toolsets only those that the member would have anyway.
func (r role) narrow(spec team.Spec, usual []string) team.Spec {
	if spec.Provider == "" && spec.Model == "" && spec.BaseURL == "" {
		spec.Provider, spec.Model = r.Provider, r.Model
	}
	spec.Mode = stricter(spec.Mode, r.Mode)
	if r.Toolsets != nil {
		had := spec.Toolsets
		if had == nil {
			had = usual
		}
		spec.Toolsets = slices.DeleteFunc(slices.Clone(had), func(set string) bool {
			return !slices.Contains(r.Toolsets, set) && set != "team" // without it a member could not work with the others
		})
	}
	return spec
}

// stricter is the narrower of two modes; "" says nothing.
func stricter(a, b string) string {
	order := []string{config.ModeReadOnly, config.ModeAsk, config.ModeAuto, config.ModeFull}
	switch {
	case a == "":
		return b
	case b == "" || slices.Index(order, a) <= slices.Index(order, b):
		return a
	}
	return b
}
