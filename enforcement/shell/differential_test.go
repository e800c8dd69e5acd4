package shell

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/test/integration"
)

// maker makes up command lines of programs that can do no harm in a folder of
// their own: every path is relative to it.
type maker struct{ r *rand.Rand }

func (m maker) pick(all ...string) string { return all[m.r.IntN(len(all))] }

func (m maker) file() string {
	return m.pick("a.txt", "b.txt", "src/main.go", "src/deep/x.go", "new.txt", "src/new.go", "'with space.txt'", "link", "./a.txt", "src/../b.txt")
}

func (m maker) dir() string { return m.pick("src", "src/deep", "newdir", ".", "out") }

func (m maker) reader() string {
	switch m.r.IntN(10) {
	case 0:
		return "cat " + m.file()
	case 1:
		return "grep -rn " + m.pick("x", "main", "'a > b'") + " " + m.dir()
	case 2:
		return "ls -la " + m.dir()
	case 3:
		return "head -n 2 " + m.file()
	case 4:
		return "wc -l < " + m.file()
	case 5:
		return "git " + m.pick("status --short", "log --oneline", "diff --stat", "show HEAD:a.txt", "branch", "ls-files")
	case 6:
		return "sed -n 1,2p " + m.file()
	case 7:
		return "awk '$1 > 5' " + m.file()
	case 8:
		return "[[ 3 > 2 ]] && echo " + m.pick("yes", "'a -> b'", `"x > y"`)
	}
	return "find " + m.dir() + " -name '*.go' -print"
}

func (m maker) writer() string {
	f, g := m.file(), m.file()
	switch m.r.IntN(24) {
	case 0:
		return "echo hi > " + f
	case 1:
		return "printf x >> " + f
	case 2:
		return "cp " + f + " " + g
	case 3:
		return "mv " + f + " " + g
	case 4:
		return "rm -f " + f
	case 5:
		return "touch " + f
	case 6:
		return "mkdir -p " + m.pick("newdir/sub", "out", "src/more")
	case 7:
		return "sed -i s/a/b/ " + f
	case 8:
		return "echo y | tee " + m.pick("", "-a ") + f + " >/dev/null"
	case 9:
		return "ln -s" + m.pick("", "f") + " " + m.pick("a.txt", "src") + " " + m.pick("link", "link2")
	case 10:
		return "sort -o " + f + " " + g
	case 11:
		return "cat > " + f + " <<'EOF'\nline one\n> quoted\nEOF"
	case 12:
		return "truncate -s 0 " + f
	case 13:
		return "dd if=/dev/null of=" + f + " 2>/dev/null"
	case 14:
		return "find " + m.dir() + " -name '*.txt' " + m.pick("-delete", "-exec rm {} +")
	case 15:
		return "git " + m.pick("checkout -- a.txt", "rm -q a.txt", "mv b.txt c.txt", "reset -q --hard", "stash -q", "clean -fdq", "add -A", "commit -qam m", "tag t1", "restore .")
	case 16:
		return "tar cf out.tar src"
	case 17:
		return "rm -rf " + m.dir()
	case 18:
		return "xargs touch <<< '" + m.pick("a.txt n1", "src/n2") + "'"
	case 19:
		return "gzip -f " + f
	case 20:
		return "split -l 1 " + f + " part."
	case 21:
		return "install -m 644 " + f + " " + g
	case 22:
		return "python3 -c 'open(\"py.txt\",\"w\").write(\"x\")'"
	}
	return "perl -pi -e s/a/b/ " + f
}

