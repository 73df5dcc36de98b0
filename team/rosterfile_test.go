package team_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/team"
)

func TestRosterFileKeepsMembersAndUnknownFields(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	file := team.NewRosterFile(path)
	if members, err := file.Load(t.Context()); err != nil || len(members) != 0 {
		t.Fatalf("no file: %v %v", members, err)
	}
	want := []team.Enrolled{
		{Spec: team.Spec{Name: "alice", Role: "coder", Prompt: "a <b> & c", Toolsets: []string{"file"}}, Desired: team.Running},
		{Spec: team.Spec{Name: "bob", Role: "tester", Model: "m", Provider: "ollama"}, Desired: team.NotWanted},
	}
	if err := file.Save(t.Context(), "t", want); err != nil {
		t.Fatal(err)
	}
	got, err := file.Load(t.Context())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("loaded %+v %v", got, err)
	}
	src, _ := os.ReadFile(path)
	edited := strings.Replace(string(src), "{", "{\n  \"note\": 1.50,", 1)
	if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := file.Save(t.Context(), "t", want[:1]); err != nil {
		t.Fatal(err)
	}
	src, _ = os.ReadFile(path)
	if !strings.Contains(string(src), `"note": 1.50`) || strings.Contains(string(src), "bob") {
		t.Errorf("saved %s", src)
	}
}

func TestRosterFileThatCannotBeUnderstoodIsLeftAlone(t *testing.T) {
	tests := map[string]string{
		"empty":        ``,
		"null":         `null`,
		"torn":         `{"members": [{"name": "al`,
		"duplicate":    `{"members": [], "members": []}`,
		"twice":        `{"members": [{"name":"a","desired":"running"},{"name":"a","desired":"running"}]}`,
		"bad name":     `{"members": [{"name":"../x","desired":"running"}]}`,
		"reserved":     `{"members": [{"name":"user","desired":"running"}]}`,
		"bad desired":  `{"members": [{"name":"a","desired":"idle"}]}`,
		"wrong type":   `{"members": {"name":"a"}}`,
		"members twin": `{"members": [{"name":"a","name":"b","desired":"running"}]}`,
	}
	for name, src := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.json")
			if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := team.NewRosterFile(path).Load(t.Context())
			if err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v does not name the file", err)
			}
			if after, _ := os.ReadFile(path); string(after) != src {
				t.Errorf("the file was changed to %q", after)
			}
		})
	}
}
