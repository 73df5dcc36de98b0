package visible

import "testing"

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain text":                "plain text",
		"写一个俳句":                     "写一个俳句",
		"👩‍💻":                       "👩‍💻",
		"two\nlines":                `two\nlines`,
		"bell\a":                    `bell\x07`,
		"\x1b[31mred":               `\x1b[31mred`,
		"\u009b31m":                 `\x9b31m`,
		"safe\u202egnp.exe":         `safe\u{202e}gnp.exe`,
		"a\u200bb\ufeffc":           `a\u{200b}b\u{feff}c`,
		"line\u2028sep":             `line\u{2028}sep`,
		"bad \xff byte":             `bad \xff byte`,
		"tag \U000e0041 letters":    `tag \u{e0041} letters`,
		"over\rwritten":             `over\rwritten`,
		"delete \x7f and null \x00": `delete \x7f and null \x00`,
	} {
		if got := Line(in); got != want {
			t.Errorf("Line(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestBlockKeepsLines(t *testing.T) {
	if got, want := Block("a\r\n\tb\x1b[2J\rc\n"), "a\n\tb\\x1b[2J\\rc\n"; got != want {
		t.Errorf("Block = %q, want %q", got, want)
	}
}

func TestClipCountsCodePoints(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"任务看板", 3, "任务…"}, {"", 3, ""}} {
		if got := Clip(c.in, c.n); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a\x1b\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		line := Line(s)
		if Line(line) != line {
			t.Errorf("Line is not stable: %q -> %q -> %q", s, line, Line(line))
		}
		for _, r := range line {
			if steers(r) {
				t.Errorf("Line(%q) still holds %U", s, r)
			}
		}
	})
}
