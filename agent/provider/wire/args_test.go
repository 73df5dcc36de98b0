package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRule6_RepairArgumentsNeverGuess(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", "{}"},
		{"null", "null", "{}"},
		{"white space is compacted", " { \"a\" : 1 } ", `{"a":1}`},
		{"string that holds an object", `"{\"a\":1}"`, `{"a":1}`},
		{"string in a string", `"\"{\\\"a\\\":1}\""`, `{"a":1}`},
		{"fenced", "```json\n{\"a\":1}\n```", `{"a":1}`},
		{"leading json", "json{\"a\":1}", `{"a":1}`},
		{"special token behind", `{"a":1}<|tool_call_end|>`, `{"a":1}`},
		{"closing tag behind", `{"a":1}</tool_call>`, `{"a":1}`},
		{"array of one", `[{"a":1}]`, `{"a":1}`},
		{"raw newline and tab", "{\"a\":\"x\n\ty\"}", `{"a":"x\u000a\u0009y"}`},
		{"trailing commas", `{"a":[1,2,],}`, `{"a":[1,2]}`},
		{"comma in a string stays", `{"a":",}",}`, `{"a":",}"}`},
		{"Python", `{'a': True, 'b': [None, (1, 'x')], 'c': 'it\'s'}`, `{"a":true,"b":[null,[1,"x"]],"c":"it's"}`},
		{"cut", `{"a":"x`, ""},
		{"cut after a value", `{"a":1`, ""},
		{"cut Python", `{'a': 'x`, ""},
		{"two in an array", `[{"a":1},{"b":2}]`, ""},
		{"prose", "call bash with ls", ""},
		{"number", "5", ""},
		{"unquoted keys", `{a: 1}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := RepairArguments(tt.in)
			if string(got) != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("got %s, %v; want %s", got, err, tt.want)
			}
		})
	}
}

func TestRule6_TypesBySchema(t *testing.T) {
	sc := readSchema(json.RawMessage(`{"properties":{"n":{"type":"integer"},"f":{"type":"number"},"b":{"type":"boolean"},"o":{"type":"object"},
		"l":{"type":["array","null"]},"s":{"type":"string"},"any":{},"m":{"type":["string","integer"]}}}`))
	for _, tt := range []struct{ in, want string }{
		{`{"n":"3"}`, `{"n":3}`},
		{`{"n":"3.5"}`, `{"n":"3.5"}`},
		{`{"n":"x"}`, `{"n":"x"}`},
		{`{"f":"2"}`, `{"f":2}`},
		{`{"b":"true"}`, `{"b":true}`},
		{`{"b":"True"}`, `{"b":"True"}`},
		{`{"o":"{\"a\":1}"}`, `{"o":{"a":1}}`},
		{`{"l":"[1]"}`, `{"l":[1]}`},
		{`{"s":"3"}`, `{"s":"3"}`},
		{`{"s":"{}"}`, `{"s":"{}"}`},
		{`{"any":"3"}`, `{"any":"3"}`},
		{`{"m":"3"}`, `{"m":"3"}`},
	} {
		if got, _ := sc.coerce(json.RawMessage(tt.in)); string(got) != tt.want {
			t.Errorf("%s became %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestRule6_BrokenArgumentsNeverRunAndNeverReturn(t *testing.T) {
	x, _, err := answer(t, 200, strings.NewReader(calls(`{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"command\": \"rm -rf /tm"}}`)+finishLine("tool_calls")), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := x.Result.Calls[0]
	if string(c.Arguments) != "{}" || !strings.Contains(c.Problem, "not a JSON object") {
		t.Errorf("call %+v", c)
	}
}

func TestRule7_UnknownNames(t *testing.T) {
	one := func(name string) string {
		return calls(`{"index":0,"id":"a","function":{"name":`+string(quote(name))+`,"arguments":"{}"}}`) + finishLine("tool_calls")
	}
	runRules(t, []rule{
		{name: "prefix", body: one("functions.idle"), calls: "a=idle{}"},
		{name: "trailing token", body: one("idle<|channel|>commentary"), calls: "a=idle{}"},
		{name: "case and dashes", body: one("Read-File"), calls: "a=read_file{}"},
		{name: "space", body: one(" read file "), calls: "a=read_file{}"},
		{name: "unknown", body: one("rm"), calls: "a=rm{}!"},
		{name: "good calls of the turn run", body: calls(`{"index":0,"id":"a","function":{"name":"nope","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"idle","arguments":"{}"}}`) + doneLine, calls: "a=nope{}! b=idle{}"},
		{name: "parallel wrapper", body: calls(`{"index":0,"id":"a","function":{"name":"multi_tool_use.parallel","arguments":"{\"tool_uses\":[{\"recipient_name\":\"functions.idle\",\"parameters\":{}},{\"recipient_name\":\"functions.bash\",\"parameters\":{\"command\":\"x\"}}]}"}}`) + doneLine, calls: `call_1=idle{} call_2=bash{"command":"x"}`},
		{name: "parallel wrapper with an invalid call", body: calls(`{"index":0,"id":"a","function":{"name":"multi_tool_use.parallel","arguments":"{\"tool_uses\":[{\"recipient_name\":\"functions.nope\",\"parameters\":{}}]}"}}`) + doneLine, calls: `a=multi_tool_use.parallel{"tool_uses":[{"recipient_name":"functions.nope","parameters":{}}]}!`},
	})
	t.Run("empty name is dropped with a note", func(t *testing.T) {
		x, _, err := answer(t, 200, strings.NewReader(content("hm")+one("")), nil)
		if err != nil || len(x.Result.Calls) != 0 || len(x.Result.Notes) != 1 {
			t.Errorf("calls %v, notes %v, %v", x.Result.Calls, x.Result.Notes, err)
		}
	})
}
