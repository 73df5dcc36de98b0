package sandbox

import (
	"path"
	"slices"
	"strings"
)

// Environ is the environment a command gets: what of host ("NAME=value" items, as from os.Environ) is on the allow-list,
// then extra, which wins. A name that looks like a secret is never passed on, whoever allows it, nor is a value with a
// password in a URL. The result is sorted, so that it can be part of a digest.
func Environ(host []string, extra ...string) []string {
	values := map[string]string{}
	for _, item := range host {
		name, value, ok := strings.Cut(item, "=")
		if ok && allowed(name) && !strings.Contains(value, "@") {
			values[name] = value
		}
	}
	for _, item := range extra {
		if name, value, ok := strings.Cut(item, "="); ok {
			values[name] = value
		}
	}
	env := make([]string, 0, len(values))
	for name, value := range values {
		if !SecretName(name) {
			env = append(env, name+"="+value)
		}
	}
	slices.Sort(env)
	return env
}

// SecretName reports whether an environment variable of this name is taken for a secret.
func SecretName(name string) bool {
	name = strings.ToUpper(name)
	for _, part := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// allowed is the list of names that commands need to find programs, folders and a language. Names that make programs
// load code (LD_*, BASH_ENV, PYTHONPATH, GIT_*) are not on it.
func allowed(name string) bool {
	for _, pattern := range []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "CI",
		"LANG", "LANGUAGE", "LC_*", "TERM", "COLORTERM", "NO_COLOR",
		"GOPATH", "GOCACHE", "GOMODCACHE", "GOROOT", "GOFLAGS", "GOTOOLCHAIN", "GOOS", "GOARCH", "CGO_ENABLED",
		"GOPROXY", "GOSUMDB", "GOPRIVATE", "GONOSUMDB", "GONOPROXY",
		"CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR",
	} {
		if ok, err := path.Match(pattern, name); ok && err == nil {
			return true
		}
	}
	return false
}
