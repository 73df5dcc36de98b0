package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/agent/provider/script"
	"github.com/autonomy-team/autonomy/internal/redact"
)

// canaries are secrets of more than twenty kinds: keys in the environment and in keys.env, which the program knows, and
// secrets of others in a file of the workspace, of which it knows the shape.
func canaries() (variables, stored, lying map[string]string) {
	variables = map[string]string{}
	for _, name := range []string{
		"AUTONOMY_API_KEY", "OLLAMA_API_KEY", "OPENAI_API_KEY", "NVIDIA_API_KEY", "OPENROUTER_API_KEY", "XAI_API_KEY",
		"GLM_API_KEY", "KIMI_API_KEY", "DASHSCOPE_API_KEY", "LM_API_KEY", "LITELLM_API_KEY",
	} {
		variables[name] = "plumage." + strings.ToLower(strings.Trim(name, "_")) + ".9f3c"
	}
	stored = map[string]string{"DEEPSEEK_API_KEY": "feather/of/the+stored~key", "ZAI_API_KEY": "nest@of&the=stored"}
	lying = map[string]string{
		"OpenAI":      "sk-proj-canarycanarycanary0001",
		"GitHub":      "ghp_canarycanarycanarycanary0002",
		"GitLab":      "glpat-canarycanary00000003",
		"AWS":         "AKIACANARYCANARY0004",
		"Slack":       "xoxb-0000000005-canary",
		"Google":      "AIzaCanaryCanaryCanaryCanaryCanaryCanar6",
		"NVIDIA":      "nvapi-canarycanarycanary0007",
		"JSON token":  "eyJhbGciOiJub25lIn0.eyJjYW5hcnkiOjh9.canarycanary",
		"private key": "MIICanaryCanaryCanary0009",
		"bearer":      "canary.bearer.canary.0010",
		"URL":         "canarypassword0011",
		"assignment":  "canary-assigned-0012",
	}
	return variables, stored, lying
}

func secretsFile(s map[string]string) string {
	return strings.Join([]string{
		s["OpenAI"], s["GitHub"], s["GitLab"], s["AWS"], s["Slack"], s["Google"], s["NVIDIA"], s["JSON token"],
		"-----BEGIN PRIVATE KEY-----\n" + s["private key"] + "\n-----END PRIVATE KEY-----",
		"Authorization: Bearer " + s["bearer"], "postgres://user:" + s["URL"] + "@db/x", "SERVICE_PASSWORD=" + s["assignment"], "",
	}, "\n")
}

// household is a workspace with a person's keys and a member that does all it can to spread them.
type household struct {
	t       *testing.T
	root    string
	env     []string
	program string
	said    bytes.Buffer // everything that any command printed
}

func (h *household) run(args ...string) {
	h.t.Helper()
	cmd := exec.CommandContext(h.t.Context(), h.program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = h.root, h.env, &h.said, &h.said
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
}

func (h *household) write(name, text string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func TestSecretsAppearNowhere(t *testing.T) {
	variables, stored, lying := canaries()
	general := variables["AUTONOMY_API_KEY"]
	server, err := script.NewServer(script.Script{Entries: []script.Entry{
		script.Do("bash", `{"command":"env > env.txt; env; set"}`),
		script.Do("bash", `{"command":"cat secrets.txt; cat secrets.txt >&2"}`),
		script.Do("read_file", `{"path":"secrets.txt"}`),
		script.Do("bash", `{"command":"cat \"$HOME/.config/autonomy/keys.env\"; base64 -w0 \"$HOME/.config/autonomy/keys.env\""}`),
		script.Do("bash", `{"command":"printf %s \"$OPENAI_API_KEY$AUTONOMY_API_KEY\" > variables.txt"}`),
		script.Do("complete_task", `{"summary":"looked around"}`),
		{Times: script.Always, Error: &script.Failure{Status: 401, Message: "invalid api key " + general}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	dir, env := person(t)
	h := &household{t: t, root: filepath.Join(dir, "ws"), env: env, program: program(t)}
	for name, value := range variables {
		h.env = append(h.env, name+"="+value)
	}
	h.env = append(h.env, "AUTONOMY_BASE_URL="+server.URL(), "AUTONOMY_MODEL=scripted")
	h.write(filepath.Join(h.root, "keep"), "")
	h.run("init")
	keys := ""
	for name, value := range stored {
		keys += name + "=" + value + "\n"
	}
	h.write(filepath.Join(dir, "home/.config/autonomy/keys.env"), keys)
	h.write(filepath.Join(h.root, "secrets.txt"), secretsFile(lying))
	h.write(filepath.Join(h.root, ".tasks/task_1.json"), `{"subject":"look around","verify":"test -s env.txt"}`)
	h.write(filepath.Join(h.root, ".tasks/task_2.json"), `{"subject":"go on","blockedBy":[1]}`)
	h.run("up", "--foreground", "--mode", "full", "--spawn", "alice:coder", "--exit-when-idle", "--poll", "200ms", "--idle-timeout", "1s")
	for _, args := range [][]string{
		{"status"},
		{"task", "list"},
		{"task", "show", "1"},
		{"team", "list", "--json"},
		{"team", "logs"},
		{"runs", "list", "--json"},
		{"doctor"},
		{"doctor", "--json"},
		{"model", "show"},
		{"model", "list"},
		{"keys", "list", "--json"},
	} {
		h.run(args...)
	}
	if server.Count() < 7 {
		t.Fatalf("only %d requests: the member did not get as far as it should\n%s", server.Count(), h.said.String())
	}
	for _, r := range server.Requests() {
		if r.Header.Get("Authorization") != "Bearer "+general {
			t.Errorf("authorized by %q", r.Header.Get("Authorization"))
		}
		h.said.Write(r.Body)
	}
	if said := h.said.String(); strings.Count(said, redact.Mark) < len(lying) || !strings.Contains(said, "PATH=") {
		t.Errorf("the member did not see what it should have:\n%s", said)
	}
	for _, secrets := range []map[string]string{variables, stored, lying} {
		h.search(secrets)
	}
}

// search looks for secrets in all that was said and in every file of the workspace but the one they lie in.
func (h *household) search(secrets map[string]string) {
	h.t.Helper()
	texts := map[string][]byte{"output and prompts": h.said.Bytes()}
	err := filepath.WalkDir(h.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || entry.Name() == "secrets.txt" {
			return err
		}
		text, err := os.ReadFile(path)
		texts[path] = text
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, name := range []string{"env.txt", ".team/events.jsonl", ".team/transcripts/alice.jsonl", ".team/daemon.log"} {
		if _, ok := texts[filepath.Join(h.root, name)]; !ok {
			h.t.Errorf("there is no %s to search", name)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(secrets)) {
		secret := secrets[kind]
		middle := base64.StdEncoding.EncodeToString([]byte(secret[:len(secret)/3*3]))
		for place, text := range texts {
			if bytes.Contains(text, []byte(secret)) || bytes.Contains(text, []byte(middle)) {
				h.t.Errorf("%s is in %s", kind, place)
			}
		}
	}
}
