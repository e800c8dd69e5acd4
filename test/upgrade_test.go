package test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/filelock"
)

// newer is the version of the programs that take the place of those under test.
const newer = "7.0.0"

// released is where a program notes the version of its module.
var released = regexp.MustCompile(`(\tgithub\.com/writbus/writ\t)([^\t\n]{6,})`)

// aNewerRelease are copies of both programs under test that note a later version, as
// those of its tag do. Linking them would take longer than all the rest of the test.
func aNewerRelease(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, program := range []string{"writ", "writd"} {
		raw, err := os.ReadFile(filepath.Join(bin, program))
		if err != nil {
			t.Fatal(err)
		}
		noted := 0
		for _, at := range released.FindAllSubmatchIndex(raw, -1) {
			noted += copy(raw[at[4]:at[5]], "v"+newer+"+"+strings.Repeat("x", at[5]-at[4]))
		}
		if noted == 0 {
			t.Fatalf("%s notes no version", program)
		}
		path := filepath.Join(dir, program)
		if err := os.WriteFile(path, raw, 0o755); err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS == "darwin" { // it runs what is signed alone
			if out, err := exec.Command("codesign", "--force", "--sign", "-", path).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
	}
	return dir
}

// upgraded is a data folder with a guarded project, and programs of two versions.
type upgraded struct {
	t             *testing.T
	data, project string
	env           []string
}

func (u *upgraded) command(dir, stdin string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(dir, "writ"), args...)
	cmd.Dir, cmd.Env, cmd.Stdin = u.project, u.env, strings.NewReader(stdin)
	return cmd
}

func (u *upgraded) run(dir string, args ...string) string {
	u.t.Helper()
	out, err := u.command(dir, "", args...).CombinedOutput()
	if err != nil {
		u.t.Fatalf("writ %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (u *upgraded) status(dir string) (s schemas.Status) {
	u.t.Helper()
	if err := json.Unmarshal([]byte(u.run(dir, "status", "--json")), &s); err != nil {
		u.t.Fatal(err)
	}
	return s
}

// write is a hook that asks for a plan to be written; it returns what it printed
// where it was not allowed.
func (u *upgraded) write(dir, session, content string) string {
	payload := hookPayload(u.project, session, "Write", fmt.Sprintf(`{"file_path":%q,"content":%q}`, filepath.Join(u.project, "plan.md"), content))
	out, err := u.command(dir, payload, "hook", "claude", "PreToolUse").CombinedOutput()
	if err != nil || strings.Contains(string(out), "deny") {
		return fmt.Sprintf("%v: %s", err, out)
	}
	return ""
}

// TestANewerVersionTakesOver has real programs of two versions at one data
// folder: `writ up` of the newer replaces the daemon while hooks of both go on, and
// none of them is refused or lost.
func TestANewerVersionTakesOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	u := &upgraded{t: t, data: filepath.Join(dir, "data"), project: filepath.Join(dir, "project")}
	u.env = append(os.Environ(), "WRIT_HOME="+u.data, "HOME="+dir, "WRIT_DURABILITY=interval", "WRIT_HOOK_BUDGET=9s")
	if err := errors.Join(os.MkdirAll(u.project, 0o755), settle(u.data)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = u.command(bin, "", "down").Run()
		_ = killDaemon(u.data)
	})
	later := aNewerRelease(t)
	u.run(bin, "init")
	u.run(bin, "up", "--detach")
	before := u.status(bin)

	var hooks sync.WaitGroup
	taken := make(chan struct{})
	acknowledged := make([]int, 4)
	for worker := range acknowledged {
		program := []string{bin, later}[worker%2]
		hooks.Go(func() {
			for done := false; !done; acknowledged[worker]++ {
				select {
				case <-taken:
					done = true // this is the last
				default:
				}
				if worker%2 == 1 && !done && acknowledged[worker] == 0 {
					<-taken // of the newer version only from then on, so that up is what replaces
				}
				session := fmt.Sprint("s", worker)
				if refused := u.write(program, session, fmt.Sprint("a plan ", acknowledged[worker])); refused != "" {
					t.Errorf("hook %d of %s: %s", acknowledged[worker], session, refused)
				}
			}
		})
	}
	u.run(later, "up", "--detach")
	close(taken)
	hooks.Wait()
	after := u.status(later)
	if after.Version != newer || after.PID == before.PID {
		t.Fatalf("the daemon is %s, process %d, and was process %d", after.Version, after.PID, before.PID)
	}
	for worker, n := range acknowledged {
		var shown schemas.SessionView
		if err := json.Unmarshal([]byte(u.run(later, "session", "show", fmt.Sprint("s", worker), "--json")), &shown); err != nil {
			t.Fatal(err)
		}
		if shown.Events < n {
			t.Errorf("session %d has %d events of %d hooks", worker, shown.Events, n)
		}
	}
	u.olderClient(later, after)
	u.newerProtocol(later)
}

