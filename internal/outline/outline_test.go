package outline

import (
	"fmt"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	o := New()
	for _, c := range []struct{ ext, text, want string }{
		{".go", "package a\nimport \"x\"\ntype (\n\tA int\n\tB struct{}\n)\nvar X, Y = 1, 2\nfunc (a A) M() {}\n", "1 package a|4 type A|5 type B|7 var X|7 var Y|8 func (a A) M()"},
		{".go", "package a\nfunc F() {\nfunc G(\n", "1 package a|2 func F()"},
		{".go", "not go at all\nfunc F() {}\n", "2 func F() {}"},
		{".py", "x = 1\nasync def f():\n    class C(B):\n", "2 async def f()|3     class C(B)"},
		{".ts", "export const f = (a) => a\nexport default class A {\nlet x\n  interface I {\n", "1 export const f = (a) => a|2 export default class A|4   interface I"},
		{".rs", "pub(crate) async fn f() {\nimpl T for U {\nlet x;\n", "1 pub(crate) async fn f()|2 impl T for U"},
		{".java", "public final class A {\n  int x;\n}\n", "1 public final class A"},
		{".c", "int main(int argc)\n{\n  call(x);\n}\nstruct s {\n", "1 int main(int argc)|5 struct s"},
		{".sh", "f() {\n  x\n}\n", "1 f()"},
		{".md", "# A\n#no\n### B\r\n", "1 # A|3 ### B"},
		{".unknown", "class A\n", ""},
		{".py", "", ""},
	} {
		var got []string
		for _, e := range o.Of(c.ext, []byte(c.text)) {
			got = append(got, fmt.Sprintf("%d %s", e.Line, e.Text))
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s %q: got %q, want %q", c.ext, c.text, strings.Join(got, "|"), c.want)
		}
	}
	if !o.Knows(".go") || o.Knows(".bin") {
		t.Error("Knows is wrong")
	}
}

func FuzzOf(f *testing.F) {
	f.Add(".go", []byte("package a\nfunc (((\n"))
	f.Add(".ts", []byte("class\x00"))
	o := New()
	f.Fuzz(func(_ *testing.T, ext string, data []byte) { o.Of(ext, data) })
}
