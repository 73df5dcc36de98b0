package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/provider/wire"
)

const (
	maxListing  = 16 << 20
	probeTime   = 5 * time.Second // for one question about a server
	listingTime = 20 * time.Second
)

// ModelInfo is one model of a listing.
type ModelInfo struct {
	ID string
	// Window is the served context window in tokens, 0 when the listing does not say.
	Window int
	// Tools says whether the model can use tools: "yes", "no", or "" when the listing does not say.
	Tools string
	// Owner is owned_by, which tells some servers apart.
	Owner string
}

// ListModels asks GET /models in its several shapes. base sends the request; nil means a transport of its own. Errors
// are *llm.Error.
func ListModels(ctx context.Context, e Endpoint, base http.RoundTripper) ([]ModelInfo, error) {
	if base == nil {
		own := newTransport()
		defer own.CloseIdleConnections()
		base = own
	}
	ctx, cancel := context.WithTimeout(ctx, listingTime)
	defer cancel()
	body, err := ask(ctx, base, e, http.MethodGet, e.BaseURL+"/models", nil)
	if err != nil {
		return nil, err
	}
	models, ok := readModels(body)
	if !ok {
		return nil, &llm.Error{
			Class: llm.Protocol, Provider: e.Provider.ID, Message: "the answer to /models is no list", Hint: "check the base URL",
		}
	}
	return models, nil
}

// ask makes a small request and classifies its failure; the body of a good answer is returned whole.
func ask(ctx context.Context, base http.RoundTripper, e Endpoint, method, url string, body []byte) ([]byte, error) {
	x := &wire.Exchange{Provider: e.Provider.ID, Model: e.Model, Secrets: e.secrets()}
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, reader)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", shownURL(url), err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "autonomy")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if e.Key != "" {
		req.Header.Set("Authorization", "Bearer "+e.Key.Reveal())
	}
	resp, err := base.RoundTrip(req)
	if err != nil {
		return nil, wire.TransportError(ctx, x, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxListing))
	if err != nil {
		return nil, wire.TransportError(ctx, x, err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 || bytes.HasPrefix(bytes.TrimSpace(data), []byte("<")) {
		return nil, wire.StatusError(x, resp, data)
	}
	return data, nil
}

// readModels reads {data:[…]}, {models:[…]} or a bare array, of objects or of strings.
func readModels(body []byte) ([]ModelInfo, bool) {
	var rows []json.RawMessage
	var object map[string]json.RawMessage
	switch {
	case json.Unmarshal(body, &rows) == nil:
	case json.Unmarshal(body, &object) != nil:
		return nil, false
	case json.Unmarshal(object["data"], &rows) == nil && rows != nil:
	case json.Unmarshal(object["models"], &rows) == nil && rows != nil:
	default:
		return nil, false
	}
	models := make([]ModelInfo, 0, len(rows))
	for _, raw := range rows {
		if m, ok := readModel(raw); ok {
			models = append(models, m)
		}
	}
	return models, true
}

// readModel reads one entry of a listing. The served window goes before the trained one wherever an entry has both.
func readModel(raw json.RawMessage) (ModelInfo, bool) {
	var id string
	if json.Unmarshal(raw, &id) == nil {
		return ModelInfo{ID: id}, id != ""
	}
	var m struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Model   string `json:"model"`
		Key     string `json:"key"`
		OwnedBy string `json:"owned_by"`

		MaxModelLen   lenientInt `json:"max_model_len"`
		Loaded        lenientInt `json:"loaded_context_length"`
		ContextLength lenientInt `json:"context_length"`
		TopProvider   struct {
			ContextLength lenientInt `json:"context_length"`
		} `json:"top_provider"`
		Meta struct {
			NCtx lenientInt `json:"n_ctx"`
		} `json:"meta"`
		Instances []struct {
			Config struct {
				ContextLength lenientInt `json:"context_length"`
			} `json:"config"`
		} `json:"loaded_instances"`

		Parameters   []string `json:"supported_parameters"`
		Capabilities []string `json:"capabilities"`
	}
	// A field of an unexpected type leaves the others as they are.
	_ = json.Unmarshal(raw, &m)
	info := ModelInfo{ID: firstText(m.ID, m.Model, m.Key, m.Name), Owner: m.OwnedBy}
	windows := []lenientInt{m.Meta.NCtx, m.MaxModelLen, m.Loaded}
	for _, i := range m.Instances {
		windows = append(windows, i.Config.ContextLength)
	}
	for _, w := range append(windows, m.TopProvider.ContextLength, m.ContextLength) {
		if w > 0 {
			info.Window = int(w)
			break
		}
	}
	if offered := append(m.Parameters, m.Capabilities...); len(offered) > 0 {
		info.Tools = "no"
		for _, o := range offered {
			if o == "tools" || o == "tool_use" {
				info.Tools = "yes"
			}
		}
	}
	return info, info.ID != ""
}

// lenientInt reads numbers, floats included, and takes anything else as 0.
type lenientInt int

// UnmarshalJSON never fails.
func (n *lenientInt) UnmarshalJSON(data []byte) error {
	var f float64
	if json.Unmarshal(bytes.Trim(data, `"`), &f) == nil && f > 0 && f < 1e9 {
		*n = lenientInt(f)
	}
	return nil
}

// firstText is the first text that says something.
func firstText(texts ...string) string {
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			return t
		}
	}
	return ""
}
