package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// Registry is the tools one agent has, in the order they were given. It never changes; any goroutine may use it. Each
// tool is asked for its Spec once, when the registry is made.
type Registry struct {
	tools    []Tool
	specs    []Spec
	byName   map[string]int
	checkers []func() (checker, error) // made at the first call: most tools of a registry are never called
}

// New makes a registry. It refuses two tools of one name, and a schema that is missing or no object schema.
func New(tools ...Tool) (*Registry, error) {
	r := &Registry{byName: map[string]int{}}
	for _, t := range tools {
		spec := t.Spec()
		if _, taken := r.byName[spec.Name]; taken || spec.Name == "" {
			return nil, fmt.Errorf("register tool %q: the name is empty or taken", spec.Name)
		}
		if err := describesObject(spec.Schema); err != nil {
			return nil, fmt.Errorf("register tool %s: %w", spec.Name, err)
		}
		r.byName[spec.Name] = len(r.tools)
		r.tools, r.specs, r.checkers = append(r.tools, t), append(r.specs, spec), append(r.checkers, sync.OnceValues(func() (checker, error) { return compile(spec.Schema) }))
	}
	return r, nil
}

// Get finds a tool by its exact name.
func (r *Registry) Get(name string) (Tool, bool) {
	i, ok := r.byName[name]
	if !ok {
		return nil, false
	}
	return r.tools[i], true
}

// Spec is the specification of the tool of that name.
func (r *Registry) Spec(name string) (Spec, bool) {
	i, ok := r.byName[name]
	if !ok {
		return Spec{}, false
	}
	return r.specs[i], true
}

// List is all specifications, in order.
func (r *Registry) List() []Spec { return slices.Clone(r.specs) }

// Names is the names of all tools, in order.
func (r *Registry) Names() []string {
	names := make([]string, len(r.specs))
	for i, spec := range r.specs {
		names[i] = spec.Name
	}
	return names
}

// Available is the registry of the tools that belong to one of the toolsets; nil means those that are on by default.
func (r *Registry) Available(toolsets []string) *Registry {
	sub := &Registry{byName: map[string]int{}}
	for i, spec := range r.specs {
		if toolsets == nil && spec.Default || slices.Contains(toolsets, spec.Toolset) {
			sub.byName[spec.Name] = len(sub.tools)
			sub.tools, sub.specs = append(sub.tools, r.tools[i]), append(sub.specs, spec)
			sub.checkers = append(sub.checkers, r.checkers[i])
		}
	}
	return sub
}

// Validate checks the arguments of a call to the named tool.
func (r *Registry) Validate(name string, args json.RawMessage) error {
	i, ok := r.byName[name]
	if !ok {
		return fmt.Errorf("no tool %q", name)
	}
	c, err := r.checkers[i]()
	if err != nil {
		return fmt.Errorf("schema of tool %s: %w", name, err)
	}
	return c.validate(args)
}
