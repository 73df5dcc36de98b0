package guarded

import (
	"path"
	"strings"
	"unicode"
)

// The lists are constants in all but type; nothing writes to them.
var (
	stateFolders = []string{".tasks", ".team", ".autonomy"}

	protectedNames = []string{
		".git", ".gitmodules", ".envrc", ".npmrc", ".netrc", ".mcp.json", ".vscode", ".idea", ".husky",
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
		"agents.md", "claude.md", "gemini.md", ".cursorrules", ".windsurfrules", ".clinerules", ".cursor", ".claude", ".agents",
		".gitlab-ci.yml", "azure-pipelines.yml", "jenkinsfile", ".circleci", ".buildkite", ".woodpecker", ".ci",
	}
	protectedTails = []string{".github/workflows", ".github/actions", ".github/copilot-instructions.md"}

	secretNames = []string{
		".env", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", ".git-credentials", ".vault-token", "keys.env",
		"credentials.json", "secrets.yaml", "secrets.yml", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".ssh", ".gnupg",
	}
	secretTails = []string{
		".aws/credentials", ".aws/config", ".azure", ".config/gcloud", ".config/gh", ".kube/config", ".docker/config.json",
		".cargo/credentials", ".cargo/credentials.toml", ".config/autonomy",
	}
)

// secretPattern knows the names that come in many variants. It takes folded names.
func secretPattern(name string) bool {
	if rest, ok := strings.CutPrefix(name, ".env."); ok {
		switch rest {
		case "example", "sample", "template", "dist", "defaults", "schema":
			return false
		}
		return true
	}
	switch path.Ext(name) {
	case ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".crt", ".cer", ".der", ".ppk":
		return true
	}
	return strings.HasPrefix(name, "service-account") && strings.HasSuffix(name, ".json")
}

// Fold maps a file name to the form under which any file system might find it: without case, ignorable characters,
// trailing dots and blanks, and stream names. Only what can turn into ASCII matters, because every listed name is ASCII.
func Fold(name string) string {
	name, _, _ = strings.Cut(name, ":")
	folded := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || r == 0x034f || r == 0x180e:
			return -1
		case r < unicode.MaxASCII:
			return unicode.ToLower(r)
		}
		// The long s and the Kelvin sign are the letters s and k to a file system that folds case.
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if f < unicode.MaxASCII {
				return unicode.ToLower(f)
			}
		}
		return unicode.ToLower(r)
	}, name)
	if trimmed := strings.TrimRight(folded, ". "); trimmed != "" {
		return trimmed
	}
	return folded
}
