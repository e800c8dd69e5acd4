// Package neo4j holds the tests of writ graph against a real Neo4j, and the
// Maven project that starts one.
package neo4j

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/projections/neo4jmirror"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/programs"
)

// serverURL names a Neo4j whose data may be deleted; test/ci/neo4j.sh starts
// one.
const serverURL = "WRIT_TEST_NEO4J"

// world is a data directory with the programs that use it.
type world struct {
	t    *testing.T
	bin  string
	data string
}

func build(t *testing.T) string {
	t.Helper()
	if os.Getenv(serverURL) == "" {
		t.Skip(serverURL + " is not set: it names the Bolt address of a Neo4j whose data may be deleted. test/ci/neo4j.sh starts one.")
	}
	bin, err := programs.Built()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

func TestMain(m *testing.M) { programs.Main(m) }

func newWorld(t *testing.T, bin string) *world {
	w := &world{t: t, bin: bin, data: t.TempDir()}
	// A test has no terminal of its own.
	if err := os.WriteFile(filepath.Join(w.data, "config.yaml"), []byte("scripts: allow\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.kill)
	return w
}

func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(w.bin, "writ"), args...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.data, "WRIT_HOME=" + w.data, "WRIT_DURABILITY=interval",
		"WRIT_NEO4J_URL" + "=" + os.Getenv(serverURL), "WRIT_NEO4J_PASSWORD" + "=" + os.Getenv("WRIT_TEST_NEO4J_PASSWORD"),
		"WRIT_NEO4J_USER" + "=" + cmp.Or(os.Getenv("WRIT_TEST_NEO4J_USER"), "neo4j"),
	}
	cmd.Dir = w.data
	return cmd
}

func (w *world) run(args ...string) string {
	w.t.Helper()
	cmd := w.command(args...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("writ %v: %v\n%s%s", args, err, out, problems.Bytes())
	}
	return string(out)
}

func ask[T any](w *world, args ...string) T {
	w.t.Helper()
	var reply T
	out := w.run(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), &reply); err != nil {
		w.t.Fatalf("writ %v: %v\n%s", args, err, out)
	}
	return reply
}

// kill ends the daemon as a power cut would.
func (w *world) kill() {
	at, err := programs.Announced(w.data)
	if err != nil {
		return
	}
	if p, err := os.FindProcess(at.PID); err == nil {
		_ = p.Kill()
	}
}

// importRules brings in some rules of a name, each pointing to the one before.
func (w *world) importRules(name string, n int) {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	for i := range n {
		text := fmt.Sprintf("---\nid: %s-%03d\ntitle: number %d\nseverity: low\ntrigger: when %d\nstatement: do %d in this very way\nviolation: no\npass_example: yes\nrationale: so\n", name, i, i, i, i)
		if i > 0 {
			text += fmt.Sprintf("edges:\n  - {type: RELATED_TO, target: %s-%03d}\n", name, i-1)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.md", i)), []byte(text+"---\n"), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	w.run("rule", "import", dir)
}

// graph reads what the database holds, as a pull would.
func graph(t *testing.T) map[string]schemas.Rule {
	t.Helper()
	password := os.Getenv("WRIT_TEST_NEO4J_PASSWORD")
	m, err := neo4jmirror.Open(t.Context(), neo4jmirror.Target{URL: os.Getenv(serverURL), User: cmp.Or(os.Getenv("WRIT_TEST_NEO4J_USER"), "neo4j"), Password: password})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(t.Context()) }()
	pulled, err := m.Pull(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]schemas.Rule{}
	for _, n := range pulled.Nodes {
		nodes[n.ID] = n
	}
	if len(pulled.Skipped) > 0 || len(nodes) != len(pulled.Nodes) {
		t.Fatalf("%d nodes, %d ids, skipped %q", len(pulled.Nodes), len(nodes), pulled.Skipped)
	}
	return nodes
}

// mirrored requires that the database holds what writ rule list lists.
func (w *world) mirrored() {
	w.t.Helper()
	nodes := graph(w.t)
	listed := strings.Split(strings.TrimSpace(w.run("rule", "list", "--json")), "\n")
	if len(listed) != len(nodes) {
		w.t.Errorf("%d nodes in Neo4j, %d rules in Writ", len(nodes), len(listed))
	}
	for _, line := range listed {
		var r schemas.RuleSummary
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			w.t.Fatal(err)
		}
		if nodes[r.ID].Title != r.Title {
			w.t.Errorf("%s: %q, want %q", r.ID, nodes[r.ID].Title, r.Title)
		}
	}
}

