package confine

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestExitStatus: the command's own, whatever ended it.
func TestExitStatus(t *testing.T) {
	needLandlock(t)
	t.Parallel()
	w := newWorld(t, os.Geteuid())
	for script, want := range map[string]int{
		"exit 0": 0, "exit 7": 7, "exit 255": 255, "kill -TERM $$": 143, "kill -KILL $$": 137,
	} {
		out, exit := w.run(Scratch, script)
		if exit != want {
			t.Errorf("%s: exit %d: %s", script, exit, out)
		}
		if said := strings.Contains(out, "under profile scratch"); said != (want != 0) {
			t.Errorf("%s: %q", script, out)
		}
	}
	for name, want := range map[string]int{"/nonexistent": ExitNotFound, "no-such-program": ExitNotFound, filepath.Join(w.project, "plan.md"): ExitCannotRun, w.project: ExitCannotRun} {
		if out, exit := w.result(w.confined(w.options(Scratch, name))); exit != want {
			t.Errorf("%s: exit %d: %s", name, exit, out)
		}
	}
	quiet := w.options(Scratch, "false")
	quiet.Quiet = true
	if out, exit := w.result(w.confined(quiet)); exit != 1 || out != "" {
		t.Errorf("exit %d: %s", exit, out)
	}
}

// TestSignalsArePassedOn, to the command alone, whose group is the caller's.
func TestSignalsArePassedOn(t *testing.T) {
	needLandlock(t)
	t.Parallel()
	w := newWorld(t, os.Geteuid())
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1} {
		if signal.Ignored(s) {
			t.Logf("%v is ignored by whoever runs this test, and by all it starts: not tried", s)
			continue
		}
		c := w.confined(w.options(Scratch, "/bin/sh", "-c", `trap 'kill $!; exit 42' TERM HUP USR1; sleep 300 > /dev/null & echo ready; wait`))
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(line, err)
		}
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		var failed *exec.ExitError
		if err := c.Wait(); !errors.As(err, &failed) || failed.ExitCode() != 42 {
			t.Errorf("%v: %v", s, err)
		}
	}
}

func TestStreamsAndGroup(t *testing.T) {
	needLandlock(t)
	t.Parallel()
	w := newWorld(t, os.Geteuid())
	c := w.confined(w.options(Scratch, "/bin/sh", "-c", `cat; echo to stderr >&2; echo again > /dev/stdout; echo group $(cut -d' ' -f5 /proc/$$/stat) $(cut -d' ' -f5 /proc/$PPID/stat)`))
	c.Stdin = strings.NewReader("from stdin\n")
	out, err := os.Create(filepath.Join(w.home, "out")) // a place the command may not write
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c.Stdout = out
	var stderr strings.Builder
	c.Stderr = &stderr
	if err := c.Run(); err != nil {
		t.Fatal(err, stderr.String())
	}
	raw, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	contains(t, stderr.String(), "to stderr")
	contains(t, string(raw), "again")
	fields := strings.Fields(string(raw))
	if n := len(fields); n < 2 || fields[n-1] != fields[n-2] {
		t.Errorf("not one process group: %s", raw)
	}
}

