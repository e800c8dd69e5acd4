package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAWriteIsUndoneWhereALinkLedItElsewhere: what a file tool wrote is looked for
// where it really is; where that may not be written, it is put back and told in
// that very hook.
func TestAWriteIsUndoneWhereALinkLedItElsewhere(t *testing.T) {
	const was, attack = "package src\n", "package src // attack\n"
	swap := func(t *testing.T, root string) {
		t.Helper()
		if err := os.Rename(filepath.Join(root, "tests/sub"), filepath.Join(root, "tests/old")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../src", filepath.Join(root, "tests/sub")); err != nil {
			t.Fatal(err)
		}
	}
	back := func(t *testing.T, root string) {
		t.Helper()
		if err := os.Remove(filepath.Join(root, "tests/sub")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(root, "tests/old"), filepath.Join(root, "tests/sub")); err != nil {
			t.Fatal(err)
		}
	}
	replace := func(t *testing.T, root string) {
		t.Helper()
		back(t, root)
		put(t, filepath.Join(root, "tests/sub/main.go"), attack)
	}
	second := func(t *testing.T, root string) {
		t.Helper()
		if err := os.Remove(filepath.Join(root, "tests/sub/main.go")); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(filepath.Join(root, "src/main.go"), filepath.Join(root, "tests/sub/main.go")); err != nil {
			t.Fatal(err)
		}
	}
	whole := map[string]any{"content": attack}
	for name, c := range map[string]struct {
		tool        string
		input       map[string]any
		response    map[string]any
		git, gone   bool
		after       func(t *testing.T, root string) // between the write and the hook after it
		before      func(t *testing.T, root string) // in place of the link
		late        bool                            // the link is put in the way when the write is over
		want, undid string
	}{
		"of git":             {tool: "Write", input: whole, git: true, want: was, undid: "is as it was"},
		"as the host says":   {tool: "Write", input: whole, response: map[string]any{"type": "update", "originalFile": "package src // the user's\n"}, want: "package src // the user's\n", undid: "is as it was"},
		"a file that is new": {tool: "Write", input: whole, gone: true, undid: "is as it was"},
		"an edit":            {tool: "Edit", input: map[string]any{"old_string": "\n", "new_string": " // attack\n"}, want: was, undid: "is as it was"},
		"and the link back":  {tool: "Write", input: whole, git: true, after: back, want: was, undid: "is as it was"},
		"and a copy there":   {tool: "Write", input: whole, git: true, after: replace, want: was, undid: "is as it was"},
		"a second name":      {tool: "Write", input: whole, git: true, before: second, want: was, undid: "is as it was"},
		"a link afterwards":  {tool: "Write", input: whole, late: true, want: was},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, t.TempDir(), newProject(t, "mode: work\n"))
			w.prompt("hello")
			w.wrote("plan.md", goodPlan)
			w.prompt("approved")
			put(t, filepath.Join(w.project, "tests/sub/main_test.go"), was)
			target := "tests/sub/main.go"
			landed := filepath.Join(w.project, "src/main.go")
			put(t, filepath.Join(w.project, target), was)
			put(t, landed, was)
			if c.git {
				w.git("init", "-q")
				w.git("add", ".")
				w.git("commit", "-qm", "one")
			}
			if c.gone {
				if err := os.Remove(landed); err != nil {
					t.Fatal(err)
				}
			}
			old := time.Now().Add(-time.Hour)
			_ = os.Chtimes(landed, old, old)
			c.input["file_path"] = filepath.Join(w.project, target)
			payload := map[string]any{"tool_name": c.tool, "tool_use_id": "t1", "tool_input": c.input}
			if reply := w.send("PreToolUse", payload); reply.Exit != 0 {
				t.Fatalf("%+v", reply)
			}
			switch {
			case c.before != nil:
				c.before(t, w.project)
			case !c.late:
				swap(t, w.project)
			}
			put(t, filepath.Join(w.project, target), attack)
			if c.late {
				swap(t, w.project)
			}
			if c.after != nil {
				c.after(t, w.project)
			}
			payload["tool_response"] = c.response
			reply := w.send("PostToolUse", payload)
			content, _ := os.ReadFile(landed)
			if string(content) != c.want || !strings.Contains(reply.Stdout, c.undid) || c.undid == "" && strings.Contains(reply.Stdout, "src/main.go") {
				t.Errorf("src/main.go holds %q, want %q; told %s", content, c.want, reply.Stdout)
			}
			recorded := false
			for _, e := range w.history("s1") {
				recorded = recorded || string(e.Type) == "write.unapproved"
			}
			if recorded != (c.undid != "") {
				t.Errorf("recorded: %v", recorded)
			}
		})
	}
}

// TestAPathIsJudgedAsTextToo: a path is judged as it is written and as its links
// lead, and dots behind a link in both ways.
func TestAPathIsJudgedAsTextToo(t *testing.T) {
	w := start(t, t.TempDir(), newProject(t, "mode: work\n"))
	w.prompt("hello")
	w.wrote("plan.md", goodPlan)
	w.prompt("approved")
	put(t, filepath.Join(w.project, "tests/deep/a_test.go"), "package deep\n")
	put(t, filepath.Join(w.project, "src/main.go"), "package src\n")
	for link, to := range map[string]string{"src/link": "../tests/deep", "src/tests": "../../elsewhere/tests", "out.go": filepath.Join(t.TempDir(), "out.go")} {
		if err := os.Symlink(to, filepath.Join(w.project, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, allowed := range map[string]bool{
		"tests/deep/b_test.go":      true,
		"src/link/../main_test.go":  true,  // a test either way
		"src/link/../main.go":       false, // tests/main.go, or src/main.go
		"src/link/../../src/x.go":   false,
		"out.go":                    false, // a link that a program may replace
		"tests/../src/main.go":      false,
		"src/../tests/deep/c.go":    true,
		"src/link/../../tests/d.go": true,
	} {
		reply := w.send("PreToolUse", map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": w.project + "/" + path, "content": "x"}})
		if got := reply.Exit == 0 && !strings.Contains(reply.Stdout, `"ask"`); got != allowed {
			t.Errorf("%s: allowed %v: %s", path, got, reply.Stdout)
		}
	}
}
