package gateway

import (
	"context"
	"testing"

	"github.com/autonomy-team/autonomy/agent/action"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/internal/redact"
)

// What the gateway adds to one call of a tool that does nothing: assessment, admission, redaction of a page of output.
func BenchmarkGateway(b *testing.B) {
	page := "func main() { fmt.Println(\"hello, world\") } // token key secret\n"
	for len(page) < 4<<10 {
		page += page
	}
	r := reader()
	r.call = func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Content: page}, nil }
	registry, err := tool.New(r)
	if err != nil {
		b.Fatal(err)
	}
	g, err := New(Config{
		Registry: registry, Policy: Modes(ModeAuto, false), Redact: redact.New("a-known-secret").String,
		Env: tool.Env{Workspace: b.TempDir()},
	})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		a := g.Assess(act("reader", `{"text":"what to read"}`))
		adm, err := g.Admit(b.Context(), a)
		if err != nil {
			b.Fatal(err)
		}
		if o, err := g.Execute(b.Context(), a, adm); err != nil || o.Status != action.OK {
			b.Fatal(o, err)
		}
	}
}
