package doctor

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/provider"
)

// Model is the model to look at, as the settings resolve it.
type Model struct {
	// Endpoint is what was resolved; with a *provider.MissingKeyError in Err it is all but the key.
	Endpoint provider.Endpoint
	Err      error             // why it could not be resolved: one of provider.Resolve, or why keys can't be read
	Fix      string            // what to do about Err
	HTTP     http.RoundTripper // nil = a transport of its own
	Version  string            // for the User-Agent
}

// The bounds of the checks that speak to a server. A local one may have to load the model first.
const (
	listWithin  = 25 * time.Second
	chatWithin  = 2 * time.Minute
	localWithin = 5 * time.Minute
)

// Models are the checks of one model, in order, each on what those before it found. One request lists the models, two
// small ones chat.
func Models(m Model) Chain {
	p := &probe{Model: m, e: m.Endpoint}
	chat := chatWithin
	if p.e.Loopback() {
		chat = localWithin
	}
	chain := Chain{
		{Name: "provider", Required: true, Run: p.provider},
		{Name: "model key", Required: true, Run: p.key},
		{Name: "base URL", Required: true, Run: p.baseURL},
		{Name: "endpoint", Required: true, Network: true, Within: listWithin, Run: p.reach},
		{Name: "model list", Required: true, Network: true, Run: p.list},
		{Name: "model", Required: true, Network: true, Within: listWithin, Run: p.listed},
		{Name: "tool call", Required: true, Network: true, Within: chat, Run: p.chat},
		{Name: "window", Network: true, Run: p.window},
		{Name: "limiter", Run: p.limiter},
	}
	if special := p.special(); special != nil {
		chain = append(chain, Check{Name: p.e.Provider.ID, Network: true, Within: listWithin, Run: func(ctx context.Context) Finding {
			if p.stop != "" {
				return p.blocked()
			}
			return special(ctx)
		}})
	}
	return chain
}

// probe is the state of one chain. Its methods run one after another.
type probe struct {
	Model
	e      provider.Endpoint
	models []provider.ModelInfo
	failed error  // of the listing
	stop   string // why the rest cannot be tried; "" = it can
}

const setUp = "run autonomy model setup; without a model the team works tasks that spell out their steps"

func (p *probe) blocked() Finding {
	if errors.Is(p.Err, provider.ErrNoProvider) {
		return skipped(setUp, "no model is configured")
	}
	return skipped("put right what is wrong above first", "not tried: %s", p.stop)
}

func (p *probe) provider(context.Context) Finding {
	var missing *provider.MissingKeyError
	var url *provider.URLError
	switch {
	case errors.Is(p.Err, provider.ErrNoProvider):
		p.stop = "no model is configured"
		return p.blocked()
	case errors.As(p.Err, &missing), errors.As(p.Err, &url), p.Err == nil:
		return ok("%s", p.e.Provider.ID)
	}
	p.stop = "the settings name no usable model"
	return failure(p.Fix, "%v", p.Err)
}

func (p *probe) key(context.Context) Finding {
	var missing *provider.MissingKeyError
	switch {
	case p.stop != "":
		return p.blocked()
	case errors.As(p.Err, &missing):
		p.stop = "the key is missing"
		return failure(p.Fix, "none for %s: looked for %s", missing.Provider, strings.Join(missing.Vars, ", "))
	case p.e.Key == "" || p.e.KeyFrom == "fixed":
		return ok("none needed")
	}
	for _, w := range p.e.Warnings {
		return warning("use an https:// base URL", "%s; %s", p.keyFrom(), w)
	}
	if p.e.Provider.ID == "kimi-coding" && strings.HasPrefix(p.e.Key.Reveal(), "sk-kimi-") != strings.Contains(p.e.BaseURL, "api.kimi.com/coding") {
		return warning("keys that begin with sk-kimi- belong to https://api.kimi.com/coding/v1, others to https://api.moonshot.ai/v1",
			"%s; it does not fit %s", p.keyFrom(), p.e.ShownURL())
	}
	return ok("%s", p.keyFrom())
}

// keyFrom says where the key was found.
func (p *probe) keyFrom() string {
	if p.e.KeyFrom == "given" {
		return "entered now"
	}
	return p.e.KeyFrom
}

func (p *probe) baseURL(context.Context) Finding {
	var bad *provider.URLError
	switch {
	case errors.As(p.Err, &bad):
		p.stop = "the base URL is not usable"
		return failure("correct it with autonomy model setup", "%v", bad)
	case p.e.BaseURL == "":
		return p.blocked()
	}
	for _, end := range []string{"/chat/completions", "/completions", "/models"} {
		if strings.HasSuffix(p.e.BaseURL, end) {
			p.stop = "the base URL is too long"
			return failure("remove "+end+" from its end: autonomy model setup", "%s", p.e.ShownURL())
		}
	}
	return ok("%s (%s)", p.e.ShownURL(), p.e.URLFrom)
}

