package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

var drawn = schemas.GraphView{
	ID: "A-B-001", Depth: 2,
	Nodes: []schemas.GraphNode{
		{ID: "A-B-001", Type: schemas.NodeRule, Title: `Say "why" & <how>`, Severity: "high", Domain: "go"},
		{ID: "A-B-002", Type: schemas.NodeSkill, Title: "Ask", Distance: 1},
		{ID: "A-B-003", Type: schemas.NodeRule, Title: "Both", Severity: "low", Distance: 1},
		{ID: "A-B-004", Type: schemas.NodeRule, Title: "Far", Distance: 2},
		{ID: "A-B-009", Distance: 2, Missing: true},
	},
	Edges: []schemas.GraphEdge{
		{From: "A-B-001", Type: "CONFLICTS_WITH", To: "A-B-001"},
		{From: "A-B-001", Type: "RELATED_TO", To: "A-B-003"},
		{From: "A-B-002", Type: "DEPENDS_ON", To: "A-B-004"},
		{From: "A-B-002", Type: "TEACHES", To: "A-B-001"},
		{From: "A-B-003", Type: "DEPENDS_ON", To: "A-B-004"},
		{From: "A-B-003", Type: "DEPENDS_ON", To: "A-B-009"},
		{From: "A-B-003", Type: "RELATED_TO", To: "A-B-001"},
	},
}

func TestGraphShow(t *testing.T) {
	s := &services{replies: map[string]any{schemas.SvcGraph: drawn}}
	for format, want := range map[string]string{
		"text": `A-B-001  Say "why" & <how>
high · go
├─ CONFLICTS_WITH → A-B-001 (itself)
├─ RELATED_TO ↔ A-B-003  Both  low
│  ├─ DEPENDS_ON → A-B-004 (shown elsewhere)
│  └─ DEPENDS_ON → A-B-009 (not in the graph)
└─ TEACHES ← A-B-002  Ask  Skill
   └─ DEPENDS_ON → A-B-004  Far
`,
		"dot": `digraph writ {
  rankdir=LR;
  node [shape=box, style=rounded];
  "A-B-001" [label="A-B-001\nSay \"why\" & <how>", style="rounded,bold"];
  "A-B-002" [label="A-B-002\nAsk", shape=ellipse, tooltip="Skill"];
  "A-B-003" [label="A-B-003\nBoth"];
  "A-B-004" [label="A-B-004\nFar"];
  "A-B-009" [label="A-B-009", style=dashed];
  "A-B-001" -> "A-B-001" [label="CONFLICTS_WITH"];
  "A-B-001" -> "A-B-003" [label="RELATED_TO"];
  "A-B-002" -> "A-B-004" [label="DEPENDS_ON"];
  "A-B-002" -> "A-B-001" [label="TEACHES"];
  "A-B-003" -> "A-B-004" [label="DEPENDS_ON"];
  "A-B-003" -> "A-B-009" [label="DEPENDS_ON"];
  "A-B-003" -> "A-B-001" [label="RELATED_TO"];
}
`,
		"mermaid": `flowchart LR
  n0["A-B-001<br/>Say &quot;why&quot; &amp; &lt;how&gt;"]
  n1(["A-B-002<br/>Ask"])
  n2["A-B-003<br/>Both"]
  n3["A-B-004<br/>Far"]
  n4["A-B-009"]
  style n4 stroke-dasharray: 5 5
  n0 -->|"CONFLICTS_WITH"| n0
  n0 -->|"RELATED_TO"| n2
  n1 -->|"DEPENDS_ON"| n3
  n1 -->|"TEACHES"| n0
  n2 -->|"DEPENDS_ON"| n3
  n2 -->|"DEPENDS_ON"| n4
  n2 -->|"RELATED_TO"| n0
  style n0 stroke-width:3px
`,
	} {
		if r := s.run(t, "", "graph", "show", "A-B-001", "--format", format); r.out != want || r.code != 0 || r.err != "" {
			t.Errorf("%s, exit %d, %s:\n%s\nwant\n%s", format, r.code, r.err, r.out, want)
		}
	}
	var back schemas.GraphView
	r := s.run(t, "", "graph", "show", "A-B-001", "--depth", "3", "--json")
	if err := json.Unmarshal([]byte(r.out), &back); err != nil || len(back.Edges) != 7 {
		t.Errorf("%v: %s", err, r.out)
	}
	if asked := s.asked[schemas.SvcGraph]; asked[len(asked)-1] != `{"id":"A-B-001","depth":3}` {
		t.Errorf("asked %s", asked)
	}
	for _, args := range [][]string{{"--format", "svg"}, {"--depth", "0"}, {"B", "C"}} {
		if r := s.run(t, "", append([]string{"graph", "show", "A-B-001"}, args...)...); r.code != client.ExitUsage {
			t.Errorf("%q: exit %d", args, r.code)
		}
	}
}