// TestWorkGoesOn: what a profile is for is not in the way.
func TestWorkGoesOn(t *testing.T) {
	needLandlock(t)
	t.Parallel()
	cases := []struct {
		name, needs string
		profile     Profile
		script      string
	}{
		{"temp folders", "", Scratch, `f=$(mktemp) && echo x > $f && mv $f $f.2 && cat $f.2 && mkdir $T/d && ln -s x $T/d/l && mv $T/d $T/e && rm -r $T/e && mkfifo $T/p`},
		{"devices", "", Scratch, `echo x > /dev/null && head -c 4 /dev/urandom > /dev/null && echo x > /dev/shm/writ-$$ && rm /dev/shm/writ-$$`},
		{"caches", "", ReadOnly, `mkdir -p $HOME/.cache/x && echo x > $HOME/.cache/x/y`},
		{"reading", "", Scratch, `cat $P/src/main.go $O/file /etc/passwd > /dev/null && ls $D/credentials`},
		{"plan", "", ReadOnly, `echo '# Plan' > $P/plan.md`},
		{"tests", "", Tests, `mkdir $P/tests/new && echo x > $P/tests/new/a && mv $P/tests/new $P/tests/b`},
		{"project", "", Implementation, `mkdir $P/lib && echo x > $P/lib/a && mv $P/lib/a $P/top && rm $P/top && cp $P/src/main.go $T/m && mv $T/m $P/lib/m && ln $P/lib/m $P/lib/n`},
		{"git metadata", "git", Implementation, `rm -rf $P/.git && git init -q $P/r && cd $P/r && echo x > a && git add a && git -c user.name=x -c user.email=x@x commit -qm x && git branch b && git status`},
		{"a socket", "python3", Scratch, `python3 -c "import socket; a=socket.socket(socket.AF_UNIX); a.bind('$T/s'); a.listen(); b=socket.socket(socket.AF_UNIX); b.connect('$T/s')"`},
		{"a terminal", "python3", Scratch, `python3 -c "import pty, os; m, s = pty.openpty(); os.write(s, b'x'); os.read(m, 1); os.ttyname(s)"`},
		{"a terminal by its path", "python3", Implementation, `python3 -c "import pty, os; m, s = pty.openpty(); os.write(s, b'x'); open(os.ttyname(s), 'w').write('y')"`},
		{"processes", "", Scratch, `sh -c 'exit 3' || test $? = 3; sleep 30 & kill $!; true | cat`},
	}
	for user, uid := range users() {
		for _, c := range cases {
			t.Run(user+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				for _, program := range strings.Fields(c.needs) {
					if _, err := exec.LookPath(program); err != nil {
						t.Skip(program + " is not installed")
					}
				}
				w := newWorld(t, uid)
				o := w.options(c.profile, "/bin/sh", "-ec", c.script)
				o.Write = []string{"tests"}
				if out, exit := w.result(w.confined(o)); exit != 0 {
					t.Errorf("exit %d: %s", exit, out)
				}
			})
		}
	}
}

