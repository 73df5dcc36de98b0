package team

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/atomicfile"
	"github.com/autonomy-team/autonomy/internal/strictjson"
)

// maxRoster bounds the roster's file.
const maxRoster = 4 << 20

// RosterFile keeps the roster in a file: {"team_name": …, "members": [{"name", "role", "desired", …}]}, the keys of a
// member being those of Spec. Live states are never in it. Fields that this version does not know survive at the top
// level. The file is replaced whole, never written in place.
type RosterFile struct {
	path string
	fs   atomicfile.FS
}

// NewRosterFile names the file, .team/config.json of a workspace. It touches nothing.
func NewRosterFile(path string) *RosterFile { return &RosterFile{path: path, fs: atomicfile.OS()} }

// Load is part of Roster. A file that is there and cannot be understood is an error, never an empty roster.
func (r *RosterFile) Load(context.Context) ([]Enrolled, error) {
	src, err := r.read()
	if src == nil || err != nil {
		return nil, err
	}
	var doc struct {
		Members []Enrolled `json:"members"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")), &doc); err != nil {
		return nil, &RosterError{r.path, err}
	}
	seen := map[autonomy.AgentName]bool{}
	for i, m := range doc.Members {
		if err := checkEnrolled(m); err != nil {
			return nil, &RosterError{r.path, fmt.Errorf("member %d: %w", i+1, err)}
		}
		if seen[m.Name] {
			return nil, &RosterError{r.path, fmt.Errorf("member %d: %q is there twice", i+1, string(m.Name))}
		}
		seen[m.Name] = true
	}
	return doc.Members, nil
}

// TeamName is the name that the file gives the team; "default" when there is no file or no name in it.
func (r *RosterFile) TeamName(context.Context) (autonomy.TeamName, error) {
	src, err := r.read()
	if err != nil {
		return "", err
	}
	doc := struct {
		Name autonomy.TeamName `json:"team_name"`
	}{}
	if src != nil {
		if err := json.Unmarshal(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")), &doc); err != nil {
			return "", &RosterError{r.path, err}
		}
	}
	if doc.Name == "" {
		doc.Name = "default"
	}
	return doc.Name, nil
}

func checkEnrolled(m Enrolled) error {
	if m.Desired != Running && m.Desired != NotWanted {
		return fmt.Errorf("desired: want %q or %q, not %q", Running, NotWanted, m.Desired)
	}
	if m.Name == Lead {
		return nil
	}
	return CheckName(m.Name)
}

// Save is part of Roster.
func (r *RosterFile) Save(_ context.Context, team autonomy.TeamName, members []Enrolled) error {
	old, err := r.read()
	if err != nil {
		return err
	}
	if old == nil {
		old = []byte("{\n}\n")
	}
	if members == nil {
		members = []Enrolled{}
	}
	list, err := json.MarshalIndent(members, "  ", "  ")
	if err != nil {
		return fmt.Errorf("encode the roster: %w", err)
	}
	data, err := strictjson.Edit(old, []strictjson.Change{
		{Key: "team_name", Value: strictjson.Quote(string(team))},
		{Key: "members", Value: list},
	})
	if err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	if bytes.Equal(data, old) {
		return nil
	}
	return atomicfile.Replace(r.fs, r.path, data, 0o600)
}

// read returns the file's bytes, nil when there is none, after a look at the whole of it.
func (r *RosterFile) read() ([]byte, error) {
	src, _, err := atomicfile.ReadFile(r.fs, r.path, maxRoster)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := strictjson.ParseObject(src); err != nil {
		return nil, &RosterError{r.path, err}
	}
	return src, nil
}
