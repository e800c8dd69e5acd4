package worktree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// tree is a work tree to change.
type tree struct {
	t    testing.TB
	root string
}

func newTree(t testing.TB, repository bool, files map[string]string) *tree {
	t.Helper()
	tr := &tree{t, t.TempDir()}
	for name, content := range files {
		tr.write(name, content)
	}
	if repository {
		if _, err := exec.LookPath("git"); err != nil {
			t.Skip("git is not installed")
		}
		tr.git("init", "-q")
		tr.commit()
		// Git takes no file for clean that is as young as its index.
		old := time.Unix(1_700_000_000, 0)
		for name := range files {
			if err := os.Chtimes(filepath.Join(tr.root, name), old, old); err != nil {
				t.Fatal(err)
			}
		}
		tr.git("add", "-Af")
	}
	return tr
}

func (tr *tree) write(name, content string) {
	tr.t.Helper()
	path := filepath.Join(tr.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tr.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		tr.t.Fatal(err)
	}
}

func (tr *tree) git(args ...string) {
	tr.t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "gc.auto=0"}, args...)...)
	c.Dir = tr.root
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := c.CombinedOutput(); err != nil {
		tr.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (tr *tree) commit() {
	tr.git("add", "-Af")
	tr.git("commit", "-q", "-m", "x")
}

func (tr *tree) sh(script string) {
	tr.t.Helper()
	c := exec.Command("/bin/sh", "-ec", script)
	c.Dir = tr.root
	if out, err := c.CombinedOutput(); err != nil {
		tr.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func (tr *tree) read() *Tree {
	tr.t.Helper()
	return tr.readAfter(nil)
}

func (tr *tree) readAfter(earlier *Tree) *Tree {
	tr.t.Helper()
	read, err := ReadTree(TreeOptions{Root: tr.root, Keep: []string{"findings.md"}}, earlier)
	if err != nil {
		tr.t.Fatal(err)
	}
	return read
}

func (tr *tree) changes(before *Tree) (text []string, after *Tree) {
	tr.t.Helper()
	changes, after, err := before.Changes()
	if err != nil {
		tr.t.Fatal(err)
	}
	for _, c := range changes {
		text = append(text, c.Change+" "+c.Path)
	}
	return text, after
}

func TestChanges(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh here")
	}
	files := map[string]string{
		"main.go": "package main\n", "sub/a.go": "package sub\n", "a_test.go": "package main\n", "plan.md": "# Plan\n",
		".gitignore": "*.log\n/out/\ndist/\n.claude/\nfindings.md\n!keep.log\n", "dist/known.js": "x\n", ".claude/settings.json": "{}\n",
	}
	cases := []struct {
		name, script string
		want         []string
		gitOnly      bool
	}{
		{name: "nothing", script: `true`},
		{name: "reading", script: `cat main.go sub/a.go`},
		{name: "changed", script: `echo x >> main.go`, want: []string{"changed main.go"}},
		{name: "changed to the same length", script: `printf 'package mine\n' > main.go`, want: []string{"changed main.go"}},
		{name: "changed with its time put back", script: `touch -r main.go ref; printf 'package mine\n' > main.go; touch -r ref main.go; rm ref`, want: []string{"changed main.go"}},
		{name: "written as it was", script: `cat main.go > /tmp/writ-$$ && cat /tmp/writ-$$ > main.go && rm /tmp/writ-$$`},
		{name: "replaced by the same", script: `cp main.go x && mv x main.go`},
		{name: "touched", script: `touch main.go sub/a.go`},
		{name: "made runnable", script: `chmod +x main.go`, want: []string{"changed main.go"}},
		{name: "deleted", script: `rm sub/a.go`, want: []string{"deleted sub/a.go"}},
		{name: "created", script: `mkdir new && echo x > new/b.go`, want: []string{"created new/b.go"}},
		{name: "moved", script: `mv main.go other.go`, want: []string{"deleted main.go", "created other.go"}},
		{name: "file to link", script: `rm main.go && ln -s plan.md main.go`, want: []string{"changed main.go"}},
		{name: "file to folder", script: `rm main.go && mkdir main.go && echo x > main.go/x`, want: []string{"deleted main.go", "created main.go/x"}},
		{name: "plan and tests", script: `echo x >> plan.md; echo x >> a_test.go`, want: []string{"changed a_test.go", "changed plan.md"}},
		{name: "ignored", script: `mkdir -p out/x node_modules/x; echo x > a.log; echo x > out/x/y; echo x > node_modules/x/y.js`},
		{name: "not ignored after all", script: `echo x > keep.log`, want: []string{"created keep.log"}},
		{name: "ignored but kept", script: `echo x > findings.md; echo x > .claude/settings.local.json`, want: []string{"created .claude/settings.local.json", "created findings.md"}},
		{name: "ignored but known to git", script: `echo x >> dist/known.js; echo x > dist/new.js`, want: []string{"changed dist/known.js"}, gitOnly: true},
		{name: "ignored by the command itself", script: `echo '*.go' >> .gitignore; echo x > evil.go`, want: []string{"changed .gitignore", "created evil.go"}},
		{name: "ignored by a new folder's own rules", script: `mkdir n; echo '*' > n/.gitignore; echo x > n/evil.go`, want: []string{"created n/.gitignore", "created n/evil.go"}},
		{name: "ignored by a folder's new rules, and moved", script: `mkdir n && echo x > n/evil.go && mv n sub/n && printf '/n/\n' > sub/.gitignore`, want: []string{"created sub/.gitignore", "created sub/n/evil.go"}},
		{name: "ignored for a while", script: `cp .gitignore keep; echo '*' > .gitignore; echo x > evil.go; mv keep .gitignore`, want: []string{"created evil.go"}},
		{name: "ignored by a linked file of rules", script: `echo '*.go' > r.log; ln -s ../r.log sub/.gitignore; echo x > sub/evil.go`, want: []string{"created sub/.gitignore", "created sub/evil.go"}},
		{name: "no longer known to git", script: `git rm -q --cached main.go && echo main.go >> .git/info/exclude && echo x >> main.go`, want: []string{"changed main.go"}, gitOnly: true},
		{name: "in a repository of its own", script: `mkdir -p n/.git && echo x > n/.git/HEAD && echo x > n/evil.go`, want: []string{"created n/evil.go"}},
		{name: "excluded", script: `echo '*.go' >> .git/info/exclude; echo x > evil.go`, want: []string{"created evil.go"}, gitOnly: true},
		{name: "assumed unchanged", script: `git update-index --assume-unchanged main.go; echo x >> main.go`, want: []string{"changed main.go"}, gitOnly: true},
		{name: "committed", script: `echo x >> main.go; git -c user.name=x -c user.email=x@x commit -qam x`, want: []string{"changed main.go"}, gitOnly: true},
		{name: "committed as it was", script: `git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x`, gitOnly: true},
		{name: "hooks and configuration", script: `mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; git config core.x y`, want: []string{"changed .git/config", "created .git/hooks/pre-commit"}, gitOnly: true},
	}
	for _, repository := range []bool{true, false} {
		for _, c := range cases {
			if c.gitOnly && !repository {
				continue
			}
			t.Run(fmt.Sprintf("repository=%v/%s", repository, c.name), func(t *testing.T) {
				t.Parallel()
				tr := newTree(t, repository, files)
				before := tr.read()
				tr.sh(c.script)
				got, after := tr.changes(before)
				if !slices.Equal(got, c.want) {
					t.Errorf("got %q, want %q", got, c.want)
				}
				if again, _ := tr.changes(after); len(again) > 0 {
					t.Errorf("the next comparison finds %q again", again)
				}
				tr.sh("echo more > later.go")
				if later, _ := tr.changes(after); !hides(c.script) && !slices.Equal(later, []string{"created later.go"}) {
					t.Errorf("a later change is %q", later)
				}
			})
		}
	}
}

// TestDirtyFilesCountByContent: git does not know what they held, a hash does.
func TestDirtyFilesCountByContent(t *testing.T) {
	t.Parallel()
	tr := newTree(t, true, map[string]string{"main.go": "package main\n"})
	tr.write("main.go", "package dirty\n")
	tr.write("new.go", "package fresh\n")
	before := tr.read()
	tr.sh("touch main.go new.go")
	if got, _ := tr.changes(before); len(got) > 0 {
		t.Errorf("touching changed %q", got)
	}
	tr.write("new.go", "package other\n")
	if got, _ := tr.changes(before); !slices.Equal(got, []string{"changed new.go"}) {
		t.Errorf("got %q", got)
	}
}

// TestTreeRunsNoCodeOfTheRepository: nothing it names is started.
func TestTreeRunsNoCodeOfTheRepository(t *testing.T) {
	t.Parallel()
	tr := newTree(t, true, map[string]string{"main.go": "package main\n", ".gitattributes": "*.go filter=x diff=x\n"})
	mark := filepath.Join(t.TempDir(), "ran")
	for _, key := range []string{"core.fsmonitor", "filter.x.clean", "filter.x.smudge", "diff.x.textconv", "diff.external"} {
		tr.git("config", key, "touch "+mark)
	}
	before := tr.read()
	tr.write("main.go", "package other\n")
	if got, _ := tr.changes(before); !slices.Equal(got, []string{"changed main.go"}) {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("code of the repository ran")
	}
}

// TestIndexVersions reads the same entries from each form of git's index.
func TestIndexVersions(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a": "1", "a.b/c": "2", "a.b/d/e": "3", "b": "4", strings.Repeat("long/", 40) + "x": "5"}
	tr := newTree(t, true, files)
	for _, version := range []string{"2", "3", "4"} {
		tr.git("update-index", "--index-version", version)
		got := readIndex(filepath.Join(tr.root, ".git"))
		if len(got) != len(files) {
			t.Errorf("version %s: %d entries", version, len(got))
		}
		read := tr.read()
		for name := range files {
			e, ok := got[name]
			at, _ := read.file(name)
			h, _ := read.hash(name, at)
			if !ok || e.oid != h || !e.clean(at) || !at.clean {
				t.Errorf("version %s: %s is %v, %v, clean %v", version, name, ok, e, e.clean(at))
			}
		}
	}
}

// TestIgnoreAgreesWithGit compares with git itself.
func TestIgnoreAgreesWithGit(t *testing.T) {
	t.Parallel()
	rules := "# note\n*.log\n!keep.log\n/top\nbuild/\na/**/z\n**/deep\nabc/**\nfoo/*\n!foo/bar\nx?y\n[ab]c\n\\#hash\nspace\\ \ntrail  \n*.[!ch]\n[[:digit:]]x\n"
	paths := []string{
		"x.log", "d/x.log", "keep.log", "top", "d/top", "build/x", "d/build/x", "build", "a/z", "a/b/z", "a/b/c/z", "a/b", "deep", "d/deep",
		"abc/x", "abc/d/x", "foo/bar", "foo/baz", "d/foo/baz", "xzy", "xzzy", "ac", "cc", "#hash", "space ", "trail", "note", "m.c", "m.o", "1x",
	}
	for _, p := range paths {
		t.Run(p, func(t *testing.T) {
			t.Parallel()
			tr := newTree(t, true, map[string]string{".gitignore": rules})
			before := tr.read()
			tr.write(p, "x")
			c := exec.Command("git", "check-ignore", "-q", p)
			c.Dir = tr.root
			ignored := c.Run() == nil
			got, _ := tr.changes(before)
			if len(got) == 0 != ignored {
				t.Errorf("git ignores it: %v, here the changes are %q", ignored, got)
			}
		})
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00"))
	f.Add(append([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01"), make([]byte, 80)...))
	f.Add(append(append([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"), make([]byte, 62)...), "a\x00\x00\x00\x00\x00\x00\x00\x00\x00"...))
	f.Fuzz(func(t *testing.T, raw []byte) {
		entries, _, ok := parseIndex(raw, 1)
		if !ok && entries != nil || len(entries) > len(raw)/indexFixed {
			t.Errorf("%d entries, %v", len(entries), ok)
		}
	})
}

// hides reports whether a script has all later *.go files ignored.
func hides(script string) bool { return strings.Contains(script, "'*.go' >>") }

// TestFilesBesideIgnoredEndingsAreSeen: a set of endings that is ignored leaves
// the others, whoever makes them, and one command's rules hide no other's files.
func TestFilesBesideIgnoredEndingsAreSeen(t *testing.T) {
	t.Parallel()
	tr := newTree(t, true, map[string]string{".gitignore": "*.[!ch]\n[!a-z]*.h\n", "main.c": "int main;\n", "gen.py": "open('evil.c','w').write('x')\n"})
	before := tr.read()
	tr.sh(`printf x > evil.c; printf x > ok.o; printf x > evil.h; printf x > 1.h`)
	changes, _ := tr.changes(before)
	if want := []string{"created evil.c", "created evil.h"}; !slices.Equal(changes, want) {
		t.Errorf("%q, want %q", changes, want)
	}
}

// TestAnEarlierLook: what is found with an earlier look at hand is what is found
// without, whatever happened in between; what stayed is not kept twice.
func TestAnEarlierLook(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"main.go": "package main\n", ".gitignore": "*.log\n/out/\ndist/\n", "sub/a.go": "package sub\n", "sub/b.log": "x\n",
		"sub/deep/c.go": "package deep\n", "sub/deep/c.tmp": "x\n", "dist/known.js": "x\n",
	}
	for name, script := range map[string]string{
		"nothing":                             `true`,
		"changed":                             `echo x >> main.go; rm sub/a.go; echo x > sub/deep/d.go`,
		"ignored from now on":                 `echo 'c.*' > sub/.gitignore`,
		"ignored by what is ignored":          `echo '*' > sub/deep/.gitignore`,
		"no longer ignored":                   `echo '/out/' > .gitignore`,
		"otherwise ignored, at the same size": `printf '*.tmp\n/out/\ndist/\n' > .gitignore`,
		"ignored by no file of the tree":      `mkdir -p .git/info; echo '*.go' > .git/info/exclude`,
		"known to git":                        `mkdir -p out; echo x > out/y; git add -f out/y sub/b.log`,
		"known to git no more":                `git rm -q --cached dist/known.js sub/a.go`,
		"committed":                           `echo x >> main.go; git add -f .; git -c user.name=x -c user.email=x@example.org commit -qm x`,
		"a folder for a file":                 `rm main.go; mkdir main.go; echo x > main.go/x`,
		"settings":                            `mkdir -p sub/.claude; echo '{}' > sub/.claude/settings.json; echo .claude > .gitignore`,
	} {
		for _, repository := range []bool{true, false} {
			tr := newTree(t, false, files)
			if repository {
				tr.git("init", "-q")
				tr.git("add", "-f", "main.go", "sub/a.go", "dist/known.js", ".gitignore")
			} else if strings.Contains(script, "git ") {
				continue
			}
			before := tr.read()
			was := before.folders["sub/deep"].stamps
			tr.sh(script)
			got, want := tr.readAfter(before), tr.read()
			if !reflect.DeepEqual(got.folders, want.folders) || !reflect.DeepEqual(got.hashes, want.hashes) || got.size != want.size {
				t.Errorf("%s, repository %v: %d files and %v, without an earlier look %d and %v", name, repository, got.size, got.hashes, want.size, want.hashes)
			}
			if name == "nothing" && &got.folders["sub/deep"].stamps[0] != &was[0] {
				t.Error("what stayed is kept twice")
			}
		}
	}
}
