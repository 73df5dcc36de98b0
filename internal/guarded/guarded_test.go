package guarded

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestOf(t *testing.T) {
	state, protected, secret := Class{State: true}, Class{Protected: true}, Class{Secret: true}
	both := Class{Protected: true, Secret: true}
	for path, want := range map[string]Class{
		"main.go": {}, "docs/agents.txt": {}, "envs/x": {}, ".gitignore": {}, ".env.example": {}, "sub/.tasks/x": {},
		"keys.go": {}, "id_rsa.pub": {}, ".github/x.md": {}, "a~1": {},
		".tasks": state, ".tasks/task_1.json": state, ".TEAM/x": state, ".autonomy./x": state, ".tasks/../.team/x": state,
		"AUTONO~1/x": state, ".auto\u200cnomy/x": state, ".ta\u017fk\u017f/x": state, ".autonomy::$INDEX_ALLOCATION": state,
		".git/config": protected, "sub/.git/hooks/pre-commit": protected, ".GIT": protected, "GIT~1/config": protected,
		"AGENTS.md": protected, "sub/Claude.MD": protected, ".github/workflows/ci.yml": protected, ".vscode/tasks.json": protected,
		".envrc": protected, ".bashrc": protected, ".mcp.json ": protected,
		".env": secret, ".env.local": secret, "x/.ENV": secret, "server.pem": secret, "tls/Server.KEY": secret,
		"id_ed25519": secret, ".ssh/config": secret, ".aws/credentials": secret, "home/.kube/config": secret,
		".npmrc": both, ".netrc": both,
	} {
		if got := Of(path); got != want {
			t.Errorf("%q: got %+v, want %+v", path, got, want)
		}
	}
}

// However a listed name is written, it stays listed.
func TestDisguisesDoNotHelp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(append(append(append([]string{}, stateFolders...), protectedNames...), secretNames...)).Draw(t, "name")
		var b strings.Builder
		for _, r := range name {
			if rapid.Bool().Draw(t, "upper") {
				r = []rune(strings.ToUpper(string(r)))[0]
			}
			b.WriteRune(r)
			b.WriteString(rapid.SampledFrom([]string{"", "", "", "\u200d", "\ufe0f", "\u2060"}).Draw(t, "ignorable"))
		}
		b.WriteString(rapid.SampledFrom([]string{"", ".", " ", ". .", ":x"}).Draw(t, "tail"))
		if Of(b.String()) == (Class{}) {
			t.Fatalf("%q passes for %q", b.String(), name)
		}
	})
}