// line puts simple commands into what shells put around them.
func (m maker) line() string {
	one := func() string {
		if m.r.IntN(5) < 2 {
			return m.reader()
		}
		return m.writer()
	}
	if c := one(); strings.Contains(c, "<<'EOF'") {
		return c
	}
	simple := func() string {
		for {
			if c := one(); !strings.Contains(c, "\n") {
				return c
			}
		}
	}
	c := simple()
	switch m.r.IntN(14) {
	case 0:
		return "cd src && " + c
	case 1:
		return "(" + c + ")"
	case 2:
		return "bash -c " + shellQuote(c)
	case 3:
		return "for f in a.txt b.txt; do " + m.pick("echo $f", "touch $f.bak", "cat \"$f\"", "rm -f \"$f\"") + "; done"
	case 4:
		return "F=" + m.pick("a.txt", "src/new.go") + "; " + m.pick("echo x > $F", "cat $F", "rm -f \"$F\"", "echo \"$F > b\"")
	case 5:
		return c + " || " + simple()
	case 6:
		return "f() { " + c + "; }" + m.pick("", "; f")
	case 7:
		return c + " 2>/dev/null"
	case 8:
		return "eval " + shellQuote(c)
	case 9:
		return "if test -f a.txt; then " + c + "; fi"
	case 10:
		return "env X=1 nice " + strings.TrimPrefix(c, "[[ 3 > 2 ]] && ")
	case 11:
		return c + " && " + simple()
	case 12:
		return "{ " + c + "; } 2>&1 | cat"
	}
	return c
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// TestDifferential runs made-up commands in scratch repositories and compares
// what changed with what was foretold: a command judged a reader changes
// nothing, and one judged to write certain paths changes no others.
func TestDifferential(t *testing.T) {
	for _, program := range []string{"bash", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("commands cannot be run here: %v", err)
		}
	}
	n, seed := integration.Rounds(50, 150), uint64(20261121) // the simulations make up more, and others
	if more, err := strconv.Atoi(os.Getenv("WRIT_DIFFERENTIAL")); err == nil {
		n, seed = more, uint64(time.Now().UnixNano())
	}
	template := scratchRepository(t)
	before := snapshot(t, template)
	m := maker{rand.New(rand.NewPCG(seed, 1))}
	seen := map[string]bool{}
	counts := map[string]map[Effect]int{"changed": {}, "unchanged": {}}
	for len(seen) < n {
		command := m.line()
		if seen[command] {
			continue
		}
		seen[command] = true
		root := t.TempDir()
		copyTree(t, template, root)
		runIn(t, root, command)
		after := snapshot(t, root)
		changed := differences(before, after)
		r := Analyse(command, Env{Dir: root, Home: root, Project: root})
		what := "unchanged"
		if len(changed) > 0 {
			what = "changed"
		}
		counts[what][r.Effect]++
		if len(changed) == 0 || r.Effect == CannotTell {
			continue
		}
		if r.Effect == ReadsOnly {
			t.Errorf("seed %d: judged a reader, and changed %v:\n%s", seed, changed, command)
			continue
		}
		for _, name := range changed {
			at := filepath.Join(root, name)
			covered := slices.ContainsFunc(slices.Concat(cleaned(r.Paths), cleaned(r.Through)), func(p string) bool {
				// Folders on the way to what is made are made with it.
				way := after[name] == "folder" && inside(p, at)
				return way || inside(resolveIn(root, name), resolveIn(root, p)) || inside(at, p)
			})
			if !covered && !strings.HasPrefix(name, ".git/") {
				t.Errorf("seed %d: changed %s, foretold were %v:\n%s", seed, name, r.Paths, command)
			}
		}
	}
	for _, what := range []string{"changed", "unchanged"} {
		t.Logf("%-10s reads_only %d, writes %d, cannot_tell %d", what, counts[what][ReadsOnly], counts[what][Writes], counts[what][CannotTell])
	}
}

// resolveIn follows the links of the scratch repository as it was made.
func resolveIn(root, p string) string {
	rel := strings.TrimPrefix(strings.TrimPrefix(p, root), "/")
	if rel == "link" {
		rel = "a.txt"
	}
	return filepath.Join(root, rel)
}

func scratchRepository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{
		"a.txt": "a\nb\nc\n", "b.txt": "7 x\n3 y\n", "src/main.go": "package main\n", "src/deep/x.go": "package deep // x\n", "with space.txt": "s\n",
	} {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a.txt", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	runIn(t, root, "git init -q --template= . && git add -A && git commit -qm first")
	return root
}

// runIn runs a command line with nothing of this process's environment but the
// places of programs. How it ends does not matter.
func runIn(t *testing.T, root, command string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	cmd.Dir = root
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + root, "TMPDIR=" + root, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_PAGER=cat",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
	}
	_ = cmd.Run()
}

// snapshot is every path below a folder with what stands there. Of git's own
// data an index that was only refreshed is no change.
func snapshot(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, at)
		if err != nil || rel == "." || rel == ".git/index" {
			return err
		}
		switch {
		case rel == ".git/objects":
			return fs.SkipDir // whatever is added there, a name elsewhere in .git leads to it
		case e.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(at)
			found[rel] = "-> " + to
			return err
		case e.IsDir():
			found[rel] = "folder"
		default:
			content, err := os.ReadFile(at)
			info, statErr := e.Info()
			if err == nil && statErr == nil {
				found[rel] = fmt.Sprint(info.Mode()&0o111, " ", string(content))
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func differences(before, after map[string]string) []string {
	var changed []string
	for name, was := range before {
		if after[name] != was {
			changed = append(changed, name)
		}
	}
	for name := range after {
		if _, had := before[name]; !had {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}
