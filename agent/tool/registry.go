package tool

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Registry is the tools one agent has, in the order they were given. It never changes; any goroutine may use it.
type Registry struct {
	tools    []Tool
	byName   map[string]int
	checkers []checker
}

// New makes a registry. It refuses two tools of one name, and a schema that is missing or no object schema.
func New(tools ...Tool) (*Registry, error) {
	r := &Registry{byName: map[string]int{}}
	for _, t := range tools {
		spec := t.Spec()
		if _, taken := r.byName[spec.Name]; taken || spec.Name == "" {
			return nil, fmt.Errorf("register tool %q: the name is empty or taken", spec.Name)
		}
		c, err := compile(spec.Schema)
		if err != nil {
			return nil, fmt.Errorf("register tool %s: %w", spec.Name, err)
		}
		r.byName[spec.Name] = len(r.tools)
		r.tools, r.checkers = append(r.tools, t), append(r.checkers, c)
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

// List is all specifications, in order.
func (r *Registry) List() []Spec {
	specs := make([]Spec, len(r.tools))
	for i, t := range r.tools {
		specs[i] = t.Spec()
	}
	return specs
}

// Names is the names of all tools, in order.
func (r *Registry) Names() []string {
	names := make([]string, len(r.tools))
	for i, t := range r.tools {
		names[i] = t.Spec().Name
	}
	return names
}

// Available is the registry of the tools that belong to one of the toolsets; nil means those that are on by default.
func (r *Registry) Available(toolsets []string) *Registry {
	sub := &Registry{byName: map[string]int{}}
	for i, t := range r.tools {
		spec := t.Spec()
		if toolsets == nil && spec.Default || slices.Contains(toolsets, spec.Toolset) {
			sub.byName[spec.Name] = len(sub.tools)
			sub.tools, sub.checkers = append(sub.tools, t), append(sub.checkers, r.checkers[i])
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
	return r.checkers[i].validate(args)
}
