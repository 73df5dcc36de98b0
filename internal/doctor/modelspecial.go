package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/autonomy-team/autonomy/agent/provider"
)

// special is what one more request can tell about this provider; nil when there is nothing.
func (p *probe) special() func(context.Context) Finding {
	switch p.e.Provider.ID {
	case "ollama":
		return p.ollama
	case "openrouter":
		return p.openrouter
	case "deepseek":
		return p.deepseek
	case provider.Custom:
		return p.custom
	}
	return nil
}

func (p *probe) ask(ctx context.Context, path string, body, v any) bool {
	return provider.Ask(ctx, p.e, p.HTTP, path, body, v) == nil
}

// ollama: its version, whether the model can use tools, and whether it is loaded.
func (p *probe) ollama(ctx context.Context) Finding {
	var version struct{ Version string }
	if !p.ask(ctx, "/api/version", nil, &version) || version.Version == "" {
		return warning("check that the base URL is that of Ollama, ending in /v1", "no answer to /api/version")
	}
	var show struct{ Capabilities []string }
	p.ask(ctx, "/api/show", map[string]string{"model": p.e.Model}, &show)
	if len(show.Capabilities) > 0 && !strings.Contains(" "+strings.Join(show.Capabilities, " ")+" ", " tools ") {
		return warning("choose a model with the capability tools: ollama show MODEL", "version %s; %s has no capability tools", version.Version, p.e.Model)
	}
	var ps struct {
		Models []struct{ Name string }
	}
	state := "cold: the first request loads it"
	p.ask(ctx, "/api/ps", nil, &ps)
	for _, m := range ps.Models {
		if strings.TrimSuffix(m.Name, ":latest") == strings.TrimSuffix(p.e.Model, ":latest") {
			state = "loaded"
		}
	}
	return ok("version %s; %s is %s", version.Version, p.e.Model, state)
}

// openrouter: what is left on the key.
func (p *probe) openrouter(ctx context.Context) Finding {
	var key struct {
		Data *struct {
			Remaining *float64 `json:"limit_remaining"`
			Usage     float64  `json:"usage"`
			Free      bool     `json:"is_free_tier"`
		} `json:"data"`
	}
	if !p.ask(ctx, "key", nil, &key) || key.Data == nil {
		return warning("nothing, if the tool call works", "no answer to /key")
	}
	seen := fmt.Sprintf("used $%.2f", key.Data.Usage)
	if key.Data.Free {
		seen += ", free tier"
	}
	switch left := key.Data.Remaining; {
	case left == nil:
		return ok("%s, no limit on the key", seen)
	case *left <= 0:
		return warning("raise the limit of the key, or add credit", "%s, nothing left", seen)
	default:
		return ok("%s, $%.2f left", seen, *left)
	}
}

// deepseek: the balance.
func (p *probe) deepseek(ctx context.Context) Finding {
	var balance struct {
		Available *bool `json:"is_available"`
		Infos     []struct {
			Currency string `json:"currency"`
			Total    string `json:"total_balance"`
		} `json:"balance_infos"`
	}
	if !p.ask(ctx, "/user/balance", nil, &balance) || balance.Available == nil {
		return warning("nothing, if the tool call works", "no answer to /user/balance")
	}
	var sums []string
	for _, i := range balance.Infos {
		sums = append(sums, i.Total+" "+i.Currency)
	}
	if !*balance.Available {
		return warning("top up the account", "balance %s: not enough", strings.Join(sums, ", "))
	}
	return ok("balance %s", strings.Join(sums, ", "))
}

// custom: which server it is, by the doors that only one of them has.
func (p *probe) custom(ctx context.Context) Finding {
	var answer map[string]any
	for _, m := range p.models {
		if m.Owner == "vllm" || m.Owner == "sglang" || m.Owner == "llamacpp" {
			return ok("%s", m.Owner)
		}
	}
	for _, door := range []struct{ path, field, name string }{
		{"/props", "default_generation_settings", "llama.cpp"},
		{"/api/version", "version", "Ollama"},
		{"/api/v0/models", "data", "LM Studio"},
		{"/model/info", "data", "LiteLLM"},
	} {
		clear(answer)
		if p.ask(ctx, door.path, nil, &answer) && answer[door.field] != nil {
			return ok("%s", door.name)
		}
	}
	return ok("it does not say which server it is")
}
