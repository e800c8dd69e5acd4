//go:build unix

package test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/conformance"
	"github.com/writbus/writ/test/integration"
	"github.com/writbus/writ/test/programs"
)

// shellRun is a case of the family shell_run: a command line that the real hook
// judges, and that bash runs where the answer lets it.
type shellRun struct {
	ID      string
	Command string
	Kind    string // writer or reader
}

// disputed are cases of shell_run that are believed wrong, with the reason.
var disputed = map[string]string{
	"read-6f12": "strace sorts system calls by the time that each took, so that no two runs need to be alike",
}

// open are cases that fail, with what they would take.
var open = map[string]string{
	"read-0c9a": "it lists what the host left open, which a held command does not have",
}

// TestConformanceShell_run puts each command to the real hook in planning and
// runs it, in a fresh copy of the repository, where the answer lets it run. Of the
// project's own cases it takes each sixth, or eighteenth, unless WRIT_TEST_SHELL_RUN_USER says as
// whom all are tried: root, user or all of them, as .ci/run does.
func TestConformanceShell_run(t *testing.T) {
	t.Parallel()
	cases := tried(conformance.Cases[shellRun](t, "shell_run"))
	for name, uid := range shellUsers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newShellWorld(t, uid)
			writers := make([]shellCopy, len(cases))
			var held, asked, absent atomic.Int64
			t.Run("each", func(t *testing.T) {
				for i, c := range cases {
					t.Run(c.ID, func(t *testing.T) {
						t.Parallel()
						if reason := disputed[c.ID]; reason != "" {
							t.Skip("believed wrong: " + reason)
						}
						if reason := open[c.ID]; reason != "" {
							t.Skip("not held yet: " + reason)
						}
						at := w.copy(t, strconv.Itoa(i))
						command := at.fill(c.Command)
						answer := w.judge(t, at, command)
						if answer.command != command {
							held.Add(1)
						}
						if answer.verdict != "" && answer.verdict != "allow" {
							asked.Add(1)
							if c.Kind == "reader" {
								t.Errorf("%s: %s\n%s", answer.verdict, command, answer.reason)
							}
							return
						}
						got := w.run(t, at, answer.command)
						if strings.Contains(got.stderr, "command not found") || got.exit == 127 {
							absent.Add(1)
						}
						if c.Kind == "writer" {
							at.unchanged(t, command, answer.command)
							writers[i] = at
							return
						}
						bare := w.copy(t, strconv.Itoa(i)+"-bare")
						want := w.run(t, bare, bare.fill(c.Command))
						if strings.HasPrefix(command, "rg ") { // its threads print files as they find them
							got.stdout, want.stdout = inOrder(got.stdout), inOrder(want.stdout)
						}
						if diff := got.differs(want); diff != "" {
							for n := range 4 { // what a program sorts by time comes out alike now and then
								again := w.copy(t, fmt.Sprintf("%d-again-%d", i, n))
								if other := w.run(t, again, again.fill(c.Command)); other.differs(want) != "" && other.exit == got.exit && other.dir == got.dir {
									return // it runs otherwise each time
								}
							}
							t.Errorf("%s runs otherwise than without Writ: %s\nas %s", command, diff, answer.command)
						}
					})
				}
			})
			for i, at := range writers { // what was left running had the time of the others
				if at.repo != "" {
					at.unchanged(t, cases[i].Command, "what it left running")
				}
			}
			t.Logf("%d commands: %d ran rewritten, %d were asked for or refused, %d name a program that is not installed",
				len(cases), held.Load(), asked.Load(), absent.Load())
		})
	}
}

