package dialect

import (
	"math"
	"testing"
)

func TestCutLines(t *testing.T) {
	for _, c := range []struct {
		in, name string
		lines    Lines
	}{
		{"a.txt", "a.txt", Lines{}},
		{"a.txt:7", "a.txt", Lines{7, 7}},
		{"a b.txt:10-20", "a b.txt", Lines{10, 20}},
		{"a.txt:10-", "a.txt", Lines{From: 10}},
		{"#3:2-4", "#3", Lines{2, 4}},
		{"a:1:2", "a:1", Lines{2, 2}},
		{"a.txt:0", "a.txt:0", Lines{}},
		{"a.txt:9-3", "a.txt", Lines{9, 3}},
		{"a.txt:99999999999999999999", "a.txt", Lines{math.MaxInt32, math.MaxInt32}},
		{"a.txt:", "a.txt:", Lines{}},
		{"a.txt:-3", "a.txt:-3", Lines{}},
		{"a.txt:+3", "a.txt:+3", Lines{}},
		{"a.txt:1-2-3", "a.txt:1-2-3", Lines{}},
		{"C:x", "C:x", Lines{}},
	} {
		if name, lines := CutLines(c.in); name != c.name || lines != c.lines {
			t.Errorf("%q: %q, %v", c.in, name, lines)
		}
	}
}

// TestLinesAreNoPartOfAPath has scopes that name one file.
func TestLinesAreNoPartOfAPath(t *testing.T) {
	g := NewGrant([]string{"/read path=docs/a.txt", "/write path=docs/a.txt"})
	for command, want := range map[string]Verdict{
		"docs/a.txt:3-9": Allow, "docs/a.txt": Allow, "docs/b.txt:3": Deny, "docs/a.txt:x": Deny, "docs/a.txt:1:2": Deny,
	} {
		if d := g.Check(Request{Verb: "read", Args: command, Workspace: "/w"}); d.Verdict != want {
			t.Errorf("/read %s: %v", command, d)
		}
	}
	if d := g.Check(Request{Verb: "write", Args: "docs/a.txt:3", Workspace: "/w"}); d.Verdict != Deny {
		t.Errorf("/write knows no lines: %v", d)
	}
}
