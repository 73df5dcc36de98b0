package wire

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// toolbox is the set of tools of a request.
type toolbox struct {
	names []string
	raw   map[string]json.RawMessage
	read  map[string]schema // of those that were asked for
}

func newToolbox(tools []llm.Tool) toolbox {
	b := toolbox{raw: make(map[string]json.RawMessage, len(tools)), read: map[string]schema{}}
	for _, t := range tools {
		b.names = append(b.names, t.Name)
		b.raw[t.Name] = t.Schema
	}
	return b
}

// schema is that of a tool. It is read when it is first asked for: most answers call one tool of many.
func (b toolbox) schema(name string) schema {
	s, ok := b.read[name]
	if !ok {
		s = readSchema(b.raw[name])
		b.read[name] = s
	}
	return s
}

// known reports whether name is exactly that of a tool.
func (b toolbox) known(name string) bool {
	_, ok := b.raw[name]
	return ok
}

// resolve finds the tool a model meant: by its exact name, then without decoration, then by a loose spelling if exactly
// one tool fits.
func (b toolbox) resolve(name string) (string, bool) {
	if b.known(name) {
		return name, true
	}
	plain, _, _ := strings.Cut(strings.TrimSpace(name), "<|")
	plain = strings.TrimPrefix(strings.TrimSpace(plain), "functions.")
	if b.known(plain) {
		return plain, true
	}
	found := ""
	for _, n := range b.names {
		if loose(n) == loose(plain) {
			if found != "" {
				return "", false
			}
			found = n
		}
	}
	return found, found != ""
}

// loose is the spelling in which names are compared at last.
func loose(name string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(name))
}

// unknown tells the model that there is no such tool, and which there are.
func (b toolbox) unknown(name string) string {
	return fmt.Sprintf("unknown tool %q; the tools are: %s", clip(name, 80), strings.Join(b.names, ", "))
}

// clip cuts s to n bytes of whole characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// kimiID is the form in which Kimi models name their calls; the number counts over the conversation.
var kimiID = regexp.MustCompile(`^functions\.(.+):(\d{1,9})$`)

// IDs gives out call ids that are unique in a conversation.
type IDs struct {
	used  map[string]bool
	limit int
	next  int
	kimi  int
}

// NewIDs starts from the ids used so far; limit is the longest id allowed, 0 for any.
func NewIDs(used map[string]bool, limit int) *IDs {
	ids := &IDs{used: make(map[string]bool, len(used)), limit: limit}
	for id := range used {
		ids.take(id)
	}
	return ids
}

// take marks an id as used and keeps Kimi's counter above it.
func (ids *IDs) take(id string) string {
	ids.used[id] = true
	if m := kimiID.FindStringSubmatch(id); m != nil {
		n, _ := strconv.Atoi(m[2]) // at most nine digits
		ids.kimi = max(ids.kimi, n+1)
	}
	return id
}

// Assign keeps id byte for byte if it may stand, and otherwise gives a new one; the choice depends on nothing but what
// was used before.
func (ids *IDs) Assign(id string) string {
	if id != "" && !ids.used[id] && (ids.limit == 0 || len(id) <= ids.limit) {
		return ids.take(id)
	}
	if m := kimiID.FindStringSubmatch(id); m != nil {
		renumbered := fmt.Sprintf("functions.%s:%d", m[1], ids.kimi)
		if !ids.used[renumbered] && (ids.limit == 0 || len(renumbered) <= ids.limit) {
			return ids.take(renumbered)
		}
	}
	for {
		ids.next++
		if fresh := fmt.Sprintf("call_%d", ids.next); !ids.used[fresh] {
			return ids.take(fresh)
		}
	}
}

// unfold opens multi_tool_use.parallel if every call in it is valid.
func (b toolbox) unfold(name, args string) ([]rawCall, bool) {
	if strings.TrimPrefix(name, "functions.") != "multi_tool_use.parallel" || b.known(name) {
		return nil, false
	}
	obj, _, err := RepairArguments(args)
	if err != nil {
		return nil, false
	}
	var out []rawCall
	for _, use := range list(object(obj)["tool_uses"]) {
		m := object(use)
		inner, ok := b.resolve(text(m["recipient_name"]))
		if !ok || object(m["parameters"]) == nil || len(out) >= maxCalls {
			return nil, false
		}
		out = append(out, rawCall{name: inner, args: string(m["parameters"])})
	}
	return out, len(out) > 0
}

// rawCall is a call as found, before its name, id and arguments are settled.
type rawCall struct {
	id, name, args string
	extra          map[string]json.RawMessage
	source         string
}
