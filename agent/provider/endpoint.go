package provider

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy/agent/provider/wire"
)

// Secret is a key. However it is printed or encoded, it does not show; Reveal is the one way to read it.
type Secret string

// Reveal gives the key itself, for the Authorization header alone.
func (s Secret) Reveal() string { return string(s) }

// String hides the key.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "[redacted]"
}

// GoString hides the key from %#v.
func (s Secret) GoString() string { return fmt.Sprintf("%q", s.String()) }

// MarshalText hides the key from every encoder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Endpoint is where and how one model is reached; Resolve makes it.
type Endpoint struct {
	Provider Provider
	BaseURL  string
	Model    string
	Key      Secret
	// KeyFrom and URLFrom name the source for people: a variable, "keys.env", a flag, the table. Never a value.
	KeyFrom string
	URLFrom string
	Quirks  Quirks
	Limits  wire.Limits
	// Window lowers the context window, in tokens; 0 leaves it to discovery.
	Window int
	// ContextHint is OLLAMA_CONTEXT_LENGTH, which counts only while Ollama itself does not tell.
	ContextHint int
	// Warnings are for people.
	Warnings []string
}

// Loopback reports whether the endpoint is on this machine.
func (e Endpoint) Loopback() bool { return isLoopback(e.BaseURL) }

// ShownURL is the base URL without user info.
func (e Endpoint) ShownURL() string { return shownURL(e.BaseURL) }

// Patience says for people how long a request may take.
func (e Endpoint) Patience() string {
	l := e.Limits
	return fmt.Sprintf("%s to the first byte, %s of silence, %s in all", span(l.First), span(l.Idle), span(l.Total))
}

// span is a duration without the parts that are zero: 10m, not 10m0s.
func span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// secrets are the values that must not appear in any message: the key, unless it is the word that stands in for one,
// and what the base URL may carry.
func (e Endpoint) secrets() []string {
	var values []string
	if e.Key != "" && e.Key != Secret(e.Provider.LocalKey) {
		values = append(values, e.Key.Reveal())
	}
	if u, err := url.Parse(e.BaseURL); err == nil && u.User != nil {
		password, _ := u.User.Password()
		values = append(values, u.User.Username(), password)
	}
	return values
}

// isLoopback reports whether a base URL points at this machine, by name or address; names are not looked up.
func isLoopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// shownURL is a URL without the password, and without the user name, which is often a key as well.
func shownURL(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return "[not a URL]"
	}
	if u.User != nil {
		u.User = url.User("redacted")
	}
	return u.String()
}

// hostOf is the host name of a base URL, "" when it has none.
func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
