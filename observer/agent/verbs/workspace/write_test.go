package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
)

func TestWrite(t *testing.T) {
	b := newBench(t, map[string]string{"old.sh": "old\n"})
	if err := os.Chmod(filepath.Join(b.dir, "old.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.gate.more = "mind the rule"
	for _, c := range []struct{ args, body, name, want string }{
		{"a.txt", "one\ntwo", "a.txt", "OK: wrote a.txt (7 bytes, 2 lines; new)\n\nmind the rule"},
		{"deep/er/b c.txt", "", "deep/er/b c.txt", "OK: wrote deep/er/b c.txt (0 bytes, 0 lines; new)\n\nmind the rule"},
		{"old.sh", "new\r\n", "old.sh", "OK: wrote old.sh (5 bytes, 1 lines; it had 4 bytes)\n\nmind the rule"},
		{"./x/../y", "y", "y", "OK: wrote y (1 bytes, 1 lines; new)\n\nmind the rule"},
		{filepath.Join(b.dir, "abs"), "z", "abs", "OK: wrote abs (1 bytes, 1 lines; new)\n\nmind the rule"},
		{".gitignore", "x", ".gitignore", "OK: wrote .gitignore (1 bytes, 1 lines; new)\n\nmind the rule"},
	} {
		r := b.call("write", c.args, []byte(c.body))
		if r.Text != c.want || b.get(c.name) != c.body || len(r.Keep) != 0 {
			t.Errorf("/write %s: %q", c.args, r.Text)
		}
		last := b.gate.asked[len(b.gate.asked)-1]
		if last.Path != filepath.Join(b.dir, c.name) || string(last.Content) != c.body {
			t.Errorf("the gate was asked about %s, %q", last.Path, last.Content)
		}
	}
	if info, err := os.Stat(filepath.Join(b.dir, "old.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the mode is %v", info.Mode())
	}
	if r := b.call("write", "--persist \t kept.md", []byte("# K\n")); len(r.Keep) != 1 || r.Keep[0].Name != "kept.md" || string(r.Keep[0].Data) != "# K\n" || b.get("kept.md") != "# K\n" {
		t.Errorf("%+v", r)
	}
	if len(b.gate.reports) != 7 || b.gate.reports[0].Failed {
		t.Errorf("%+v", b.gate.reports)
	}
	b.noTemporaries()
}

func (b *bench) noTemporaries() {
	b.t.Helper()
	err := filepath.WalkDir(b.dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), ".writ-") {
			b.t.Errorf("%s was left", path)
		}
		return err
	})
	if err != nil {
		b.t.Error(err)
	}
}

func TestWriteRefuses(t *testing.T) {
	b := newBench(t, map[string]string{"file": "x", ".git/config": "[core]\n", "dir/x": "x"})
	b.confirm = true // whatever a person says
	for name, want := range map[string]string{
		".git/config": "is in a .git folder", ".GIT/hooks/pre-commit": "is in a .git folder", "sub/.git/x": "is in a .git folder", ".git": "is in a .git folder",
		"GIT~1/config": "is in a .git folder", ".git /config": "is in a .git folder", ".git./config": "is in a .git folder", ".g\u200cit/config": "is in a .git folder",
		".git::$INDEX_ALLOCATION/config": "is in a .git folder",
		"dir":                            "is a folder", ".": "is a folder", "dir/": "is a folder", "file/x": "file is no folder", "..": "outside", "../x": "outside", "/etc/x": "outside", "a\\b": "backslash",
		"": "there is no path", "a\nb": "control character", "--persist": "", "--persist ": "",
	} {
		r := b.call("write", name, []byte("new"))
		if strings.HasPrefix(name, "--persist") {
			continue // a file may have this name
		}
		if !strings.HasPrefix(r.Text, "ERR: ") || !strings.Contains(r.Text, want) {
			t.Errorf("/write %q: %q", name, r.Text)
		}
	}
	if b.get(".git/config") != "[core]\n" || b.get("file") != "x" {
		t.Error("something was written")
	}
	if r := b.call("write", "a", nil); !strings.HasPrefix(r.Text, "ERR: /write has no content") {
		t.Errorf("%q", r.Text)
	}
}