// olderClient goes on with a newer daemon of its own protocol.
func (u *upgraded) olderClient(later string, daemon schemas.Status) {
	u.t.Helper()
	if refused := u.write(bin, "s0", "of an older program"); refused != "" {
		u.t.Errorf("an older hook: %s", refused)
	}
	if out := u.run(bin, "up", "--detach"); !strings.Contains(out, "already runs") {
		u.t.Errorf("an older up: %s", out)
	}
	if now := u.status(later); now.PID != daemon.PID {
		u.t.Errorf("an older program replaced the daemon: process %d, was %d", now.PID, daemon.PID)
	}
	// Where the writd beside a client is no newer, the daemon that runs is good.
	mixed := u.t.TempDir()
	for name, from := range map[string]string{"writ": later, "writd": bin} {
		if err := os.Link(filepath.Join(from, name), filepath.Join(mixed, name)); err != nil {
			u.t.Fatal(err)
		}
	}
	u.run(bin, "down")
	u.run(bin, "up", "--detach")
	older := u.status(bin)
	if refused := u.write(mixed, "s0", "of a program without its daemon"); refused != "" {
		u.t.Errorf("a newer hook beside an older writd: %s", refused)
	}
	if now := u.status(bin); now.PID != older.PID || now.Version == newer {
		u.t.Errorf("an older daemon was replaced by one as old: %+v", now)
	}
	// Any command of a newer one replaces it.
	u.run(later, "session", "list")
	if now := u.status(later); now.Version != newer {
		u.t.Errorf("the daemon is still %s", now.Version)
	}
}

// newerProtocol is refused with what to do.
func (u *upgraded) newerProtocol(dir string) {
	u.t.Helper()
	path := filepath.Join(u.data, "run", "endpoint.json")
	announced, err := os.ReadFile(path)
	if err != nil {
		u.t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(announced, &fields); err != nil {
		u.t.Fatal(err)
	}
	fields["protocol"], fields["version"] = 999, "99.0.0"
	raw, err := json.Marshal(fields)
	if err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		u.t.Fatal(err)
	}
	defer func() {
		if err := os.WriteFile(path, announced, 0o600); err != nil {
			u.t.Error(err)
		}
	}()
	for _, args := range [][]string{{"status"}, {"up", "--detach"}, {"session", "list"}, {"down"}} {
		out, err := u.command(dir, "", args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "protocol 999") || !strings.Contains(string(out), "writ upgrade") {
			u.t.Errorf("writ %v: %v: %s", args, err, out)
		}
	}
	if refused := u.write(dir, "s0", "x"); !strings.Contains(refused, "protocol 999") {
		u.t.Errorf("a hook of an older protocol: %q", refused)
	}
	if !filelock.Held(filepath.Join(u.data, "daemon.lock")) {
		u.t.Error("the daemon did not stay")
	}
}
