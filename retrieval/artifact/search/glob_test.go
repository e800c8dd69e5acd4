package search

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
	} {
		g, err := ParseGlob(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Match(c.path); got != c.want {
			t.Errorf("%q matches %q: %v", c.pattern, c.path, got)
		}
	}
	for _, bad := range []string{"", "a/[", "{a,b", "{a,{b}"} {
		if _, err := ParseGlob(bad); !errors.Is(err, ErrGlob) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("docs/**/{a,b}*.md", "docs/x/b1.md")
	f.Add("{{a,b},c}/[x-z]?", "a/y1")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if g, err := ParseGlob(pattern); err == nil {
			g.Match(path)
		} else if !errors.Is(err, ErrGlob) {
			t.Fatal(err)
		}
	})
}

// Patterns that are looked at by themselves fit what those of the path package
// do.
func TestAPartFitsAsOfAPath(t *testing.T) {
	letters := rapid.SampledFrom([]string{"a", ".", "*", "?", "[", "]", "-", `\`, "é", "\xff"})
	rapid.Check(t, func(rt *rapid.T) {
		pattern := rapid.SampledFrom([]string{"*", ""}).Draw(rt, "begins") + strings.Join(rapid.SliceOfN(letters, 0, 4).Draw(rt, "pattern"), "")
		name := strings.Join(rapid.SliceOfN(letters, 0, 5).Draw(rt, "name"), "")
		want, err := path.Match(pattern, name)
		if got := matchPart(pattern, name); err == nil && got != want {
			rt.Fatalf("%q fits %q: %t, of a path %t", pattern, name, got, want)
		}
	})
}