func TestWriteAsksBeforeSettings(t *testing.T) {
	b := newBench(t, nil)
	for _, name := range []string{
		".claude/settings.json", ".Claude/commands/x.md", "sub/.cursor/rules", ".codex/config.toml", ".vscode/tasks.json", ".husky/pre-commit", ".mcp.json",
		".envrc", ".pre-commit-config.yaml", ".github/hooks/x", "opencode.json", ".gitmodules", ".writ/config.yaml",
	} {
		b.confirm = false
		if r := b.call("write", name, []byte("x")); r.Outcome != verbs.Asks || !strings.HasPrefix(r.Text, "WARN: "+name+" is a setting of agents") || len(b.gate.asked) != 0 {
			t.Errorf("/write %s: %q", name, r.Text)
		}
		b.confirm = true
		if r := b.call("write", name, []byte("x")); r.Outcome != verbs.Done || b.get(name) != "x" {
			t.Errorf("/write %s, confirmed: %q", name, r.Text)
		}
		b.gate.asked = nil
	}
	b.confirm = false
	for _, name := range []string{"vscode/x", ".envrc.example", "claude.md", ".github/workflows/x.yml", ".mcp.json/x"} {
		if r := b.call("write", name, []byte("x")); name != ".mcp.json/x" && r.Outcome != verbs.Done {
			t.Errorf("/write %s: %q", name, r.Text)
		}
	}
}

func TestWriteAsksBeforeConstitutions(t *testing.T) {
	b := newBench(t, map[string]string{"agents/me.json": "{}", "other/me.json": "{}"})
	b.constitution = filepath.Join(b.dir, "agents", "me.json")
	for name, want := range map[string]verbs.Outcome{
		"agents/me.json": verbs.Asks, "agents/new.json": verbs.Asks, "agents/Me.JSON": verbs.Asks, "agents/x.md": verbs.Done, "other/me.json": verbs.Done, "agents/sub/x.json": verbs.Done,
	} {
		if r := b.call("write", name, []byte("{}")); r.Outcome != want {
			t.Errorf("/write %s: %q", name, r.Text)
		}
	}
}

func TestWriteStaysInside(t *testing.T) {
	b := newBench(t, map[string]string{"in/x": "x", "target": "untouched\n"})
	b.link(b.outside, "out")
	b.link("../outside/secret", "secret")
	b.link("../outside/new", "dangling")
	b.link("in", "inlink")
	b.link("target", "filelink")
	b.link(".git", "gitlink")
	b.put(filepath.Join(b.dir, ".git/config"), "")
	for _, name := range []string{"out/secret", "out/new", "secret", "dangling", "inlink/x", "inlink/new", "filelink", "gitlink/config", "out/deep/er"} {
		r := b.call("write", name, []byte("changed"))
		if !strings.HasPrefix(r.Text, "ERR: ") || !strings.Contains(r.Text, "is a link. Adapt: write to what it leads to.") {
			t.Errorf("/write %s: %q", name, r.Text)
		}
	}
	raw, err := os.ReadFile(filepath.Join(b.outside, "secret"))
	entries, _ := os.ReadDir(b.outside)
	if err != nil || string(raw) != "the secret\n" || len(entries) != 1 || b.get("target") != "untouched\n" || b.get("in/x") != "x" {
		t.Errorf("something changed: %q, %v", raw, entries)
	}
	for _, r := range b.gate.reports {
		if !r.Failed {
			t.Error("the gate was told that it was written")
		}
	}
}

// TestWriteStaysInsideWhileLinksAreLaid has somebody who swaps a folder and a
// link that leads out, as fast as it goes.
func TestWriteStaysInsideWhileLinksAreLaid(t *testing.T) {
	b := newBench(t, map[string]string{"real/x": "x"})
	at := filepath.Join(b.dir, "dir")
	stop := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Mkdir(at, 0o755)
			os.RemoveAll(at)
			os.Symlink(b.outside, at)
			os.Remove(at)
		}
	})
	for range 100 {
		b.call("write", "dir/secret", []byte("changed"))
		b.call("write", "dir/new/deep", []byte("changed"))
	}
	close(stop)
	wait.Wait()
	entries, _ := os.ReadDir(b.outside)
	raw, _ := os.ReadFile(filepath.Join(b.outside, "secret"))
	if len(entries) != 1 || string(raw) != "the secret\n" {
		t.Errorf("it got out: %v, %q", entries, raw)
	}
}

