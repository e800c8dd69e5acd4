// Package neo4j holds the tests of writ graph against a real Neo4j, and the
// Maven project that starts one.
package neo4j

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

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

// run is what a command prints. On a busy machine the shipped rules take longer than
// one request waits for them; then it is asked again, as the message says.
func (w *world) run(args ...string) string {
	w.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		cmd := w.command(args...)
		var problems bytes.Buffer
		cmd.Stderr = &problems
		out, err := cmd.Output()
		if err == nil {
			return string(out)
		}
		if !strings.Contains(problems.String(), "still being brought in") || time.Now().After(deadline) {
			w.t.Fatalf("writ %v: %v\n%s%s", args, err, out, problems.Bytes())
		}
	}
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

// file is a rule as its file says it.
func (w *world) file(id string) string {
	w.t.Helper()
	dir := w.t.TempDir()
	w.run("rule", "export", dir)
	var found string
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "\nid: "+id+"\n") {
			found = string(text)
		}
		return err
	})
	if err != nil || found == "" {
		w.t.Fatalf("%s is in no exported file (%v)", id, err)
	}
	return found
}

// edit replaces a word of a rule, as a person does.
func (w *world) edit(id, old, new string) {
	w.t.Helper()
	path := filepath.Join(w.data, "edit.md")
	if err := os.WriteFile(path, []byte(strings.Replace(w.file(id), old, new, 1)), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.run("rule", "edit", id, "--file", path, "--reason", "better")
}

// says requires what a rule says.
func (w *world) says(id, statement string) {
	w.t.Helper()
	if out := w.file(id); !strings.Contains(out, statement) {
		w.t.Errorf("%s does not say %q:\n%s", id, statement, out)
	}
}

// cypher does to the database what a person does in its browser.
func cypher(t *testing.T, query string) {
	t.Helper()
	driver, err := neo4j.NewDriverWithContext(os.Getenv(serverURL), neo4j.BasicAuth(cmp.Or(os.Getenv("WRIT_TEST_NEO4J_USER"), "neo4j"), os.Getenv("WRIT_TEST_NEO4J_PASSWORD"), ""))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.WithoutCancel(t.Context()) // a clean-up's is cancelled
	defer func() { _ = driver.Close(ctx) }()
	if _, err := neo4j.ExecuteQuery(ctx, driver, query, nil, neo4j.EagerResultTransformer); err != nil {
		t.Fatal(err)
	}
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

func idsOf(all []schemas.GraphDifference) string {
	var ids []string
	for _, d := range all {
		ids = append(ids, d.ID+" "+d.Side)
	}
	return strings.Join(ids, ", ")
}

// TestNothingThatAPersonChangedIsOverwritten changes nodes in Neo4j, in Writ and in
// both, deletes some and makes one, and pulls and pushes: what one side changed
// arrives on the other, what both did waits, and nothing is lost.
func TestNothingThatAPersonChangedIsOverwritten(t *testing.T) {
	w := newWorld(t, build(t))
	t.Cleanup(func() { cypher(t, "MATCH (n) DETACH DELETE n") })
	w.importRules("SIDE-N", 8)
	ask[schemas.GraphPushReply](w, "graph", "push", "--replace")

	cypher(t, "MATCH (n:WritNode) WHERE n.id IN ['SIDE-N-000', 'SIDE-N-001', 'SIDE-N-002'] SET n.statement = 'by hand in neo4j'")
	cypher(t, "MATCH (n:WritNode {id: 'SIDE-N-004'}) DETACH DELETE n")
	cypher(t, "MATCH (:WritNode {id: 'SIDE-N-007'})-[r:RELATED_TO]->() DELETE r")
	cypher(t, "MATCH (n:WritNode {id: 'SIDE-N-000'}) CREATE (:Rule {id: 'SIDE-MADE-001', title: 'made', severity: 'low', trigger: 'when made', statement: 'do as made', violation: 'a', pass_example: 'b', rationale: 'c'})-[:RELATED_TO]->(n), (n)-[:LIKES]->(n)")
	w.edit("SIDE-N-001", "do 1 in", "by hand in writ, do 1 in")
	w.edit("SIDE-N-003", "do 3 in", "by hand in writ, do 3 in")
	w.run("rule", "retire", "SIDE-N-002", "--reason", "not any more")
	w.run("rule", "retire", "SIDE-N-006", "--reason", "not any more")

	// A push tells what it does not touch, and brings back what it says is there.
	pushed := ask[schemas.GraphPushReply](w, "graph", "push")
	if got := idsOf(pushed.Differences); got != "SIDE-MADE-001 unknown, SIDE-N-000 neo4j, SIDE-N-001 both, SIDE-N-002 both" {
		t.Errorf("the push left alone %s", got)
	}
	if strings.Join(pushed.Restored, " ") != "SIDE-N-004" {
		t.Errorf("the push restored %q", pushed.Restored)
	}
	held := graph(t)
	for id, want := range map[string]string{"SIDE-N-000": "by hand in neo4j", "SIDE-N-001": "by hand in neo4j", "SIDE-N-002": "by hand in neo4j", "SIDE-N-003": "by hand in writ, do 3 in this very way", "SIDE-N-004": "do 4 in this very way"} {
		if held[id].Statement != want {
			t.Errorf("after the push Neo4j's %s says %q", id, held[id].Statement)
		}
	}
	if len(held["SIDE-N-004"].Edges) != 1 || len(held["SIDE-N-005"].Edges) != 1 {
		t.Errorf("edges are not back: %v, %v", held["SIDE-N-004"].Edges, held["SIDE-N-005"].Edges)
	}

	// Deleted again: the pull says so, and takes no edge from the others.
	cypher(t, "MATCH (n:WritNode {id: 'SIDE-N-004'}) DETACH DELETE n")
	pulled := ask[schemas.GraphPullReply](w, "graph", "pull")
	if got := strings.Join(pulled.Import.Imported, " "); got != "SIDE-N-000 SIDE-MADE-001" && got != "SIDE-MADE-001 SIDE-N-000" {
		t.Errorf("the pull brought in %s", got)
	}
	if got := idsOf(pulled.Waiting); got != "SIDE-N-001 both, SIDE-N-002 both" || strings.Join(pulled.Deleted, " ") != "SIDE-N-004" {
		t.Errorf("waiting %s, deleted %q", got, pulled.Deleted)
	}
	w.says("SIDE-N-000", "by hand in neo4j")
	w.says("SIDE-N-001", "by hand in writ")
	w.says("SIDE-N-003", "by hand in writ")
	w.says("SIDE-N-005", "target: SIDE-N-004")
	w.says("SIDE-MADE-001", "target: SIDE-N-000")
	if again := ask[schemas.GraphPullReply](w, "graph", "pull"); len(again.Import.Imported) > 0 {
		t.Errorf("the same pull again brought in %q", again.Import.Imported)
	}

	// The person decides: Neo4j's of one, Writ's of the other.
	if r := ask[schemas.GraphPullReply](w, "graph", "pull", "--take", "SIDE-N-001"); strings.Join(r.Import.Imported, " ") != "SIDE-N-001" {
		t.Errorf("what was taken did not come in: %+v", r.Import)
	}
	w.says("SIDE-N-001", "by hand in neo4j")
	last := ask[schemas.GraphPushReply](w, "graph", "push", "--overwrite", "SIDE-N-002")
	if len(last.Differences) > 0 {
		t.Errorf("there still differ %s", idsOf(last.Differences))
	}
	w.mirrored()
	if r := ask[schemas.GraphPullReply](w, "graph", "pull"); len(r.Import.Imported)+len(r.Waiting)+len(r.Deleted)+r.Newer > 0 {
		t.Errorf("in the end they are not the same: %+v", r)
	}
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
