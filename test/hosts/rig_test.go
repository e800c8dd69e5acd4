package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/test/hosts/script"
)

// patience bounds one run of an agent on a machine under load.
const patience = 10 * time.Minute

// rig is a project under guard, an agent with a home of its own, and the model
// that it talks to.
type rig struct {
	t       *testing.T
	agent   agent
	model   *script.Server
	url     string
	home    string
	project string
	vars    []string
}

// folders are where the script put the agents and Writ, "" without it.
func folders(t *testing.T) (agents, bin string) {
	t.Helper()
	agents, bin = os.Getenv("WRIT_TEST_HOSTS"), os.Getenv("WRIT_TEST_BIN")
	if agents == "" || bin == "" {
		t.Skip("test/ci/hosts.sh installs the agents and runs this")
	}
	return agents, bin
}

// guarded makes a project, puts it under guard, and starts its daemon.
func guarded(t *testing.T, a agent) *rig {
	t.Helper()
	r := bare(t, a)
	r.sitsAt("script")
	r.write(".writ/config.yaml", "test_wait: 1m\n") // a run in the background would outlive the folder
	r.must("writ", "init", "--agent", a.name)
	r.must("writ", "up", "--detach")
	t.Cleanup(func() { _, _ = r.run("writ", "down") })
	for out, err := r.run("writ", "rule", "list"); err != nil; out, err = r.run("writ", "rule", "list") {
		if !strings.Contains(out, "still being brought in") { // it waits for some seconds each time
			t.Fatal(out)
		}
	}
	return r
}

// bare makes a project that nothing guards.
func bare(t *testing.T, a agent) *rig {
	t.Helper()
	agents, bin := folders(t)
	program := filepath.Join(agents, a.name, "node_modules", ".bin", a.program)
	if _, err := os.Stat(program); err != nil {
		t.Skipf("%s could not be installed: %v", a.name, err)
	}
	work := t.TempDir()
	r := &rig{
		t: t, agent: a, home: filepath.Join(work, "home"), project: filepath.Join(work, "shop"),
		model: &script.Server{Scripts: a.scripts(filepath.Join(work, "shop"), filepath.Join(bin, "writ"))},
	}
	server := httptest.NewServer(r.model)
	t.Cleanup(server.Close)
	r.url = server.URL
	for _, dir := range []string{r.home, r.project} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.vars = []string{
		"HOME=" + r.home, "WRIT_HOME=" + filepath.Join(work, "data"), "TERM=xterm-256color", "LANG=C.UTF-8", "NO_UPDATE_NOTIFIER=1",
		"GOCACHE=" + os.Getenv("GOCACHE"),
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
	}
	r.agent.program = program
	if a.prepare != nil {
		a.prepare(r)
	}
	r.write("go.mod", "module example.com/shop\n\ngo 1.24\n")
	r.must("git", "init", "-q", ".")
	r.must("git", "add", ".")
	r.must("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "begin")
	return r
}

// run runs a command in the project and returns what it printed.
func (r *rig) run(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, v := range r.vars {
		if path, found := strings.CutPrefix(v, "PATH="); found && !strings.ContainsRune(name, '/') {
			for _, dir := range filepath.SplitList(path) {
				if at, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
					name = at
					break
				}
			}
		}
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.project, r.vars, time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

func (r *rig) must(name string, args ...string) string {
	r.t.Helper()
	out, err := r.run(name, args...)
	if err != nil {
		r.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

func (r *rig) write(path, content string) {
	r.t.Helper()
	full := filepath.Join(r.project, filepath.FromSlash(path))
	if strings.HasPrefix(path, "~/") {
		full = filepath.Join(r.home, path[2:])
	}
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// has says whether a file of the project is there.
func (r *rig) has(path string) bool {
	_, err := os.Stat(filepath.Join(r.project, path))
	return err == nil
}

// turn has the agent answer a prompt, and returns what the model was sent for
// it: what was said to it beside the prompt, and the results of its tools.
func (r *rig) turn(prompt string) (told string, results []string) {
	r.t.Helper()
	before := len(r.model.Asked())
	out, err := r.run(r.agent.program, r.agent.args(r, prompt)...)
	if err != nil {
		r.t.Logf("%s ended with %v:\n%s", r.agent.name, err, tail(out))
	}
	var last script.Request
	for _, request := range r.model.Asked()[before:] {
		if len(request.Tools) > 0 {
			last = request
		}
	}
	if len(last.Turns) == 0 {
		r.t.Fatalf("%s asked its model nothing:\n%s", r.agent.name, tail(out))
	}
	var said []string
	for _, turn := range last.Turns {
		switch turn.Role {
		case "tool":
			results = append(results, turn.Text)
		case "user", "system":
			said = append(said, turn.Text)
		}
		if strings.Contains(turn.Text, prompt) && turn.Role == "user" {
			results = nil
		}
	}
	return strings.Join(said, "\n"), results
}

func tail(text string) string { return text[max(0, len(text)-3000):] }

// session is the newest of the project.
func (r *rig) session() (id, phase string) {
	r.t.Helper()
	line, _, _ := strings.Cut(r.must("writ", "session", "list", "--json"), "\n")
	var s struct{ Session, Phase string }
	if err := json.Unmarshal([]byte(line), &s); err != nil {
		r.t.Fatalf("%v: %s", err, line)
	}
	var shown struct{ Phase string }
	if err := json.Unmarshal([]byte(r.must("writ", "session", "show", s.Session, "--json")), &shown); err != nil {
		r.t.Fatal(err)
	}
	return s.Session, shown.Phase
}

// events are those of the log, by their types.
func (r *rig) events(session string) string {
	return r.must("writ", "replay", "--session", session, "--json")
}

// sitsAt says in the settings that a person sits at terminals which a program
// holds: where these tests run, none does.
func (r *rig) sitsAt(program string) {
	r.t.Helper()
	data := filepath.Join(filepath.Dir(r.home), "data")
	err := os.MkdirAll(data, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(data, "config.yaml"), []byte("terminals: ["+program+"]\n"), 0o600)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}
