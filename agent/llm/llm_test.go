package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
)

func TestMessageSurvivesTheTranscript(t *testing.T) {
	in := Message{
		Role:    Assistant,
		Content: "done",
		Calls: []ToolCall{{
			ID: "functions.bash:0", Name: "bash", Arguments: json.RawMessage(`{"a":1}`), Source: SourceText,
			Repaired: true, Problem: "p", Extra: map[string]json.RawMessage{"extra_content": json.RawMessage(`{"s":"x"}`)},
		}},
		Thinking: []Thinking{{Provider: "openrouter", Text: "hm", Raw: json.RawMessage(`{"type":"reasoning.text"}`)}},
		Extra:    map[string]json.RawMessage{"k": json.RawMessage(`[1]`)},
	}
	line, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out Message
	if err := json.Unmarshal(line, &out); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(in, out) {
		t.Fatalf("got %+v, want %+v", out, in)
	}
}

func TestUsageAdd(t *testing.T) {
	known := Usage{Prompt: 10, Completion: 5, Cached: 4, Thinking: 2, Cost: 0.5, CostKnown: true}
	unknown := Usage{Prompt: 1, Completion: 1, Estimated: true}
	for _, tt := range []struct {
		name string
		a, b Usage
		want Usage
	}{
		{"zero is neutral on the left", Usage{}, known, known},
		{"zero is neutral on the right", known, Usage{}, known},
		{"known and known", known, known, Usage{20, 10, 8, 4, 1, true, false}},
		{"one unknown makes it unknown", known, unknown, Usage{11, 6, 4, 2, 0.5, false, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.a.Add(tt.b); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestErrorIsFoundThroughWrapping(t *testing.T) {
	err := fmt.Errorf("run turn 3: %w", &Error{
		Class: Rate, Status: 429, Provider: "zai", Model: "glm", Message: "slow down", Hint: "wait", Err: context.Canceled,
	})
	if ClassOf(err) != Rate {
		t.Errorf("class is %q", ClassOf(err))
	}
	if !errors.Is(err, context.Canceled) {
		t.Error("the cause is lost")
	}
	if want := "run turn 3: zai/glm: rate (HTTP 429): slow down; wait"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if ClassOf(errors.New("x")) != "" {
		t.Error("a foreign error has a class")
	}
}

func TestTransientClasses(t *testing.T) {
	for class, want := range map[Class]bool{
		Cancelled: false, Auth: false, Quota: false, Rate: true, Overflow: false, Param: false, NoModel: false,
		Content: false, Server: true, Transport: true, Cut: true, Empty: false, Protocol: false,
	} {
		if class.Transient() != want {
			t.Errorf("%s: transient is %v", class, !want)
		}
	}
}
