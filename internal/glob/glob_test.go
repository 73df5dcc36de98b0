package glob

import "testing"

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"*.go", "a.go", true},
		{"*.go", "x/y/a.go", true},
		{"*.go", "a.gox", false},
		{"/a.go", "a.go", true},
		{"/a.go", "x/a.go", false},
		{"x/*.go", "x/a.go", true},
		{"x/*.go", "x/y/a.go", false},
		{"x/**/*.go", "x/a.go", true},
		{"x/**/*.go", "x/y/z/a.go", true},
		{"./x/a", "x/a", true},
		{"x/../y/a", "y/a", true},
		{"x/", "x/y/a", true},
		{"*.{md,txt}", "a.txt", true},
		{"[a-c].go", "b.go", true},
		{"*.GO", "a.go", false},
		{"**", "x/y", true},
	} {
		p, err := Parse(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		if got := p.Match(c.path); got != c.want {
			t.Errorf("%s matches %s: %v", c.pattern, c.path, got)
		}
	}
	for _, bad := range []string{"", " ", "[a", "{a"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"*.go", "{a,b", "[^x]", "**/**", "a/../../b"} {
		f.Add(seed, "x/y.go")
	}
	f.Fuzz(func(_ *testing.T, pattern, path string) {
		if p, err := Parse(pattern); err == nil {
			p.Match(path)
		}
	})
}
