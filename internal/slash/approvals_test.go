package slash

import (
	"encoding/json"
	"testing"
)

func TestArgumentsShowARedirection(t *testing.T) {
	for raw, want := range map[string]string{
		`{"command": "a \u003c b \u003E c \u0026\u0026 d"}`: `{"command":"a < b > c && d"}`,
		`{"p":"\\u003c","q":"\"\u003c\""}`:                  `{"p":"\\u003c","q":"\"<\""}`,
		`{"e":"\u001b[0m"}`:                                 `{"e":"\u001b[0m"}`,
		`not JSON \`:                                        `not JSON \`,
		``:                                                  ``,
	} {
		if got := Arguments(json.RawMessage(raw)); got != want {
			t.Errorf("Arguments(%s) = %s, want %s", raw, got, want)
		}
	}
}