func TestGraphPushAsksUntilDone(t *testing.T) {
	steps := []schemas.GraphPushReply{
		{Full: true, Reason: "first push", Phase: "nodes", Position: 5, Nodes: 3, Edges: 2, NodesWritten: 2},
		{Full: true, Resumed: true, Phase: "sweep", Position: 5, Nodes: 3, Edges: 2, NodesWritten: 1, EdgesWritten: 2},
		{Done: true, Phase: "live", Position: 9, Nodes: 3, Edges: 2, NodesRemoved: 4, Kept: 1, Dangling: 2},
	}
	at := 0
	s := &services{replies: map[string]any{schemas.SvcGraphPush: func(string) any { at++; return steps[at-1] }}}
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("from the file\nnot this"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := client.Env{Vars: []string{"WRIT_NEO4J_PASSWORD=from the environment", "WRIT_NEO4J_USER=me"}}
	r := s.runIn(t, env, "", "graph", "push", "--url", "bolt://h", "--password-file", password)
	want := `The mirror holds 3 nodes and 2 edges, up to event 9.
  written 3 nodes, 2 edges; deleted 4 nodes, 0 edges
  1 node that left the graph is kept, marked writ_stale: relationships of others hang on it
  2 edges were left out: their targets are not in the graph
`
	if r.out != want || r.code != 0 {
		t.Errorf("exit %d, %s:\n%s", r.code, r.err, r.out)
	}
	for _, body := range s.asked[schemas.SvcGraphPush] {
		if body != `{"target":{"url":"bolt://h","user":"me","password":"from the file"}}` {
			t.Errorf("asked %s", body)
		}
	}
	if len(s.asked[schemas.SvcGraphPush]) != 3 || s.roles[0] != client.RoleAdmin {
		t.Errorf("asked %d times, as %q", len(s.asked[schemas.SvcGraphPush]), s.roles)
	}
}

func TestGraphPushFollows(t *testing.T) {
	refusal := &bus.ServiceError{Code: schemas.CodeRefused, Text: "enough"}
	s := &services{replies: map[string]any{}}
	var asked []schemas.GraphPushRequest
	s.replies[schemas.SvcGraphPush] = func(body string) any {
		var r schemas.GraphPushRequest
		if err := json.Unmarshal([]byte(body), &r); err != nil {
			t.Error(err)
		}
		asked = append(asked, r)
		switch len(asked) {
		case 2:
			return schemas.GraphPushReply{Done: true, Idle: true, Position: 7}
		case 4:
			s.replies[schemas.SvcGraphPush] = refusal
		}
		return schemas.GraphPushReply{Done: true, Position: uint64(6 + len(asked)), NodesWritten: 1}
	}
	r := s.run(t, "", "graph", "push", "--replace", "--follow", "--json")
	if r.code != client.ExitFailed || !strings.Contains(r.err, "enough") || strings.Count(r.out, "\n") != 3 {
		t.Errorf("exit %d, %s:\n%s", r.code, r.err, r.out)
	}
	for i, want := range []uint64{0, 7, 7, 9} {
		if asked[i].After != want || asked[i].Replace != (i == 0) || (asked[i].WaitMillis > 0) != (i > 0) {
			t.Errorf("request %d: %+v", i, asked[i])
		}
	}
}

func TestGraphPull(t *testing.T) {
	reply := schemas.GraphPullReply{
		Nodes: 4, Edges: 1, Skipped: []string{"a"}, Assumed: []string{"b"},
		Import: schemas.RuleImportReply{Imported: []string{"A-B-001"}, Unchanged: 3},
	}
	s := &services{replies: map[string]any{schemas.SvcGraphPull: reply}}
	r := s.run(t, "", "graph", "pull", "--dry-run")
	if r.out != "4 nodes and 1 edge found; 1 would be imported, 3 unchanged.\n" || r.err != "left out: a\nnote: b\n" {
		t.Errorf("exit %d, %s:\n%s", r.code, r.err, r.out)
	}
	reply.Import = schemas.RuleImportReply{Problems: []string{"A-B-001.Rule.md:3: bad"}}
	s.replies[schemas.SvcGraphPull] = reply
	r = s.run(t, "", "graph", "pull")
	if r.code != client.ExitFailed || !strings.Contains(r.err, "nothing was imported: 1 problem\n  A-B-001.Rule.md:3: bad") || r.out != "" {
		t.Errorf("exit %d, %s:\n%s", r.code, r.err, r.out)
	}
}

// A password that somebody could see in the list of processes is no secret.
func TestNoFlagTakesThePassword(t *testing.T) {
	s := &services{replies: map[string]any{}}
	for _, command := range []string{"push", "pull"} {
		if r := s.run(t, "", "graph", command, "--password", "x"); r.code != client.ExitUsage {
			t.Errorf("graph %s --password: exit %d", command, r.code)
		}
		empty := filepath.Join(t.TempDir(), "empty")
		if err := os.WriteFile(empty, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if r := s.run(t, "", "graph", command, "--password-file", empty); r.code != client.ExitFailed || !strings.Contains(r.err, "first line") {
			t.Errorf("graph %s with an empty file: exit %d, %s", command, r.code, r.err)
		}
	}
}
