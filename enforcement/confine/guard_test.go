package confine

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// tree is a folder with files to change.
type tree struct {
	t    *testing.T
	root string
}

func newTree(t *testing.T, files map[string]string) *tree {
	t.Helper()
	tr := &tree{t, t.TempDir()}
	for name, content := range files {
		file := filepath.Join(tr.root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return tr
}

func (tr *tree) sh(script string) {
	tr.t.Helper()
	c := exec.Command("/bin/sh", "-ec", script)
	c.Dir = tr.root
	if out, err := c.CombinedOutput(); err != nil {
		tr.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// TestGuard changes protected files in every way and compares all of the
// project afterwards.
func TestGuard(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the changes are made by /bin/sh")
	}
	t.Parallel()
	for _, c := range []struct{ script, said string }{
		{`true`, ""},
		{`echo x > free`, ""},
		{`echo x > .writ/config.yaml`, ".writ/config.yaml was changed; it is as before"},
		{`rm -r .writ`, ".writ/config.yaml was deleted; it is back"},
		{`echo x > .writ/new`, ".writ/new was created; it is removed again"},
		{`mkdir -p .writ/a/b && echo x > .writ/a/b/c`, ".writ/a/b/c was created"},
		{`rm -r .writ && ln -s src .writ`, ".writ was changed"},
		{`rm -r .writ && echo x > .writ`, ".writ was changed"},
		{`mkdir .codex && echo x > .codex/config.toml`, ".codex was created"},
		{`ln -s src .codex`, ".codex was created"},
		{`mkdir .cursor && echo '{}' > .cursor/hooks.json`, ".cursor/hooks.json was created"},
		{`mkdir -p .gemini/commands && echo x > .gemini/commands/go.toml`, ".gemini/commands/go.toml was created"},
		{`mkdir -p .opencode/command && echo x > .opencode/command/go.md`, ".opencode/command/go.md was created"},
		{`mkdir -p .github/hooks && echo '{}' > .github/hooks/a.json`, ".github/hooks/a.json was created"},
		{`ln -s /tmp .github`, ".github was created"},
		{`echo x > .claude/settings.local.json`, ".claude/settings.local.json was created"},
		{`mv .claude .c && ln -s .c .claude && echo x > .c/settings.json`, ".claude/settings.json was changed"},
		{`rm -r .claude && ln -s /tmp .claude`, ".claude was changed"},
		{`chmod 777 .git/hooks/pre-commit`, ".git/hooks/pre-commit was changed"},
		{`mkdir .git/info && echo '* filter=x' > .git/info/attributes`, ".git/info/attributes was created"},
		{`mkdir .claude/hooks && echo x > .claude/hooks/check.sh`, ".claude/hooks was created"},
		{`chmod 0 .writ/config.yaml`, ".writ/config.yaml was changed"},
		{`chmod 0 .writ`, ".writ was changed"},
		{`chmod 0 .claude`, ".claude was changed"},
		{`chmod 0 .git`, ".git was changed"},
		{`chmod 0 .`, ". was changed"},
		{`[ $(id -u) != 0 ] || chown 1234 .writ/config.yaml`, ""},
		{`ln .git/config second`, ".git/config was changed"},
		{`rm -r .git/hooks && mkdir other && ln -s ../other .git/hooks && echo x > other/pre-push`, ".git/hooks was changed"},
		{`rm locked.md`, "locked.md was deleted; it is back"},
		{`mkdir .codex && cd .codex && seq 5000 | xargs touch && echo x > ../.git/hooks/post-commit`, ".git/hooks/post-commit was created; it is removed again"},
		{`cd .writ && seq 9000 | xargs touch && echo x > zz`, ".writ/zz was created; it is removed again"},
		{`echo x > .git/modules/a/modules/b/c/config`, ".git/modules/a/modules/b/c/config was changed; it is as before"},
	} {
		t.Run(c.script, func(t *testing.T) {
			t.Parallel()
			tr := newTree(t, map[string]string{
				".writ/config.yaml": "a\n", ".claude/settings.json": "{}\n", ".claude/free.md": "x\n", ".git/config": "[core]\n",
				".git/hooks/pre-commit": "#!/bin/sh\n", ".git/HEAD": "x\n", "locked.md": "l\n", "src/main.go": "x\n",
				".git/modules/a/HEAD": "x\n", ".git/modules/a/modules/b/c/HEAD": "x\n", ".git/modules/a/modules/b/c/config": "[core]\n",
			})
			if err := os.Chmod(filepath.Join(tr.root, ".git/hooks/pre-commit"), 0o755); err != nil {
				t.Fatal(err)
			}
			g := Guard(tr.root, []string{"locked.md"})
			defer g.Close()
			tr.sh(c.script)
			var said []string
			for _, r := range g.Restore(nil) {
				if r.Err != nil {
					t.Error(r)
				}
				said = append(said, r.String())
			}
			if all := strings.Join(said, "\n"); c.said == "" && all != "" && !strings.Contains(c.script, "chown") || !strings.Contains(all, c.said) {
				t.Errorf("said %q", said)
			}
			for name, content := range map[string]string{
				".writ/config.yaml": "a\n", ".claude/settings.json": "{}\n", ".git/config": "[core]\n", ".git/hooks/pre-commit": "#!/bin/sh\n", "locked.md": "l\n", "src/main.go": "x\n",
			} {
				raw, err := os.ReadFile(filepath.Join(tr.root, name))
				if err != nil || string(raw) != content {
					t.Errorf("%s holds %q, %v", name, raw, err)
				}
			}
			if left := g.Restore(nil); len(left) > 0 {
				t.Errorf("not as before: %v", left)
			}
			for name, mode := range map[string]os.FileMode{".git/hooks/pre-commit": 0o755, ".writ/config.yaml": 0o644, ".writ": 0o755, ".claude": 0o755, ".git": 0o755} {
				info, err := os.Stat(filepath.Join(tr.root, name))
				if err != nil || info.Mode().Perm() != mode || !owned(info) {
					t.Errorf("%v %v", info, err)
				}
			}
		})
	}
}

// TestGuardFollowsNoLinkOut: what it removes or writes stays in the project.
func TestGuardFollowsNoLinkOut(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the changes are made by /bin/sh")
	}
	t.Parallel()
	outside := newTree(t, map[string]string{"settings.json": "theirs\n", "hooks/x": "theirs\n"})
	tr := newTree(t, map[string]string{".claude/settings.json": "{}\n", ".git/hooks/x": "ours\n"})
	g := Guard(tr.root, nil)
	defer g.Close()
	tr.sh("rm -r .claude .git && ln -s " + outside.root + " .claude && ln -s " + outside.root + " .git")
	g.Restore(nil)
	for _, name := range []string{"settings.json", "hooks/x"} {
		if raw, err := os.ReadFile(filepath.Join(outside.root, name)); err != nil || string(raw) != "theirs\n" {
			t.Errorf("%s outside holds %q, %v", name, raw, err)
		}
	}
	for name, content := range map[string]string{".claude/settings.json": "{}\n", ".git/hooks/x": "ours\n"} {
		if raw, err := os.ReadFile(filepath.Join(tr.root, name)); err != nil || string(raw) != content {
			t.Errorf("%s holds %q, %v", name, raw, err)
		}
	}
}
