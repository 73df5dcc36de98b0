package action

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
)

// Canonical renders one JSON value with sorted keys, without white space and with its numbers as they were written, so
// that equal arguments have equal bytes. Nothing at all counts as {}.
func Canonical(raw json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage("{}"), nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("canonicalise arguments: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("canonicalise arguments: more than one JSON value")
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // maps are written in key order, json.Number as it stood
		return nil, fmt.Errorf("canonicalise arguments: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Fingerprint is the SHA-256, in hex, of the canonical JSON {"arguments":…,"tool":…}. Arguments must already be
// redacted; those that are no JSON are taken as a string, so that every action has a fingerprint.
func Fingerprint(tool string, arguments json.RawMessage) string {
	args, err := Canonical(arguments)
	if err != nil {
		args, _ = json.Marshal(string(arguments)) // a string always encodes
	}
	name, _ := json.Marshal(tool)
	h := sha256.New()
	h.Write([]byte(`{"arguments":`))
	h.Write(args)
	h.Write([]byte(`,"tool":`))
	h.Write(name)
	h.Write([]byte(`}`))
	return hex.EncodeToString(h.Sum(nil))
}

// ClaimFingerprint is that of every completion claim: an action without arguments, whoever makes it and in whatever
// words.
func ClaimFingerprint() string { return Fingerprint(ClaimTool, nil) }

// Fingerprint is that of the path's actions in order. Two paths with the same one would do the same.
func (p Path) Fingerprint() string {
	if len(p.Actions) == 1 {
		return p.Actions[0].Fingerprint
	}
	h := sha256.New()
	for _, a := range p.Actions {
		h.Write([]byte(a.Fingerprint))
		h.Write([]byte{'\n'})
	}
	return hex.EncodeToString(h.Sum(nil))
}