// TestWriteIsAtomic has readers who see the old content or the new one.
func TestWriteIsAtomic(t *testing.T) {
	b := newBench(t, map[string]string{"f": strings.Repeat("0", 100_000)})
	stop := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			raw, err := os.ReadFile(filepath.Join(b.dir, "f"))
			if err != nil || len(raw) != 100_000 || strings.Trim(string(raw), string(raw[:1])) != "" {
				t.Errorf("a reader saw %d bytes, %v", len(raw), err)
				return
			}
		}
	})
	for i := range 20 {
		content := strings.Repeat(fmt.Sprint(i%10), 100_000)
		if r := b.call("write", "f", []byte(content)); r.Outcome != verbs.Done || b.get("f") != content {
			t.Fatalf("%q", r.Text)
		}
	}
	close(stop)
	wait.Wait()
	b.noTemporaries()
}

// TestAFailedWriteLeavesNothing has a folder that nothing can be made in.
func TestAFailedWriteLeavesNothing(t *testing.T) {
	b := newBench(t, map[string]string{"f": "old"})
	long := "made/" + strings.Repeat("x", 250) // fits a name, but not with the temporary one's rename
	if r := b.call("write", long+strings.Repeat("y", 10), []byte("new")); !strings.HasPrefix(r.Text, "ERR: ") {
		t.Errorf("%q", r.Text)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "made")); !os.IsNotExist(err) {
		t.Errorf("a folder was left: %v", err)
	}
	if len(b.gate.reports) != 1 || !b.gate.reports[0].Failed || b.gate.reports[0].Error == "" {
		t.Errorf("the gate was told %+v", b.gate.reports)
	}
	b.noTemporaries()
}

func TestGate(t *testing.T) {
	b := newBench(t, nil)
	for verdict, want := range map[dialect.Verdict]verbs.Outcome{dialect.Deny: verbs.Failed, dialect.Ask: verbs.Asks} {
		b.gate.decision = func(verbs.Call, Act) Decision {
			return Decision{Verdict: verdict, Reason: "ENF-GATE-PLAN: write the plan first.\nThen ask."}
		}
		for verb, args := range map[string]string{"write": "a", "exec": "touch a"} {
			r := b.call(verb, args, []byte("x"))
			if r.Outcome != want || !strings.Contains(r.Text, "ENF-GATE-PLAN: write the plan first. Then ask") {
				t.Errorf("/%s, %s: %q %q", verb, verdict, r.Outcome, r.Text)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(b.dir, "a")); err == nil || len(b.gate.reports) != 0 {
		t.Error("it happened all the same")
	}
	b.confirm = true
	b.gate.decision = func(verbs.Call, Act) Decision {
		return Decision{Verdict: dialect.Ask, Reason: "sure?", Ticket: "t", Context: "context"}
	}
	if r := b.call("write", "a", []byte("x")); r.Outcome != verbs.Done || b.get("a") != "x" || !strings.Contains(r.Text, "context") {
		t.Errorf("confirmed: %q", r.Text)
	}
}

func TestPrivate(t *testing.T) {
	b := newBench(t, map[string]string{"data/creds": "secret"})
	b.options.Private = []string{filepath.Join(b.dir, "data")}
	b.handlers = Handlers(b.options)
	b.confirm = true
	b.link("data", "alias")
	for verb, args := range map[string]string{"read": "data/creds", "write": "data/creds", "map": "data"} {
		for _, args := range []string{args, strings.Replace(args, "data", "alias", 1)} {
			if r := b.call(verb, args, []byte("x")); !strings.HasPrefix(r.Text, "ERR: ") {
				t.Errorf("/%s %s: %q", verb, args, r.Text)
			}
		}
	}
	if b.get("data/creds") != "secret" {
		t.Error("it was written")
	}
}