// TestASecondNameIsNoWayIn: a file that has another name where commands may write –
// in a temp folder, in a cache of the project – is not written by that name. The
// same command is tried without the hook first, and reaches the file there.
func TestASecondNameIsNoWayIn(t *testing.T) {
	t.Parallel()
	w := newShellWorld(t, os.Geteuid())
	for i, command := range []string{
		"echo evil > {tmp}/second", "cp notes.txt {tmp}/second", "python3 -c 'open(\"/\".join([\"{tmp}\", \"sec\" + \"ond\"]), \"a\").write(\"evil\")'",
		"python3 -c 'open(\".pytest_cache/sec\" + \"ond\", \"a\").write(\"evil\")'", "sh -c \"$(cat untracked.txt)\"; perl -e 'open(F, \">>.pytest_cache/second\"); print F 1'",
	} {
		lay := func(at shellCopy) {
			t.Helper()
			cache := filepath.Join(at.repo, ".pytest_cache")
			if err := os.Mkdir(cache, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{cache, at.temp} {
				if err := os.Link(filepath.Join(at.repo, "src/main.go"), filepath.Join(dir, "second")); err != nil {
					t.Fatal(err)
				}
			}
		}
		bare := w.copy(t, fmt.Sprint("bare-", i))
		lay(bare)
		w.run(t, bare, bare.fill(command))
		if raw, err := os.ReadFile(filepath.Join(bare.repo, "src/main.go")); err != nil || string(raw) == shellFiles["src/main.go"] {
			t.Errorf("%s reaches nothing: %v", command, err)
		}
		at := w.copy(t, fmt.Sprint("linked-", i))
		lay(at)
		answer := w.judge(t, at, at.fill(command))
		if answer.verdict == "" || answer.verdict == "allow" {
			w.run(t, at, answer.command)
		} else if !strings.Contains(answer.reason, "second") {
			t.Errorf("%s: %s: %s", command, answer.verdict, answer.reason)
		}
		if raw, err := os.ReadFile(filepath.Join(at.repo, "src/main.go")); err != nil || string(raw) != shellFiles["src/main.go"] {
			t.Errorf("%s wrote src/main.go: %v, %s", command, err, answer.command)
		}
		if answer := w.judge(t, at, "cat src/main.go"); answer.verdict != "" && answer.verdict != "allow" {
			t.Errorf("a reader is %s: %s", answer.verdict, answer.reason)
		}
	}
}

// tried are the cases of a run. Each takes a tenth of a second of processor time.
func tried(all []shellRun) (some []shellRun) {
	if os.Getenv(shellRunUser) != "" || os.Getenv(conformance.DirVar) != "" {
		return all
	}
	for i := 0; i < len(all); i += integration.Rounds(18, 6) {
		some = append(some, all[i])
	}
	return some
}

// shellRunUser is the variable that names the one user to try, or all.
const shellRunUser = "WRIT_TEST_SHELL_RUN_USER"

// shellUsers are the users to try: an ordinary one, since each takes as long
// again, and root as well for cases from elsewhere; or whoever is asked for.
func shellUsers() map[string]int {
	all := map[string]int{"root": 0, "user": 1000}
	switch one := os.Getenv(shellRunUser); {
	case os.Geteuid() != 0:
		return map[string]int{"user": os.Geteuid()}
	case one == "all", one == "" && os.Getenv(conformance.DirVar) != "":
		return all
	case one != "":
		return map[string]int{one: all[one]}
	}
	return map[string]int{"user": 1000}
}

// shellWorld is a daemon of one user's, and the repository that is copied for
// each command.
type shellWorld struct {
	uid  int
	base string
	env  []string
	hook *bus.Conn
}

func newShellWorld(t *testing.T, uid int) *shellWorld {
	t.Helper()
	base, err := os.MkdirTemp("", "writ-shell-run-") //nolint:usetesting // other users cannot reach the folder of a test
	if err != nil {
		t.Fatal(err)
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	w := &shellWorld{uid: uid, base: base}
	home, data := filepath.Join(base, "home"), filepath.Join(base, "home", ".local", "state", "writ")
	programsAt := filepath.Join(base, "bin")
	for _, dir := range []string{filepath.Join(home, ".rustup"), filepath.Dir(data), programsAt} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"writ", "writd"} {
		raw, err := os.ReadFile(filepath.Join(bin, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(programsAt, name), raw, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := settle(data); err != nil {
		t.Fatal(err)
	}
	w.env = []string{
		"PATH=" + programsAt + ":" + os.Getenv("PATH"), "HOME=" + home, "WRIT_HOME=" + data, "WRIT_DURABILITY=interval",
		"RUSTUP_HOME=" + filepath.Join(os.Getenv("HOME"), ".rustup"),
		"LANG=C.UTF-8", "TERM=dumb", "GIT_CONFIG_NOSYSTEM=1", "USER=writ", "SHELL=/bin/bash", "GOFLAGS=-mod=mod", "NPM_CONFIG_UPDATE_NOTIFIER=false",
	}
	if uid == os.Geteuid() {
		// An ordinary user would build the standard library first.
		w.env = append(w.env, "GOCACHE="+strings.TrimSpace(output(t, "go", "env", "GOCACHE")))
	} else {
		w.env[0] = "PATH=" + programsAt + ":/usr/local/bin:/usr/bin:/bin"
	}
	w.template(t)
	w.own(t, base)
	daemon := w.program(t.Context(), base, filepath.Join(programsAt, "writd"))
	stdout, err := daemon.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	daemon.Stderr = &said
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = daemon.Process.Kill(); _ = daemon.Wait() })
	if _, err := stdout.Read(make([]byte, 200)); err != nil {
		t.Fatalf("the daemon did not start: %v\n%s", err, said.Bytes())
	}
	w.hook = w.connect(t, data)
	for tries := 0; ; tries++ { // the rules that ship are brought in beside the services
		out, err := w.program(t.Context(), base, filepath.Join(programsAt, "writ"), "query", "retry").CombinedOutput()
		if err == nil {
			return w
		}
		if tries == 1000 {
			t.Fatalf("writ query: %v\n%s", err, out)
		}
	}
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func (w *shellWorld) connect(t *testing.T, data string) *bus.Conn {
	t.Helper()
	endpoint, err := programs.Announced(data)
	if err != nil {
		t.Fatal(err)
	}
	credential, err := bus.LoadCredential(filepath.Join(data, "credentials"), "hook")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := bus.Connect(context.Background(), bus.Options{URL: endpoint.URL, User: credential.User, Password: credential.Password, Name: "shell-run", Timeout: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// program is a program as the world's user runs it.
func (w *shellWorld) program(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, w.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if w.uid != os.Geteuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(w.uid), Gid: uint32(w.uid)}
	}
	return cmd
}

func (w *shellWorld) own(t *testing.T, root string) {
	t.Helper()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if w.uid == os.Geteuid() {
		return
	}
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		return cmp.Or(err, os.Lchown(path, w.uid, w.uid))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// shellFiles are those of the repository that shell.jsonl describes, with
// settings of Writ that put every session into work mode.
var shellFiles = map[string]string{
	".writ/config.yaml":     "mode: work\ndeny_to_ask: false\n",
	".claude/settings.json": "{}\n",
	"src/main.go":           "package main\n\nfunc main() {}\n",
	"src/app.py":            "print('app')\n",
	"README.md":             "# Read me\n\nhello\n",
	"notes.txt":             "alpha\nbravo\nalpha\n",
	"second.txt":            "two\n",
	"data.csv":              "a,1\nb,20\n",
	"config.json":           "{\"a\": 1}\n",
	"files.txt":             "l1.txt\nl2.txt\n",
	"package.json":          "{\"name\": \"x\", \"version\": \"1.0.0\", \"scripts\": {\"build\": \"touch src/built.js\"}}\n",
	"Makefile":              "all:\n\ttouch src/made.go\n",
	"sub/Makefile":          "all:\n\ttouch made.go\n",
	"go.mod":                "module example.com/x\n\ngo 1.20\n",
	"gen.go":                "package main\n\n//go:generate touch src/generated.go\n",
	"gomod/go.mod":          "module example.com/m\n\ngo 1.20\n",
	"gomod/m.go":            "package m\n",
	"gomod/m_test.go":       "package m\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {}\n",
	"localdep/package.json": "{\"name\": \"dep\", \"version\": \"1.0.0\"}\n",
	"prog.c":                "int main(void) { return 0; }\n",
	"a.patch":               "--- a/notes.txt\n+++ b/notes.txt\n@@ -1,3 +1,3 @@\n-alpha\n+ALPHA\n bravo\n alpha\n",
	"scripts/write.sh":      "#!/bin/sh\ntouch src/pwn.go\n",
	"scripts/w.py":          "open('src/pwn.go', 'w')\n",
	"scripts/w.sql":         ".once src/pwn.go\nselect 1;\n",
	"evilbin/ls":            "#!/bin/sh\ntouch src/pwn.go\n",
}

// template makes the repository, once a world.
func (w *shellWorld) template(t *testing.T) {
	t.Helper()
	root := filepath.Join(w.base, "template", "repo")
	for name, content := range shellFiles {
		path := filepath.Join(root, name)
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(content, "#!") {
			mode = 0o755
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), mode)); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"emptydir", "../outside"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script := `set -e
git init -q -b main; git config user.name writ; git config user.email writ@example.com; git config commit.gpgsign false
ln -s src/main.go link; ln -s ../outside linkdir
tar cf archive.tar README.md
command -v zip >/dev/null && zip -q archive.zip README.md || cp archive.tar archive.zip
rm -f .git/hooks/*.sample
git add -A; git commit -q -m first
git branch other; echo more >> notes.txt; git commit -q -am second
echo stashed >> second.txt; git stash -q
echo untracked > untracked.txt`
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir, cmd.Env = root, append(slices.Clone(w.env), "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// shellCopy is the repository of one command.
type shellCopy struct {
	base, repo, temp string
	uid              int
	before           map[string]string
}

func (w *shellWorld) copy(t *testing.T, name string) shellCopy {
	t.Helper()
	at := shellCopy{uid: w.uid, base: filepath.Join(w.base, "runs", name)}
	at.repo, at.temp = filepath.Join(at.base, "repo"), filepath.Join(at.base, "tmp")
	if err := os.MkdirAll(at.temp, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(at.base, os.DirFS(filepath.Join(w.base, "template"))); err != nil {
		t.Fatal(err)
	}
	w.own(t, at.base)
	at.before = at.tree(t)
	return at
}

func (c shellCopy) fill(command string) string {
	return strings.NewReplacer("{repo}", c.repo, "{tmp}", c.temp).Replace(command)
}

// tree is what stands in the repository outside .git, and what is protected in
// there, with its content.
func (c shellCopy) tree(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(c.repo, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(c.repo, path)
		if strings.HasPrefix(rel, ".git/") && d.IsDir() && rel != ".git/hooks" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case rel == "plan.md", rel == "capabilities.md", strings.HasPrefix(rel, ".git/") && rel != ".git/config" && filepath.Dir(rel) != ".git/hooks":
			return nil
		case d.IsDir():
			all[rel] = "folder"
		case info.Mode().Type() == fs.ModeSymlink:
			all[rel], err = os.Readlink(path)
		case !info.Mode().IsRegular(): // a pipe has a reader wait
			all[rel] = info.Mode().String()
		default:
			raw, readErr := os.ReadFile(path)
			all[rel], err = fmt.Sprintf("%o %s", info.Mode().Perm(), raw), readErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// unchanged fails for what differs now, and a second later where something may
// still run.
func (c shellCopy) unchanged(t *testing.T, command, ran string) {
	t.Helper()
	now := c.tree(t)
	for _, name := range slices.Sorted(keysOf(c.before, now)) {
		if now[name] != c.before[name] {
			t.Errorf("%s changed %s:\n%q\n%q\nas %s", command, name, c.before[name], now[name], ran)
		}
	}
}

func keysOf(maps ...map[string]string) func(func(string) bool) {
	all := map[string]bool{}
	for _, m := range maps {
		for k := range m {
			all[k] = true
		}
	}
	return func(yield func(string) bool) {
		for k := range all {
			if !yield(k) {
				return
			}
		}
	}
}

type shellAnswer struct{ verdict, reason, command string }

// hears sends an event of Claude Code's to the hook.
func (w *shellWorld) hears(t *testing.T, at shellCopy, event string, payload map[string]any) (said schemas.HookReply) {
	t.Helper()
	payload["session_id"], payload["cwd"], payload["permission_mode"], payload["hook_event_name"] = filepath.Base(at.base), at.repo, "default", event
	raw, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := w.hook.Request(t.Context(), bus.Request{Subject: schemas.SvcHook, Body: raw, Header: schemas.Header{
		schemas.HookHeaderAgent: {"claude"}, schemas.HookHeaderEvent: {event},
		schemas.HookHeaderDir: {at.repo}, schemas.HookHeaderProject: {at.repo}, schemas.HookHeaderHome: {filepath.Join(w.base, "home")},
	}})
	if err == nil {
		err = json.Unmarshal(reply.Body, &said)
	}
	if err != nil {
		t.Fatal(err)
	}
	return said
}

// judge asks the hook of Claude Code in a session of its own.
func (w *shellWorld) judge(t *testing.T, at shellCopy, command string) shellAnswer {
	t.Helper()
	said := w.hears(t, at, "PreToolUse", map[string]any{
		"tool_name": "Bash", "tool_use_id": "t1", "tool_input": map[string]any{"command": command, "description": "x"},
	})
	var out struct {
		HookSpecificOutput struct {
			PermissionDecision       string
			PermissionDecisionReason string
			UpdatedInput             struct{ Command string }
		}
	}
	if said.Stdout != "" {
		if err := json.Unmarshal([]byte(said.Stdout), &out); err != nil {
			t.Fatalf("%v\n%s", err, said.Stdout)
		}
	}
	h := out.HookSpecificOutput
	return shellAnswer{h.PermissionDecision, h.PermissionDecisionReason, cmp.Or(h.UpdatedInput.Command, command)}
}

// ran is what a command did that shows outside the repository.
type ran struct {
	exit           int
	stdout, stderr string
	dir            string
}

// maxShellRun bounds a command that waits for what does not come.
const maxShellRun = time.Minute

// run runs a command as a host does: in a shell that lives on, and reports where
// it stands afterwards.
func (w *shellWorld) run(t *testing.T, at shellCopy, command string) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), maxShellRun)
	defer cancel()
	where := filepath.Join(at.temp, "cwd")
	cmd := w.program(ctx, at.repo, "bash", "-c", `eval "$1"; s=$?; pwd -P > "$2"; exit $s`, "bash", command, where)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatalf("%s: %v", command, err)
	}
	dir, _ := os.ReadFile(where)
	rel := strings.TrimSpace(strings.ReplaceAll(string(dir), at.base, ""))
	return ran{cmd.ProcessState.ExitCode(), at.plain(stdout.String()), at.plain(stderr.String()), rel}
}

// changing is what two runs of one command differ in: processes, times,
// memory, names that were drawn.
var changing = regexp.MustCompile(` *\b\d+\b|tmp\.\w+|0x[0-9a-f]+|\b[0-9A-F]{12}0000\b|\b\d+(?:\.\d+)?(?:ms|s)\b`)

func (c shellCopy) plain(out string) string {
	return changing.ReplaceAllString(strings.NewReplacer(c.base, "", fmt.Sprintf("/tmp/writ-confine-%d/", c.uid), "/tmp/").Replace(out), "N")
}

// inOrder sorts the lines of a text.
func inOrder(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}

func (r ran) differs(want ran) string {
	switch {
	case r.exit != want.exit:
		return fmt.Sprintf("exit %d, not %d\n%s%s", r.exit, want.exit, r.stdout, r.stderr)
	case r.stdout != want.stdout:
		return fmt.Sprintf("output\n%s\nnot\n%s", r.stdout, want.stdout)
	case r.stderr != want.stderr:
		return fmt.Sprintf("errors\n%s\nnot\n%s", r.stderr, want.stderr)
	case r.dir != want.dir:
		return fmt.Sprintf("it ends in %s, not %s", r.dir, want.dir)
	}
	return ""
}
