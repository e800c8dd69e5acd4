package glob

import (
	"errors"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"docs/**/*.md", "docs/a.md", true},
		{"docs/**/*.md", "docs/x/y/a.md", true},
		{"docs/**/*.md", "src/docs/a.md", false},
		{"*.go", "a/b/c.go", true},
		{"/*.go", "a/c.go", false},
		{"/*.go", "c.go", true},
		{"internal", "internal/x/y.go", true},
		{"internal", "a/internal/x.go", true},
		{"a/b", "a/b/c.go", true},
		{"a/b", "a/bc.go", false},
		{"**", "any/thing", true},
		{"{a,b}/*.go", "b/x.go", true},
		{"{a,b}/*.go", "c/x.go", false},
		{"a/**/b/**/c", "a/x/b/y/z/c", true},
		{"a?c", "abc", true},
		{"a?c", "aéc", true},
		{"a??c", "aéc", false},
		{"*.[!ch]", "a.o", true},
		{"*.[!ch]", "a.h", false},
		{"[[:digit:]]*", "x/1a", true},
		{"src/**", "src", false},
		{"src/", "a/src/b.go", true},
		{"/src/", "a/src/b.go", false},
		{"src*/", "a/src1/b.go", true},
		{"src*/", "src1", false},
		{"/", "a/b", true},
		{"a*/b*c", "ax/bc", true},
		{"a*b*/c", "axbx/c", true},
		{"a*b", "a/b", false},
		{"**/a*/**/c", "b/ab/x/ac/y/c", true},
		{`\*`, "*", true},
		{`\*`, "a", false},
	} {
		g, err := Parse(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Match(c.path); got != c.want {
			t.Errorf("%q matches %q: %v", c.pattern, c.path, got)
		}
	}
	for _, bad := range []string{"", "a/[", "{a,b", "{a,{b}", "a[[:nope:]]", `a\`} {
		if _, err := Parse(bad); !errors.Is(err, ErrGlob) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("docs/**/{a,b}*.md", "docs/x/b1.md")
	f.Add("{{a,b},c}/[x-z]?", "a/y1")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if g, err := Parse(pattern); err == nil {
			g.Match(path)
		} else if !errors.Is(err, ErrGlob) {
			t.Fatal(err)
		}
	})
}

// TestANameFitsAsOfThePathPackage compares with [path.Match], where a class
// cannot be negated with "!".
func TestANameFitsAsOfThePathPackage(t *testing.T) {
	letters := rapid.SampledFrom([]string{"a", "b", ".", "*", "?", "[a-z]", "[^a]", "[é.]", `\*`, "é", "\xff"})
	rapid.Check(t, func(rt *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(letters, 0, 5).Draw(rt, "pattern"), "")
		name := strings.Join(rapid.SliceOfN(letters, 0, 5).Draw(rt, "name"), "")
		want, err := path.Match(pattern, name)
		r := reader{special: `*?[\`}
		if !r.read("x/" + pattern) {
			rt.Fatalf("%q was refused", pattern)
		}
		if got := (Pattern{tokens: r.tokens}).Match("x/" + name); err != nil || got != want {
			rt.Fatalf("%q fits %q: %t, of a path %t, %v", pattern, name, got, want, err)
		}
	})
}

// TestStarsFitAsTheyAreDescribed compares with the plainest implementation.
func TestStarsFitAsTheyAreDescribed(t *testing.T) {
	var fits func(want, have []string) bool
	fits = func(want, have []string) bool {
		switch {
		case len(want) == 0:
			return len(have) == 0
		case want[0] != "**":
			return len(have) > 0 && Text(want[0], have[0]) && fits(want[1:], have[1:])
		case len(want) == 1:
			return len(have) > 0
		}
		return fits(want[1:], have) || len(have) > 0 && fits(want, have[1:])
	}
	part := rapid.SampledFrom([]string{"**", "*", "a", "b", "a*", "*b", "*a*b", "[a]", "a?", "ab", "aab", "", "***"})
	rapid.Check(t, func(rt *rapid.T) {
		pattern := rapid.SliceOfN(part, 1, 6).Draw(rt, "pattern")
		name := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "aab", "[a]", "a?", "ba", ""}), 1, 6).Draw(rt, "name")
		got, want := Stars(strings.Join(pattern, "/")).Match(strings.Join(name, "/")), fits(pattern, name)
		if got != want {
			rt.Fatalf("%q fits %q: %t, want %t", strings.Join(pattern, "/"), strings.Join(name, "/"), got, want)
		}
	})
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true},
		{"a", "ab", false},
		{"*", "", true},
		{"a*", "a/b", true},
		{"a*a", "a", false},
		{"*b*", "abc", true},
		{"a*b*c", "axxbyyc", true},
		{"a*b*c", "acb", false},
		{"", "", true},
		{"", "a", false},
	} {
		if got := Text(c.pattern, c.text); got != c.want {
			t.Errorf("Text(%q, %q) = %v", c.pattern, c.text, got)
		}
	}
}

// TestManyStarsTakeLittleTime would not end in the life of a tester if each
// star multiplied the work.
func TestManyStarsTakeLittleTime(t *testing.T) {
	p, ok := Wildmatch("", strings.Repeat("a*", 40)+strings.Repeat("/**/a*b", 20)+"b")
	if !ok || p.Match(strings.Repeat("a", 2000)+strings.Repeat("/aaaa", 500)) {
		t.Error("it matches")
	}
}