// TestCommitInALinkedWorkTree: its metadata lies in another folder, whose
// hooks stay as they are.
// TestWrittenGitFoldersAreTheProjectsOwn: a .git that a command wrote gives no right to the
// repository that it names.
func TestWrittenGitFoldersAreTheProjectsOwn(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Parallel()
	w := newWorld(t, os.Geteuid())
	c := w.plain("/bin/sh", "-ec", `cd $HOME; git init -q main; git init -q sub; git init -q --bare bare.git; git init -q --separate-git-dir=$HOME/apart separate
for r in main sub; do git -C $r -c user.name=x -c user.email=x@x commit -q --allow-empty -m x; done
cd main && git worktree add -q $HOME/linked && git -c protocol.file.allow=always submodule --quiet add $HOME/sub lib/sub 2>/dev/null
mkdir $HOME/forged $HOME/g $HOME/worktrees $HOME/worktrees/w; echo x > $HOME/g/HEAD; cp $HOME/g/HEAD $HOME/worktrees/w; echo $HOME/main/.git > $HOME/g/commondir; echo $HOME/main/.git > $HOME/worktrees/w/commondir
echo $HOME/forged/.git > $HOME/g/gitdir; cp $HOME/g/gitdir $HOME/worktrees/w/gitdir`)
	if out, exit := w.result(c); exit != 0 {
		t.Fatal(out)
	}
	home := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(w.home, name))
		}
		return paths
	}
	for project, want := range map[string][]string{
		"linked": home("main/.git/worktrees/linked", "main/.git"), "main/lib/sub": home("main/.git/modules/lib/sub"), "separate": home("apart"), "main": nil,
	} {
		if got := ownGitFolders(filepath.Join(w.home, project)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", project, got, want)
		}
	}
	for _, dir := range []string{"main/.git", "main/.git/worktrees/linked", "main/.git/modules/lib/sub", "bare.git", "g", "worktrees/w"} {
		if err := os.WriteFile(filepath.Join(w.home, "forged", ".git"), []byte("gitdir: "+filepath.Join(w.home, dir)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := ownGitFolders(filepath.Join(w.home, "forged")); len(got) > 0 {
			t.Errorf("a .git that names %s gives %q", dir, got)
		}
	}
}

func TestCommitInALinkedWorkTree(t *testing.T) {
	needLandlock(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Parallel()
	w := newWorld(t, os.Geteuid())
	main := filepath.Join(w.home, "main")
	c := w.plain("/bin/sh", "-ec", `git init -q $HOME/main && cd $HOME/main && git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x && git worktree add -q $HOME/linked`)
	if out, exit := w.result(c); exit != 0 {
		t.Fatal(out)
	}
	o := w.options(Implementation, "/bin/sh", "-ec", `cd $HOME/linked && echo x > a && git add a && git -c user.name=x -c user.email=x@x commit -qm x; echo pwned > ../main/.git/hooks/post-commit; echo pwned > ../main/a`)
	o.Project = filepath.Join(w.home, "linked")
	out, _ := w.result(w.confined(o))
	if log, exit := w.result(w.plain("git", "-C", o.Project, "log", "--oneline")); exit != 0 || strings.Count(log, "\n") != 2 {
		t.Errorf("not committed: %s\n%s", log, out)
	}
	for _, name := range []string{".git/hooks/post-commit", "a"} {
		if _, err := os.Lstat(filepath.Join(main, name)); err == nil {
			t.Errorf("%s was written:\n%s", name, out)
		}
	}
	contains(t, out, RestoredPrefix+filepath.Join(main, ".git", "hooks", "post-commit")+" was created")
}

// TestOwnTempFolder: where a project lies in the temp folder,
// nothing can be made beside it, so the command gets another place.
func TestOwnTempFolder(t *testing.T) {
	needLandlock(t)
	t.Parallel()
	w := newWorld(t, os.Geteuid())
	c := w.confined(w.options(ReadOnly, "/bin/sh", "-c", `f=$(mktemp) && echo x > $f && cat $f && echo $TMPDIR; echo x > $P/src/main.go; echo x > `+w.base+`/beside; exit 9`))
	c.Env = append(c.Env, "TMPDIR="+w.base)
	out, exit := w.result(c)
	if exit != 9 {
		t.Fatalf("exit %d: %s", exit, out)
	}
	contains(t, out, filepath.Join(w.base, "writ-confine-"))
	if _, err := os.Lstat(filepath.Join(w.base, "beside")); err == nil {
		t.Error("a file was made beside the project")
	}
	for _, h := range w.harm(out) {
		t.Error(h)
	}
}

// TestGradleBuildsAlone: no daemon is asked that is not held, and none is left that is.
func TestGradleBuildsAlone(t *testing.T) {
	needLandlock(t)
	t.Parallel()
	w := newWorld(t, os.Geteuid())
	registry := filepath.Join(w.home, ".gradle", "daemon", "8", "registry.bin")
	if err := errors.Join(os.MkdirAll(filepath.Join(w.home, ".gradle", "caches"), 0o755), os.MkdirAll(filepath.Dir(registry), 0o755), os.WriteFile(registry, []byte("port"), 0o644)); err != nil {
		t.Fatal(err)
	}
	for profile, want := range map[Profile][]string{
		ReadOnly:       {"<-Xmx1g -Dorg.gradle.daemon=false -Dorg.gradle.daemon.registry.base=", " -Djava.io.tmpdir=", "writ-confine-", "hidden", "cached"},
		Implementation: {"<-Xmx1g -Dorg.gradle.daemon=false>", "port", "cached"},
	} {
		c := w.confined(w.options(profile, "/bin/sh", "-c", `echo "<$GRADLE_OPTS>"; cd "$HOME/.gradle"; cat daemon/8/registry.bin && echo || echo hidden; touch caches/x && echo cached`))
		c.Env = append(c.Env, "GRADLE_OPTS=-Xmx1g")
		out, _ := w.result(c)
		for _, part := range want {
			contains(t, out, part)
		}
	}
}

// TestAFileBesideAProjectIsMadeByName: where a project lies in a temp folder, a file
// that the command line names is made there, and no other.
func TestAFileBesideAProjectIsMadeByName(t *testing.T) {
	needLandlock(t)
	t.Parallel()
	w := newWorld(t, os.Geteuid())
	if !within("/tmp", w.base) {
		t.Skip("the temp folder of tests is " + w.base)
	}
	if err := os.Symlink(filepath.Join(w.project, "src", "main.go"), filepath.Join(w.base, "link")); err != nil {
		t.Fatal(err)
	}
	o := w.options(ReadOnly, "/bin/sh", "-c", `cd $P/..; echo x > new; echo x > other; echo pwned > link; echo pwned > $P/src/main.go; echo pwned > $O/file; exit 9`)
	for _, name := range []string{"new", "untouched", "link", ".", "home/other/file", "home/other/new"} {
		o.Make = append(o.Make, filepath.Join(w.base, name))
	}
	out, exit := w.result(w.confined(o))
	raw, _ := os.ReadFile(filepath.Join(w.base, "new"))
	if exit != 9 || string(raw) != "x\n" {
		t.Errorf("exit %d, new holds %q: %s", exit, raw, out)
	}
	for _, name := range []string{"other", "untouched"} {
		if _, err := os.Lstat(filepath.Join(w.base, name)); err == nil {
			t.Error(name + " is there")
		}
	}
	for _, h := range w.harm(out) {
		t.Error(h)
	}
}

// TestNamedPaths: a link laid in the project does not carry the right to
// another place, nor does a second name.
func TestNamedPaths(t *testing.T) {
	needLandlock(t)
	t.Parallel()
	w := newWorld(t, os.Geteuid())
	if err := os.Symlink("src", filepath.Join(w.project, "spec")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(w.project, "src", "main.go"), filepath.Join(w.project, "x_test.go")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(w.project, "plan.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("src/main.go", filepath.Join(w.project, "plan.md")); err != nil {
		t.Fatal(err)
	}
	o := w.options(Tests, "/bin/sh", "-c", `echo pwned > $P/spec/main.go; echo pwned > $P/x_test.go; echo pwned > $P/plan.md; exit 1`)
	o.Write = []string{"spec", "x_test.go", "missing"}
	out, _ := w.result(w.confined(o))
	raw, err := os.ReadFile(filepath.Join(w.project, "src", "main.go"))
	if err != nil || string(raw) != "package main\n" {
		t.Errorf("%q %v\n%s", raw, err, out)
	}
	contains(t, out, "spec is reached through a link")
	contains(t, out, "missing does not exist")
}

// TestWhatIsProtectedIsPutBackWhereNothingIsWritten: a closed profile has nothing of the
// project written, and what is protected is reached all the same by a second name, where a
// repository lies in a temp folder, and by its mode where the kernel asks somebody else.
func TestWhatIsProtectedIsPutBackWhereNothingIsWritten(t *testing.T) {
	needLandlock(t)
	for _, program := range []string{"python3", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	t.Parallel()
	const asked = `import ctypes, os, sys
class program(ctypes.Structure): _fields_ = [('size', ctypes.c_ushort), ('list', ctypes.c_char_p)]
number = {'x86_64': 317}.get(os.uname().machine, 277)
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
listener = ctypes.CDLL(None).syscall(number, 1, 8, ctypes.byref(program(1, b'\x06\0\0\0\0\0\xff\x7f')))
if listener < 0: sys.exit('not asked')
os.set_inheritable(listener, True)
os.execv(sys.argv[1], sys.argv[1:])
`
	for name, c := range map[string]struct{ before, script, hook string }{
		"a second name":                 {`ln $P/.git/hooks/pre-commit $T/l`, `echo pwned > $T/l`, ".git/hooks/pre-commit"},
		"a repository in a temp folder": {`git init -q $T/main && cd $T/main && git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x && git worktree add -q $T/w && rm -r $P/.git && mv $T/w/.git $P/.git && echo $P/.git > .git/worktrees/w/gitdir && echo kept > .git/hooks/pre-commit`, `echo pwned > $T/main/.git/hooks/pre-commit`, "../temp/main/.git/hooks/pre-commit"},
		"somebody else is asked":        {"", `chmod 600 .git/hooks/pre-commit && touch $T/changed`, ".git/hooks/pre-commit"},
	} {
		for user, uid := range users() {
			t.Run(user+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, uid)
				if out, exit := w.result(w.plain("/bin/sh", "-ec", c.before)); exit != 0 {
					t.Fatal(out)
				}
				hook := filepath.Join(w.project, c.hook)
				look := func() string {
					raw, err := os.ReadFile(hook)
					info, statErr := os.Stat(hook)
					if err := errors.Join(err, statErr); err != nil {
						t.Fatal(err)
					}
					return info.Mode().String() + " " + string(raw)
				}
				before := look()
				command := w.confined(w.options(ReadOnly, "/bin/sh", "-ec", c.script))
				if c.before == "" {
					command = w.plain("/usr/bin/env", append([]string{"python3", "-c", asked}, command.Args...)...)
				}
				out, _ := w.result(command)
				contains(t, out, RestoredPrefix)
				if after := look(); after != before {
					t.Errorf("%s, it was %s\n%s", after, before, out)
				}
			})
		}
	}
}