func TestGraphFromPushToPull(t *testing.T) {
	bin := build(t)
	w := newWorld(t, bin)
	first := ask[schemas.GraphPushReply](w, "graph", "push", "--replace")
	if !first.Done || first.NodesWritten == 0 || first.EdgesWritten == 0 {
		t.Fatalf("%+v", first)
	}
	w.mirrored()

	w.importRules("ONE-TWO", 5)
	if r := ask[schemas.GraphPushReply](w, "graph", "push"); r.Full || r.NodesWritten != 5 || r.EdgesWritten != 4 {
		t.Errorf("after an import: %+v", r)
	}
	w.run("rule", "retire", "ONE-TWO-004", "--reason", "done with it")
	if r := ask[schemas.GraphPushReply](w, "graph", "push"); r.Full || r.NodesRemoved != 1 || r.EdgesRemoved+r.NodesWritten != 0 {
		t.Errorf("after a retirement: %+v", r)
	}
	w.mirrored()

	// The same Writ finds nothing new in its own mirror; an empty one gets it.
	if r := ask[schemas.GraphPullReply](w, "graph", "pull"); len(r.Import.Imported)+len(r.Import.Problems)+len(r.Skipped) > 0 {
		t.Errorf("its own mirror: %+v", r)
	}
	other := newWorld(t, bin)
	before := other.run("rule", "list", "--json")
	if r := ask[schemas.GraphPullReply](other, "graph", "pull", "--dry-run"); len(r.Import.Imported) != 4 || other.run("rule", "list", "--json") != before {
		t.Errorf("dry run: %+v", r)
	}
	if r := ask[schemas.GraphPullReply](other, "graph", "pull"); len(r.Import.Imported) != 4 {
		t.Errorf("into another: %+v", r)
	}
	if r := ask[schemas.GraphPullReply](other, "graph", "pull"); len(r.Import.Imported) != 0 {
		t.Errorf("twice: %+v", r)
	}
	view := ask[schemas.GraphView](other, "graph", "show", "ONE-TWO-001", "--depth", "1")
	if len(view.Nodes) != 3 || len(view.Edges) != 2 {
		t.Errorf("%+v", view)
	}
	// Another log must not overwrite the mirror by accident.
	if out, err := other.command("graph", "push").CombinedOutput(); err == nil || !strings.Contains(string(out), "--replace") {
		t.Errorf("%v: %s", err, out)
	}
	w.mirrored()
}

// TestFollowSurvivesItsDaemon lets a follower push while the daemon is killed
// again and again under it.
func TestFollowSurvivesItsDaemon(t *testing.T) {
	w := newWorld(t, build(t))
	cmd := w.command("graph", "push", "--replace", "--follow", "--json")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	lines := bufio.NewScanner(out)
	pushed := func(what string, enough func(schemas.GraphPushReply) bool) {
		t.Helper()
		for lines.Scan() {
			var r schemas.GraphPushReply
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			if enough(r) {
				return
			}
		}
		t.Fatalf("the follower ended before %s", what)
	}
	pushed("the first push", func(r schemas.GraphPushReply) bool { return r.Full })
	nodes := len(graph(t))
	for round := range 3 {
		w.kill()
		w.importRules(fmt.Sprintf("ROUND-N%d", round), 3)
		nodes += 3
		pushed("an import was mirrored", func(r schemas.GraphPushReply) bool { return r.Nodes == nodes })
		w.mirrored()
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		t.Logf("at the end: %s", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v", err)
	}
}
