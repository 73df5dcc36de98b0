package provider

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// The windows that are assumed when nothing tells, in tokens.
const (
	loopbackWindow = 8192
	hostedWindow   = 128_000
	ollamaWindow   = 4096
)

// WindowInfo is a context window and how it is known.
type WindowInfo struct {
	Tokens int
	// Source says where the number comes from, for people.
	Source string
	// Sure is false for what may change once the model is loaded, and for assumptions.
	Sure bool
}

// Discover asks a server for the window it serves, which may be smaller than what the model was trained for. It always
// answers, if need be with an assumption.
func Discover(ctx context.Context, e Endpoint, base http.RoundTripper) WindowInfo {
	if base == nil {
		own := newTransport()
		defer own.CloseIdleConnections()
		base = own
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	s := server{ctx: ctx, base: base, e: e}
	var found WindowInfo
	switch e.Provider.ID {
	case "ollama":
		found = s.ollama()
	case Custom, "openrouter":
		found = s.custom()
	}
	switch {
	case found.Tokens > 0:
	case e.Loopback():
		found = WindowInfo{Tokens: loopbackWindow, Source: "assumed for a local server"}
	default:
		found = WindowInfo{Tokens: hostedWindow, Source: "assumed for a hosted server"}
	}
	if e.Window > 0 && e.Window < found.Tokens {
		found.Tokens, found.Source = e.Window, "config"
	}
	return found
}

// server asks one server about itself.
type server struct {
	ctx  context.Context //nolint:containedctx // lives only inside Discover
	base http.RoundTripper
	e    Endpoint
}

// get decodes the answer to a question into v and reports success.
func (s server) get(path string, body, v any) bool {
	method := http.MethodGet
	var data []byte
	if body != nil {
		method = http.MethodPost
		data, _ = json.Marshal(body) // of strings
	}
	answer, err := ask(s.ctx, s.base, s.e, method, path, data)
	return err == nil && json.Unmarshal(answer, v) == nil
}

// root is the base URL without the API version, where servers keep their own doors.
func (s server) root() string { return strings.TrimSuffix(s.e.BaseURL, "/v1") }

var numCtx = regexp.MustCompile(`(?m)^\s*num_ctx\s+(\d{1,9})`)

// ollama: the loaded model's window, before that num_ctx of the Modelfile, then the environment, then the smallest
// default. The trained length that /api/show gives as well says nothing.
func (s server) ollama() WindowInfo {
	var ps struct {
		Models []struct {
			Name    string     `json:"name"`
			Model   string     `json:"model"`
			Context lenientInt `json:"context_length"`
		} `json:"models"`
	}
	if s.get(s.root()+"/api/ps", nil, &ps) {
		for _, m := range ps.Models {
			if (sameOllama(m.Name, s.e.Model) || sameOllama(m.Model, s.e.Model)) && m.Context > 0 {
				return WindowInfo{int(m.Context), "the loaded model", true}
			}
		}
	}
	var show struct {
		Parameters string `json:"parameters"`
	}
	if s.get(s.root()+"/api/show", map[string]string{"model": s.e.Model}, &show) {
		if m := numCtx.FindStringSubmatch(show.Parameters); m != nil {
			n, _ := strconv.Atoi(m[1]) // at most nine digits
			return WindowInfo{n, "num_ctx of the model", false}
		}
	}
	if s.e.ContextHint > 0 {
		return WindowInfo{s.e.ContextHint, "OLLAMA_CONTEXT_LENGTH", false}
	}
	return WindowInfo{ollamaWindow, "Ollama's smallest default", false}
}

// sameOllama compares model names, of which the tag latest may be left out.
func sameOllama(a, b string) bool {
	return strings.TrimSuffix(a, ":latest") == strings.TrimSuffix(b, ":latest")
}

// custom tries the doors of the known servers in turn.
func (s server) custom() WindowInfo {
	if w := s.listed(s.e.BaseURL+"/models", "the model list"); w.Tokens > 0 || s.e.Provider.ID != Custom {
		return w
	}
	var props struct {
		Settings struct {
			NCtx lenientInt `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if s.get(s.root()+"/props", nil, &props) && props.Settings.NCtx > 0 {
		return WindowInfo{int(props.Settings.NCtx), "llama.cpp", true}
	}
	for _, path := range []string{"/api/v0/models", "/api/v1/models"} {
		if w := s.listed(s.root()+path, "LM Studio"); w.Tokens > 0 {
			return w
		}
	}
	var info struct {
		Data []struct {
			Name string `json:"model_name"`
			Info struct {
				Max lenientInt `json:"max_input_tokens"`
			} `json:"model_info"`
		} `json:"data"`
	}
	if s.get(s.root()+"/model/info", nil, &info) {
		for _, m := range info.Data {
			if m.Name == s.e.Model && m.Info.Max > 0 {
				return WindowInfo{int(m.Info.Max), "LiteLLM", true}
			}
		}
	}
	return WindowInfo{}
}

// listed finds the model's window in a listing; a server with one model serves that one whatever it is called.
func (s server) listed(url, source string) WindowInfo {
	body, err := ask(s.ctx, s.base, s.e, http.MethodGet, url, nil)
	if err != nil {
		return WindowInfo{}
	}
	models, _ := readModels(body)
	for _, m := range models {
		if (m.ID == s.e.Model || len(models) == 1) && m.Window > 0 {
			return WindowInfo{m.Window, source, true}
		}
	}
	return WindowInfo{}
}

// ready gives the link for a request: with the model that was asked for, or found, and its window discovered once.
func (l *link) ready(ctx context.Context, model string) (link, *llm.Error) {
	ready := *l
	if model != "" {
		ready.endpoint.Model = model
		ready.endpoint.Quirks = l.endpoint.Provider.QuirksFor(model)
	}
	if ready.endpoint.Model == "" {
		found := l.model()
		if found == "" {
			var err error
			if found, err = DefaultModel(ctx, ready.endpoint, l.base); err != nil {
				return link{}, l.failure(ctx, err)
			}
			l.lane.models.choose(found)
		}
		ready.endpoint.Model = found
		ready.endpoint.Quirks = l.endpoint.Provider.QuirksFor(found)
	}
	ready.lane.models.discover(ctx, ready.endpoint.Model, func() (int, bool) {
		w := Discover(ctx, ready.endpoint, l.base)
		return w.Tokens, w.Sure || ready.endpoint.Provider.ID != "ollama"
	})
	return ready, nil
}

// model is the endpoint's model, or the one found for an endpoint without; "" while none is found.
func (l *link) model() string {
	if l.endpoint.Model != "" {
		return l.endpoint.Model
	}
	return l.lane.models.chosen()
}

// capped applies the window of the config.
func (l *link) capped(window int) int {
	if w := l.endpoint.Window; w > 0 && (window == 0 || w < window) {
		return w
	}
	return window
}

// DefaultModel is the first listed model that can use tools, for a server without a default of its own.
func DefaultModel(ctx context.Context, e Endpoint, base http.RoundTripper) (string, error) {
	models, err := ListModels(ctx, e, base)
	if err != nil {
		return "", err
	}
	for _, m := range models {
		if e.Provider.ID == "ollama" && m.Tools == "" {
			m.Tools = ollamaTools(ctx, e, base, m.ID)
		}
		if m.Tools != "no" {
			return m.ID, nil
		}
	}
	return "", &llm.Error{
		Class: llm.NoModel, Provider: e.Provider.ID, Message: "the server lists no model that can use tools",
		Hint: "name one with: autonomy model use",
	}
}

// ollamaTools asks Ollama whether a model can use tools; "" when it does not say.
func ollamaTools(ctx context.Context, e Endpoint, base http.RoundTripper, model string) string {
	if base == nil {
		own := newTransport()
		defer own.CloseIdleConnections()
		base = own
	}
	s := server{ctx: ctx, base: base, e: e}
	var show struct {
		Capabilities []string `json:"capabilities"`
	}
	if !s.get(s.root()+"/api/show", map[string]string{"model": model}, &show) || len(show.Capabilities) == 0 {
		return ""
	}
	for _, c := range show.Capabilities {
		if c == "tools" {
			return "yes"
		}
	}
	return "no"
}
