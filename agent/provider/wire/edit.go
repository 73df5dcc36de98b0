package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// edit rewrites the body and headers of a request that the client above made. Equal histories give equal bytes: keys
// are sorted, and nothing depends on time or chance.
func (x *Exchange) edit(req *http.Request) (*http.Request, error) {
	data, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("read request body: %w", err)
	}
	body, messages, err := parseBody(data)
	if err != nil {
		return nil, err
	}
	body["model"] = quote(x.Model)
	for i, m := range messages {
		x.editMessage(m)
		if i < len(x.Extras) {
			set(m, x.Extras[i])
		}
	}
	body["messages"] = encode(messages)
	set(body, x.Set)
	data = encode(body)

	req.Body = io.NopCloser(bytes.NewReader(data))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	req.ContentLength = int64(len(data))
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Del("Connection")
	for k, v := range x.Header {
		req.Header[k] = v
	}
	return req, nil
}

// set puts fields into m; a nil value removes the field.
func set(m fields, values map[string]json.RawMessage) {
	for k, v := range values {
		if v == nil {
			delete(m, k)
		} else {
			m[k] = v
		}
	}
}

// editMessage undoes what the client's types leave out: content is always there and never null, calls have arguments, a
// type and no index, and tool messages have no name.
func (x *Exchange) editMessage(m fields) {
	if !present(m["content"]) {
		m["content"] = quote("")
	}
	if text(m["role"]) == "tool" {
		delete(m, "name")
	}
	calls := list(m["tool_calls"])
	for i, raw := range calls {
		c := object(raw)
		f := object(c["function"])
		if f == nil {
			continue
		}
		if text(f["arguments"]) == "" {
			f["arguments"] = quote("{}")
		}
		delete(c, "index")
		c["type"] = quote("function")
		c["function"] = encode(f)
		set(c, x.CallExtras[text(c["id"])])
		calls[i] = encode(c)
	}
	if len(calls) > 0 {
		m["tool_calls"] = encode(calls)
	}
}
