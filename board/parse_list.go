package board

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/strictjson"
)

func (r *reader) elements(key string) []strictjson.Member {
	m, ok := r.get(key)
	if !ok {
		return nil
	}
	list, err := strictjson.Elements(r.src, m)
	if err != nil {
		r.failf(m.Start, "%s must be an array, not %s", key, kind(m))
	}
	return list
}

// ids reads a list of task ids; repeats are dropped.
func (r *reader) ids(key string) []autonomy.TaskID {
	var ids []autonomy.TaskID
	seen := map[autonomy.TaskID]bool{}
	for _, e := range r.elements(key) {
		n, err := strictjson.ID(e)
		if err != nil {
			r.failf(e.Start, "%s: every entry %s", key, err)
			continue
		}
		if id := autonomy.TaskID(n); !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

func (r *reader) names(key string) []string {
	var names []string
	for _, e := range r.elements(key) {
		s, err := strictjson.String(e)
		switch {
		case err != nil:
			r.failf(e.Start, "%s: every entry %s", key, err)
		case strings.TrimSpace(s) == "":
			r.failf(e.Start, "%s: an entry is blank", key)
		default:
			names = append(names, s)
		}
	}
	return names
}

func (r *reader) steps(key string) []Step {
	var steps []Step
	for i, e := range r.elements(key) {
		where := fmt.Sprintf("step %d", i+1)
		var s Step
		switch strictjson.Kind(e) {
		case "string":
			if s.Run, _ = strictjson.String(e); strings.TrimSpace(s.Run) == "" {
				r.failf(e.Start, "%s: the command is blank", where)
			}
		case "object":
			r.in(e, where, func(in *reader) { s = in.step() })
		default:
			r.failf(e.Start, "%s must be a string or an object, not %s", where, kind(e))
		}
		steps = append(steps, s)
	}
	return steps
}

func (r *reader) step() Step {
	// A misspelt key must not silently drop a check.
	r.only("run", "tool", "arguments", "name", "timeout", "expect")
	var s Step
	var run, tool bool
	s.Name = r.line("name")
	s.Run, run = r.str("run")
	s.Tool, tool = r.str("tool")
	s.Arguments = r.raw("arguments", "object")
	s.Timeout = r.timeout("timeout")
	if m, ok := r.get("expect"); ok {
		r.in(m, r.path+": expect", func(in *reader) { s.Expect = in.expect() })
	}
	switch {
	case run == tool && r.err == nil:
		r.failf(r.o.Start(), "wants either run or tool")
	case run && strings.TrimSpace(s.Run) == "":
		r.failf(r.o.Start(), "run is blank")
	case tool && strings.TrimSpace(s.Tool) == "":
		r.failf(r.o.Start(), "tool is blank")
	case run && s.Arguments != nil:
		r.failf(r.o.Start(), "arguments belong to tool, not to run")
	}
	return s
}

func (r *reader) expect() *Expect {
	r.only("exit", "contains", "file")
	e := &Expect{Contains: r.text("contains"), File: r.text("file")}
	if m, ok := r.get("exit"); ok {
		n, err := strictjson.Int64(m)
		switch {
		case err != nil:
			r.at(m, err)
		case n < 0 || n > 255:
			r.failf(m.Start, "exit must be between 0 and 255, not %d", n)
		default:
			exit := int(n)
			e.Exit = &exit
		}
	}
	return e
}

// text reads a string that, when given, must say something: an empty check would pass always.
func (r *reader) text(key string) string {
	s, ok := r.str(key)
	if ok && s == "" {
		m, _ := r.o.Get(key)
		r.failf(m.Start, "%s is empty", key)
	}
	return s
}

// only refuses keys that are not known here.
func (r *reader) only(known ...string) {
	for _, m := range r.o.Members() {
		if !slices.Contains(known, m.Key) {
			r.failf(m.KeyStart, "unknown key %q (known: %s)", m.Key, strings.Join(known, ", "))
		}
	}
}

// timeout reads whole seconds as a number, or a duration as text.
func (r *reader) timeout(key string) time.Duration {
	m, ok := r.get(key)
	if !ok {
		return 0
	}
	const longest = 365 * 24 * time.Hour
	var d time.Duration
	if strictjson.Kind(m) == "string" {
		s, _ := strictjson.String(m)
		var err error
		if d, err = time.ParseDuration(s); err != nil {
			r.failf(m.Start, `%s must be seconds or a duration like "90s" or "5m", not %q`, key, s)
			return 0
		}
	} else {
		n, err := strictjson.Int64(m)
		if err != nil {
			r.failf(m.Start, `%s must be whole seconds or a duration like "90s" or "5m"`, key)
			return 0
		}
		d = time.Duration(min(max(n, -1), int64(longest/time.Second)+1)) * time.Second
	}
	if d <= 0 || d > longest {
		r.failf(m.Start, "%s must be more than 0 and at most a year", key)
	}
	return d
}
