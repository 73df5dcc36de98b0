package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
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
	for _, m := range messages {
		editMessage(m, nil)
	}
	body["messages"] = encode(messages)
	set(body, x.Set)
	data = x.join(body)

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

// join is the body with what the exchange brings along already encoded. That part, nearly all of a long request, is
// copied and not looked at again.
func (x *Exchange) join(body fields) []byte {
	ready := fields{}
	if x.Messages != nil {
		ready["messages"] = x.Messages
	}
	if x.ToolList != nil {
		ready["tools"] = x.ToolList
	}
	set(body, ready)
	out := make([]byte, 0, len(x.Messages)+len(x.ToolList)+1024)
	for _, key := range slices.Sorted(maps.Keys(body)) {
		out = append(append(append(out, ','), quote(key)...), ':')
		if _, ok := ready[key]; ok {
			out = append(out, body[key]...)
		} else {
			out = append(out, encode(body[key])...)
		}
	}
	out[0] = '{' // there is a model at least
	return append(out, '}')
}

// EncodeMessage is one message as it is sent: what the client above makes of it, edited, with fields set in it and, by
// their ids, in its calls. Equal messages give equal bytes.
func EncodeMessage(message json.RawMessage, extra map[string]json.RawMessage, calls map[string]map[string]json.RawMessage) json.RawMessage {
	m := object(message)
	editMessage(m, calls)
	set(m, extra)
	return encode(m)
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
func editMessage(m fields, extras map[string]map[string]json.RawMessage) {
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
		set(c, extras[text(c["id"])])
		calls[i] = encode(c)
	}
	if len(calls) > 0 {
		m["tool_calls"] = encode(calls)
	}
}
