package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// Ask puts one question to the server of an endpoint about itself, outside the chat API, and decodes the JSON answer
// into v. A path that begins with a slash is below the server's root (the base URL less a final /v1), any other below
// the base URL. With a body it is a POST, else a GET. The key goes along, to that host alone; redirects are refused.
// The time is that of ctx. Errors are *llm.Error.
func Ask(ctx context.Context, e Endpoint, base http.RoundTripper, path string, body, v any) error {
	if base == nil {
		own := newTransport()
		defer own.CloseIdleConnections()
		base = own
	}
	method, data := http.MethodGet, []byte(nil)
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return fmt.Errorf("ask %s: %w", path, err)
		}
		method = http.MethodPost
	}
	at := e.BaseURL + "/" + path
	if strings.HasPrefix(path, "/") {
		at = strings.TrimSuffix(e.BaseURL, "/v1") + path
	}
	answer, err := ask(ctx, base, e, method, at, data)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, v); err != nil {
		return &llm.Error{Class: llm.Protocol, Provider: e.Provider.ID, Message: "the answer to " + path + " is of another shape", Err: err}
	}
	return nil
}