// reach asks for the list of models; any answer shows that something is there.
func (p *probe) reach(ctx context.Context) Finding {
	if p.stop != "" {
		return p.blocked()
	}
	begin := time.Now()
	p.models, p.failed = provider.ListModels(ctx, p.e, p.HTTP)
	var e *llm.Error
	switch {
	case !errors.As(p.failed, &e):
	case e.Class == llm.Transport, e.Class == llm.Cancelled:
		p.stop = "the server is not reached"
		return failure(p.fix(e), "%s: %s", transport(e), e.Message)
	case e.Status >= 300 && e.Status < 400:
		p.stop = "the base URL redirects"
		return failure("use the URL that it redirects to, if you trust it: autonomy model setup", "%s", e.Message)
	}
	return ok("answers after %s", time.Since(begin).Round(time.Millisecond))
}

// transport names the step at which a connection failed.
func transport(e *llm.Error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case e.Class == llm.Cancelled:
		return "no answer in time"
	case errors.As(e.Err, &dns):
		return "name not found"
	case errors.As(e.Err, &op) && op.Op == "proxyconnect":
		return "the proxy refuses"
	case strings.Contains(e.Hint, "TLS"), strings.Contains(e.Hint, "certificate"):
		return "TLS fails"
	case errors.As(e.Err, &op) && op.Op == "dial":
		return "no connection"
	}
	return "the connection fails"
}

func (p *probe) list(context.Context) Finding {
	var e *llm.Error
	switch {
	case p.stop != "":
		return p.blocked()
	case p.failed == nil && len(p.models) == 0:
		return warning("name a model with autonomy model use", "the list is empty")
	case p.failed == nil:
		return ok("models listed: %d", len(p.models))
	case errors.As(p.failed, &e) && e.Class == llm.Auth:
		p.stop = "the key is refused"
		return failure(p.fix(e), "the key (%s) is refused: %s", p.keyFrom(), e.Message)
	case errors.As(p.failed, &e):
		return warning("nothing, if the tool call below works; else check the base URL", "no list: %s (%s)", e.Message, e.Class)
	}
	return warning("check the base URL", "no list: %v", p.failed)
}

func (p *probe) listed(ctx context.Context) Finding {
	if p.stop != "" {
		return p.blocked()
	}
	if p.e.Model == "" {
		model, err := provider.DefaultModel(ctx, p.e, p.HTTP)
		if err != nil {
			p.stop = "no model is chosen"
			return failure("choose one with autonomy model use", "%v", err)
		}
		p.e.Model, p.e.Quirks = model, p.e.Provider.QuirksFor(model)
		return ok("%s, the first that can use tools", model)
	}
	if len(p.models) == 0 {
		return skipped("nothing, if the tool call below works", "%s; the server does not list its models", p.e.Model)
	}
	for _, m := range p.models {
		if m.ID != p.e.Model && m.ID != p.e.Model+":latest" {
			continue
		}
		if m.Tools == "no" {
			return failure("choose a model that can use tools: autonomy model list", "%s is listed, without tools", m.ID)
		}
		return ok("%s is listed", m.ID)
	}
	near := strings.Join(nearestNames(p.e.Model, p.models, 3), ", ")
	fix := "nearest: " + near + "; choose with autonomy model use"
	if p.e.Provider.ID == "ollama" {
		fix = "ollama pull " + p.e.Model + "; installed: " + near
	}
	return warning(fix, "%s is not listed", p.e.Model)
}

// smallWindow is the window, in tokens, below which a conversation with tools does not fit for long.
const smallWindow = 16 << 10

func (p *probe) window(ctx context.Context) Finding {
	if p.stop != "" {
		return p.blocked()
	}
	w := provider.Discover(ctx, p.e, p.HTTP)
	if w.Tokens >= smallWindow {
		return ok("%d tokens (%s)", w.Tokens, w.Source)
	}
	fix := "serve the model with a window of at least 16384 tokens"
	if p.e.Provider.ID == "ollama" {
		fix = "start Ollama with OLLAMA_CONTEXT_LENGTH=32768, or set num_ctx in a Modelfile: it cuts longer prompts silently"
	}
	return warning(fix, "%d tokens (%s)", w.Tokens, w.Source)
}

func (p *probe) limiter(context.Context) Finding {
	if errors.Is(p.Err, provider.ErrNoProvider) || p.e.Provider.ID == "" {
		return p.blocked()
	}
	return ok("requests: %s, shared by all members on this key; a request may take %s", p.e.Provider.Pace(), p.e.Patience())
}
