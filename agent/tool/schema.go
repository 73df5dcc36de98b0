package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Mutating is embedded in the arguments of every tool that changes something: why the call is made, for the record and
// for the person who is asked. It decides nothing.
type Mutating struct {
	Purpose string `json:"purpose,omitempty" jsonschema:"why, in one line"`
}

// SchemaOf describes the arguments struct T as a JSON Schema object: parameters are the fields by their json names, those
// without omitempty are required, and no others are allowed. The description of a parameter is its jsonschema tag. Every
// type is a single string, because some servers refuse lists of types. It is nil, which New refuses, when T cannot be
// described: that is a mistake in the program.
func SchemaOf[T any]() json.RawMessage {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		return nil
	}
	singleTypes(s)
	raw, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return raw
}

// singleTypes turns ["null", "array"] into "array", at any depth.
func singleTypes(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if i := slices.IndexFunc(s.Types, func(t string) bool { return t != "null" }); i >= 0 {
		s.Type, s.Types = s.Types[i], nil
	}
	singleTypes(s.Items)
	for _, p := range s.Properties {
		singleTypes(p)
	}
}

// ErrArguments is behind every error about arguments that do not fit their schema.
var ErrArguments = errors.New("invalid arguments")

// Validate checks arguments against a schema of SchemaOf or of a foreign tool. Its error names the parameter and, for an
// unknown one, those there are.
func Validate(schema, args json.RawMessage) error {
	c, err := compile(schema)
	if err != nil {
		return err
	}
	return c.validate(args)
}

// checker is a schema made ready for many validations, from any goroutine.
type checker struct {
	schema   *jsonschema.Schema
	resolved *jsonschema.Resolved
}

// describesObject is the part of compile that costs nothing.
func describesObject(raw json.RawMessage) error {
	var s struct{ Type string }
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	if s.Type != "object" {
		return errors.New("read schema: the arguments are no object")
	}
	return nil
}

func compile(raw json.RawMessage) (checker, error) {
	if err := describesObject(raw); err != nil {
		return checker{}, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return checker{}, fmt.Errorf("read schema: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return checker{}, fmt.Errorf("resolve schema: %w", err)
	}
	return checker{&s, resolved}, nil
}

func (c checker) validate(raw json.RawMessage) error {
	var args map[string]any
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	if err := json.Unmarshal(raw, &args); err != nil || args == nil {
		return fmt.Errorf("%w: not a JSON object", ErrArguments)
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		// No tool of ours has such a parameter, and harnesses use them to smuggle settings.
		if strings.HasPrefix(name, "_") {
			return fmt.Errorf("%w: parameter %q: names that begin with _ are refused", ErrArguments, name)
		}
		property, known := c.schema.Properties[name]
		if !known {
			if c.closed() {
				return fmt.Errorf("%w: unknown parameter %q; there are: %s", ErrArguments, name, c.names())
			}
			continue
		}
		if err := fits(property, args[name]); err != nil {
			return fmt.Errorf("%w: parameter %q: %w", ErrArguments, name, err)
		}
	}
	for _, name := range c.schema.Required {
		if _, given := args[name]; !given {
			return fmt.Errorf("%w: parameter %q is required", ErrArguments, name)
		}
	}
	// What is nested or bounded is left to the library, whose messages give the path.
	if err := c.resolved.Validate(args); err != nil {
		return fmt.Errorf("%w: %w", ErrArguments, err)
	}
	return nil
}

// closed reports whether other parameters than those of the schema are refused.
func (c checker) closed() bool { return c.schema.AdditionalProperties != nil }

func (c checker) names() string {
	if len(c.schema.PropertyOrder) > 0 {
		return strings.Join(c.schema.PropertyOrder, ", ")
	}
	return strings.Join(slices.Sorted(maps.Keys(c.schema.Properties)), ", ")
}

// fits compares the JSON type of a value with the one type of a property.
func fits(property *jsonschema.Schema, value any) error {
	var found string
	switch v := value.(type) {
	case nil:
		found = "null"
	case bool:
		found = "boolean"
	case string:
		found = "string"
	case float64:
		found = "number"
		if v == float64(int64(v)) && property.Type == "integer" {
			found = "integer"
		}
	case []any:
		found = "array"
	case map[string]any:
		found = "object"
	}
	if property.Type != "" && property.Type != found {
		return fmt.Errorf("wants %s, found %s", property.Type, found)
	}
	return nil
}

// Decode reads validated arguments into the struct of their schema. The schema must have been checked first, because the
// decoder matches names without case.
func Decode[T any](args json.RawMessage) (T, error) {
	var v T
	if len(bytes.TrimSpace(args)) == 0 {
		return v, nil
	}
	if err := json.Unmarshal(args, &v); err != nil {
		return v, fmt.Errorf("%w: %w", ErrArguments, err)
	}
	return v, nil
}
