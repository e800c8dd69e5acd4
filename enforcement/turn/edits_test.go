package turn

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/schemas"
)

// lines are lines of code that differ from each other, from one number on.
func lines(from, count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "x%d = %d\n", from+i, from+i)
	}
	return b.String()
}

// TestEditsAreCountedFromThePrompt: each file by the lines in which it differs from
// what it held when the user asked, however many writes that takes.
func TestEditsAreCountedFromThePrompt(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	put := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(at(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var c contents
	counted := enforcement.Small{}
	edits := func(writes ...host.Write) (map[string]enforcement.Edit, []schemas.Target) {
		var targets []schemas.Target
		for i, w := range writes {
			writes[i].Path = at(w.Path)
			class := enforcement.ClassCode
			if strings.HasPrefix(w.Path, "test_") {
				class = enforcement.ClassTest
			}
			targets = append(targets, schemas.Target{Path: at(w.Path), Rel: w.Path, Class: class})
		}
		found := c.edits(turn{Call: host.Call{Session: "s", Writes: writes}}, targets, counted)
		for rel, e := range found { // the user says yes to each
			counted[rel] = e.All
		}
		return found, targets
	}
	whole := func(name, content string) host.Write { return host.Write{Path: name, Content: &content} }
	replaced := func(name, old, text string) host.Write {
		return host.Write{Path: name, Edits: []host.Edit{{Old: old, New: text}}}
	}
	want := func(what string, e enforcement.Edit, lines, all int) {
		t.Helper()
		if e.Lines != lines || e.All != all {
			t.Errorf("%s: %d lines, %d in all, want %d and %d", what, e.Lines, e.All, lines, all)
		}
	}

	put("a.py", lines(0, 50))
	found, targets := edits(whole("a.py", lines(100, 5)+lines(5, 45)))
	want("five lines", found["a.py"], 5, 5)
	if targets[0].Lines != 5 {
		t.Errorf("the target has %d lines", targets[0].Lines)
	}
	put("a.py", lines(100, 5)+lines(5, 45))
	found, _ = edits(whole("a.py", lines(200, 5)+lines(5, 45)))
	want("the same five again", found["a.py"], 5, 5)
	put("a.py", lines(200, 5)+lines(5, 45))
	found, _ = edits(whole("a.py", lines(0, 50)))
	want("as it was", found["a.py"], 5, 0)

	found, _ = edits(whole("new.py", lines(0, 12)))
	want("a new file", found["new.py"], 12, 12)
	put("gone.py", lines(0, 9))
	found, _ = edits(host.Write{Path: "gone.py", Opaque: true, Gone: true})
	want("a file that is deleted", found["gone.py"], 9, 9)

	put("b.py", lines(0, 3))
	found, _ = edits(replaced("b.py", "x0 = 0\n", "x0 = 1\n"), replaced("b.py", "x1 = 1\n", "x1 = 2\n"), whole("test_b.py", lines(0, 60)))
	want("two writes of one call", found["b.py"], 2, 2)
	if len(found) != 1 {
		t.Errorf("tests are counted: %v", found)
	}
	put("c.py", lines(0, 3))
	for what, moved := range map[string][]host.Write{
		"moved":               {{Path: "c.py", Opaque: true}, {Path: "d.py", Opaque: true}},
		"moved, then edited":  {{Path: "c.py", Opaque: true}, replaced("c.py", "x0 = 0\n", "x0 = 1\n")},
		"edited, then moved":  {replaced("c.py", "x0 = 0\n", "x0 = 1\n"), {Path: "c.py", Opaque: true}},
		"of another content":  {replaced("c.py", "y0 = 0\n", "x0 = 1\n")},
		"deleted, not there":  {{Path: "d.py", Opaque: true, Gone: true}},
		"edited, not as told": {replaced("c.py", "x0 = 0\n", "x0 = 1\n"), replaced("c.py", "x0 = 0\n", "x0 = 2\n")},
	} {
		if found, _ := edits(moved...); len(found) != 0 {
			t.Errorf("%s: it cannot be told, and is counted: %v", what, found)
		}
	}

	// Without what it held at the prompt, what was counted stays.
	c = contents{}
	counted = enforcement.Small{"b.py": 7}
	found, _ = edits(replaced("b.py", "x0 = 0\n", "x0 = 1\n"))
	want("after a restart", found["b.py"], 1, 8)
}
