package search

import (
	"errors"
	"testing"
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
