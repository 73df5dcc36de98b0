package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const canary = `pa55 w"ord/+&äcanary`

func TestKnownValuesInEveryForm(t *testing.T) {
	r := New(canary, "short", "")
	quoted, _ := json.Marshal(canary)
	for name, text := range map[string]string{
		"plain": canary, "query": url.QueryEscape(canary), "path": url.PathEscape(canary), "json": string(quoted),
		"hex": hex.EncodeToString([]byte(canary)), "base64": base64.StdEncoding.EncodeToString([]byte(canary)),
		"base64 in more": base64.StdEncoding.EncodeToString([]byte("user:" + canary + " and more")),
		"base64 shifted": base64.URLEncoding.EncodeToString([]byte("u:" + canary)),
	} {
		got := r.String("before " + text + " after")
		if !strings.Contains(got, Mark) || strings.Contains(got, text) {
			t.Errorf("%s: got %q", name, got)
		}
	}
	if got := r.String("short"); got != "short" {
		t.Errorf("a value too short to be a secret was masked: %q", got)
	}
}

func TestShapes(t *testing.T) {
	r := New()
	for _, secret := range []string{
		"sk-proj-abcdefghijklmnop1234", "ghp_abcdefghijklmnopqrst1234", "github_pat_11ABCDEFG0123456789_x", "AKIAIOSFODNN7EXAMPLE",
		"xoxb-1234567890-abcdef", "AIzaSyA1234567890abcdefghijklmnopqrstuv", "nvapi-abcdefghijklmnopqrst",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk",
	} {
		if got := r.String("x " + secret + " y"); got != "x "+Mark+" y" {
			t.Errorf("%q: got %q", secret, got)
		}
	}
	for text, want := range map[string]string{
		"Authorization: Bearer abcdefghijklmnopqrst": "Authorization: Bearer " + Mark,
		"authorization: basic dXNlcjpwYXNz":          "authorization: basic " + Mark,
		"https://user:hunter22@example.com/x":        "https://" + Mark + "example.com/x",
		"postgres://u:p4ss@db/x":                     "postgres://" + Mark + "db/x",
		"Set-Cookie: session=abcdef; Path=/":         "Set-Cookie: " + Mark,
		"export OPENAI_API_KEY=abc123def":            "export OPENAI_API_KEY=" + Mark,
		`DB_PASSWORD="abc 123"`:                      `DB_PASSWORD="abc 123"`, // under six characters before the blank
		`{"api_key": "abc123def"}`:                   `{"api_key": "` + Mark + `"}`,
		"GET /x?a=1&access_token=abc123def&b=2":      "GET /x?a=1&access_token=" + Mark + "&b=2",
	} {
		if got := r.String(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	pem := "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----"
	if got := r.String("a\n" + pem + "\nb"); got != "a\n"+Mark+"\nb" {
		t.Errorf("PEM: got %q", got)
	}
}

func TestOrdinaryTextStays(t *testing.T) {
	r := New()
	for _, text := range []string{
		"Basic configuration of the tokenizer", "key := os.Getenv(name)", "token = next(tokens)", "a task-skills folder",
		"API_KEY=$OTHER_VARIABLE", "see https://example.com/a:b@c", "keys are sorted: secret of the sort", "password: string",
		"if apiKey == \"\" { return errMissing }", "The cookie monster: eats", "ASIA and AKIA", "mailto:someone@example.com",
	} {
		if got := r.String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	var none *Redactor
	if none.String("sk-abcdefghijklmnopqrst") != "sk-abcdefghijklmnopqrst" {
		t.Error("a nil redactor changed text")
	}
}

func TestJSONStaysJSON(t *testing.T) {
	r := New(canary)
	in, _ := json.Marshal(map[string]any{
		"command": "echo '" + canary + "' && A_TOKEN=abcdef123\"", "n": 1, "list": []any{canary, true, nil}, canary: 2,
		"env": map[string]any{"MY_SECRET": "correct horse"},
	})
	got, found := JSON(in, r.String)
	if !found || !json.Valid(got) || strings.Contains(string(got), "canary") || strings.Contains(string(got), "abcdef123") {
		t.Errorf("found %v: %s", found, got)
	}
	plain := json.RawMessage(`{"b": 1.50, "a": "x"}`)
	if got, found := JSON(plain, r.String); found || string(got) != string(plain) {
		t.Errorf("found %v: %s", found, got)
	}
	if got, found := JSON(json.RawMessage("{"+canary), r.String); !found || !json.Valid(got) {
		t.Errorf("no JSON: found %v: %s", found, got)
	}
}

func TestJSONLeavesTheRestAsItIs(t *testing.T) {
	r := New(canary)
	in := `{"z": 1.50, "a\u0062":"<&>", "out":"a\nsk-abcdefghijklmnopqrst", "API_KEY" : "correct horse",  "x":["\"MY_TOKEN\": \"abcdefghij\""]}`
	want := `{"z": 1.50, "a\u0062":"<&>", "out":"a\n` + Mark + `", "API_KEY" : "` + Mark + `",  "x":["\"MY_TOKEN\": \"` + Mark + `\""]}`
	if got, found := JSON(json.RawMessage(in), r.String); !found || string(got) != want {
		t.Errorf("found %v:\n%s, want\n%s", found, got, want)
	}
	hidden := `{"out":"token in a line\nMY_TOKEN=\u0061bcdefghij"}`
	if got, found := JSON(json.RawMessage(hidden), r.String); !found || strings.Contains(string(got), "bcdefghij") {
		t.Errorf("found %v: %s", found, got)
	}
}

func BenchmarkJSONOfAnEvent(b *testing.B) {
	r := New(canary, "another-secret-value-here", "and-a-third-one-that-is-longer")
	event := json.RawMessage(`{"run_id":"01M8Q42MZ2FVJP0ECQFJB6T8ZY","turn":3,"type":"observation","data":{"call":"call_1",` +
		`"tool":"bash","status":"ok","exit":0,"output":"` + strings.Repeat(`a line of output that says little\n`, 10) + `"}}`)
	for b.Loop() {
		JSON(event, r.String)
	}
}

type sink struct{ strings.Builder }

func (*sink) Close() error { return nil }

func TestWriterMasksAcrossWrites(t *testing.T) {
	r := New("correct-horse-battery")
	pem := "-----BEGIN PRIVATE KEY-----\nMIIEcorrect\nabcdefg\n-----END PRIVATE KEY-----\n"
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"correct-horse-battery", "sk-abcdefghijklmnop123", "plain words ", "\n", pem, strings.Repeat("x", 9000) + " ", "ä",
		})).Draw(t, "text"), "")
		var out sink
		w := r.Writer(&out)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if _, err := io.WriteString(w, rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if strings.Contains(got, "horse") || strings.Contains(got, "MIIE") || strings.Contains(got, "sk-abc") {
			t.Fatalf("leaked: %.200q", got)
		}
		if want := r.String(text); len(text) < maxHeld && got != want {
			t.Fatalf("got %.300q, want %.300q", got, want)
		}
	})
}
