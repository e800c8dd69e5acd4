package confine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/writbus/writ/test/integration"
)

// helperArg makes the test binary run a command confined, as `writ confine`
// does: Run works on the standard streams of a process of its own.
const helperArg = "run-confined"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == helperArg {
		var o Options
		if err := json.Unmarshal([]byte(os.Args[len(os.Args)-1]), &o); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(ExitUsage)
		}
		if os.Args[2] == KeptOption {
			o.Since, _ = strconv.ParseInt(os.Args[3], 10, 64)
		}
		o.Vars = os.Environ()
		o.Dir, _ = os.Getwd()
		exit, err := Run(o, os.Stderr)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(exit)
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "writ-confine-test")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		// Other users cannot reach the folder that go test runs this from.
		helper = filepath.Join(dir, "writ-test")
		if err := errors.Join(os.Chmod(dir, 0o755), copySelf(helper)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// helper is this test, where every user may run it.
var helper string

func copySelf(to string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, 0o755)
}

const secret = "the-admin-credential"

// world is a project, a home with Writ's data in it, a folder outside and a
// temp folder, all owned by one user.
type world struct {
	t       testing.TB
	base    string
	uid     int
	project string
	home    string
	data    string
	outside string
	temp    string
}

func needLandlock(t testing.TB) {
	t.Helper()
	if abi, why := Supported(); abi == 0 {
		t.Skip("no confinement here: " + why)
	}
}

func newWorld(t testing.TB, uid int) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, base: base, uid: uid, project: filepath.Join(base, "project"), home: filepath.Join(base, "home"),
		outside: filepath.Join(base, "home", "other"), temp: filepath.Join(base, "temp"),
	}
	w.data = filepath.Join(w.home, ".local", "state", "writ")
	for path, content := range w.files() {
		w.write(path, content)
	}
	for _, dir := range []string{w.temp, filepath.Join(w.project, "tests")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.own()
	return w
}

// files are those that no attack may change, by absolute path.
func (w *world) files() map[string]string {
	return map[string]string{
		filepath.Join(w.project, ".writ", "config.yaml"):         "fail: closed\n",
		filepath.Join(w.project, ".claude", "settings.json"):     "{}\n",
		filepath.Join(w.project, ".git", "HEAD"):                 "ref: refs/heads/main\n",
		filepath.Join(w.project, ".git", "config"):               "[core]\n\tbare = false\n",
		filepath.Join(w.project, ".git", "hooks", "pre-commit"):  "#!/bin/sh\nexit 0\n",
		filepath.Join(w.project, ".git", "objects", "info", "x"): "",
		filepath.Join(w.project, ".git", "refs", "heads", "x"):   "",
		filepath.Join(w.project, "src", "main.go"):               "package main\n",
		filepath.Join(w.project, "plan.md"):                      "# Plan\n",
		filepath.Join(w.outside, "file"):                         "outside\n",
		filepath.Join(w.data, "credentials", "admin.json"):       secret + "\n",
		filepath.Join(w.data, "credentials", "agent.json"):       "the agent's own\n",
	}
}

func (w *world) write(path, content string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// own gives everything to the world's user.
func (w *world) own() {
	w.t.Helper()
	if w.uid == os.Geteuid() {
		return
	}
	err := filepath.WalkDir(w.base, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, w.uid, w.uid)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(w.base), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) vars() []string {
	return []string{
		"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + w.home, "TMPDIR=" + w.temp,
		"P=" + w.project, "O=" + w.outside, "D=" + w.data, "T=" + w.temp, "SELF=" + helper,
		"GIT_CONFIG_NOSYSTEM=1", "GORACE=" + os.Getenv("GORACE"), // whose detector waits at each process's end
	}
}

func (w *world) options(p Profile, args ...string) Options {
	return Options{
		Profile: p, Project: w.project, Home: w.home, DataDir: w.data, Args: args,
		Reveal: []string{filepath.Join(w.data, "credentials", "agent.json")},
	}
}

// confined is a command that is held to a profile.
func (w *world) confined(o Options) *exec.Cmd {
	w.t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.plain(helper, helperArg, string(o.Profile), "--", string(raw))
}

// plain is a command of the world's user.
func (w *world) plain(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir, c.Env = w.project, w.vars()
	as(c, w.uid)
	return c
}

// run runs a shell script confined.
func (w *world) run(p Profile, script string) (out string, exit int) {
	w.t.Helper()
	return w.result(w.confined(w.options(p, "/bin/sh", "-c", script)))
}

func (w *world) result(c *exec.Cmd) (out string, exit int) {
	w.t.Helper()
	raw, err := c.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		w.t.Fatal(err)
	}
	return string(raw), c.ProcessState.ExitCode()
}

// harm names what is not as it was, and where the secret got to.
func (w *world) harm(out string) []string {
	w.t.Helper()
	var found []string
	for path, content := range w.files() {
		if raw, err := os.ReadFile(path); err != nil || string(raw) != content {
			found = append(found, fmt.Sprintf("%s holds %q (%v)", path, raw, err))
		}
	}
	if _, err := os.Lstat(filepath.Join(w.temp, "pwned")); err == nil {
		found = append(found, "the attack says that it worked")
	}
	if strings.Contains(out, secret) {
		found = append(found, "the credential was read")
	}
	entries, err := os.ReadDir(w.outside)
	if err != nil || len(entries) != 1 {
		found = append(found, fmt.Sprintf("the folder outside has %d entries (%v)", len(entries), err))
	}
	return found
}

// users are those that tests run commands as: whoever runs them, where that is root an
// ordinary user instead, and both where all tests run, unless they run in short.
func users() map[string]int {
	all := everybody()
	if testing.Short() || !integration.Wanted() {
		delete(all, "root")
	}
	return all
}

// everybody are those that there are: the user of the tests, or root and an ordinary one.
func everybody() map[string]int {
	if os.Geteuid() != 0 {
		return map[string]int{"user": os.Geteuid()}
	}
	return map[string]int{"root": 0, "user": 65534}
}

func contains(t testing.TB, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("no %q in:\n%s", part, bytes.TrimSpace([]byte(text)))
	}
}
