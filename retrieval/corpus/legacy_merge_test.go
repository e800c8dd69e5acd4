package corpus

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/writbus/writ/schemas"
)

// loadOlder reads files in older formats by their ids.
func loadOlder(t *testing.T, files map[string]string) (map[string]File, []Problem) {
	t.Helper()
	folder := fstest.MapFS{}
	for name, text := range files {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	loaded, problems := LoadAny(folder, nil)
	byID := map[string]File{}
	for _, f := range loaded {
		byID[f.Rule.ID] = f
	}
	return byID, problems
}

// TestOlderDuplicatesAreMerged: the later description holds, what only the
// earlier one says stays, and the edges of both are there.
func TestOlderDuplicatesAreMerged(t *testing.T) {
	block := func(id, statement, more string) string {
		return "<!-- RULE START: " + id + " -->\n**Severity**: high\n**Trigger**: t\n\n### Statement\n" + statement + "\n" + more + "<!-- RULE END: " + id + " -->\n"
	}
	got, problems := loadOlder(t, map[string]string{
		"a.md": "---\nrule_id: KILN-FIRE-SLOW-001\nstatement: old\nrationale: Clay cracks.\nmandatory: true\nedges: [{type: DEPENDS_ON, target: KILN-DRY-FIRST-001}]\n---\n",
		"b.md": block("KILN-DRY-FIRST-001", "Dry it first.", "") + block("KILN-FIRE-SLOW-001", "Fire it slowly.", "### Edges\n- PRECEDES: KILN-COOL-SHUT-001\n"),
		"c.md": block("KILN-COOL-SHUT-001", "Leave it shut.", ""),
	})
	want := schemas.Rule{
		ID: "KILN-FIRE-SLOW-001", Severity: "high", Trigger: "t", Statement: "Fire it slowly.", Rationale: "Clay cracks.", Mandatory: true,
		Edges: []schemas.Edge{{Type: "PRECEDES", Target: "KILN-COOL-SHUT-001"}, {Type: "DEPENDS_ON", Target: "KILN-DRY-FIRST-001"}},
	}
	if diff := cmp.Diff(want, got["KILN-FIRE-SLOW-001"].Rule); diff != "" || len(got) != 3 {
		t.Errorf("%d nodes\n%s", len(got), diff)
	}
	if len(problems) != 1 || problems[0].Kind != KindNoted || !strings.Contains(problems[0].Reason, "a.md:1") {
		t.Errorf("problems %v", problems)
	}
}

// TestOlderNodesAreWhole: what an older graph leaves to other nodes or to its
// text fills what today's nodes have, and every edge between nodes stays.
func TestOlderNodesAreWhole(t *testing.T) {
	got, problems := loadOlder(t, map[string]string{"graph.cypher": `
CREATE (:Category {category_id: 'CAT-KILN-001', name: 'Kilns', description: 'What burns clay.', routes: ['semantic'], trigger: 't', statement: 's', _dump_id: 'CAT-KILN-001'});
CREATE (:Category {category_id: 'CAT-KILN-GAS-001', name: 'Gas', parent: 'CAT-KILN-001', trigger: 't', statement: 's', _dump_id: 'CAT-KILN-GAS-001'});
CREATE (:Rule {rule_id: 'KILN-FIRE-SLOW-001', trigger: 't', statement: 's', times_seen_positive: 41, times_seen_negative: 2, category: 'CAT-KILN-GAS-001', _dump_id: 'KILN-FIRE-SLOW-001'});
CREATE (:Rule {rule_id: 'KILN-LOST-PLACE-001', trigger: 't', statement: 's', category: 'CAT-NOWHERE-001', _dump_id: 'KILN-LOST-PLACE-001'});
CREATE (:Abstraction {abstraction_id: 'ABS-KILN-001', summary: 'Fire slowly.', rule_count: 1, _dump_id: 'ABS-KILN-001'});
CREATE (:Playbook {playbook_id: 'PBK-KILN-GLAZE-001', trigger: 't', statement: 's', phase_ids: [], _dump_id: 'PBK-KILN-GLAZE-001'});
CREATE (:Playbook {playbook_id: 'PBK-KILN-LOAD-001', trigger: 't', statement: 's', body: '## Red flags\n- no\n## Step 1 -- Sweep\nx\n## Step 2: Stack\n', _dump_id: 'PBK-KILN-LOAD-001'});
CREATE (:Phase {phase_id: 'PHA-KILN-TWO-001', trigger: 't', statement: 's', position: 2, parent_playbook_id: 'PBK-KILN-GLAZE-001', _dump_id: 'PHA-KILN-TWO-001'});
CREATE (:Phase {phase_id: 'PHA-KILN-ONE-001', trigger: 't', statement: 's', position: 1, _dump_id: 'PHA-KILN-ONE-001'});
MATCH (a {_dump_id: 'PBK-KILN-GLAZE-001'}), (b {_dump_id: 'PHA-KILN-ONE-001'}) CREATE (a)-[:CONTAINS]->(b);
MATCH (a {_dump_id: 'ABS-KILN-001'}), (b {_dump_id: 'KILN-FIRE-SLOW-001'}) CREATE (a)-[:ABSTRACTS]->(b);
MATCH (a {_dump_id: 'ABS-KILN-001'}), (b {_dump_id: 'KILN-GONE-AWAY-001'}) CREATE (a)-[:ABSTRACTS]->(b);
MATCH (a {_dump_id: 'PBK-KILN-LOAD-001'}), (b {_dump_id: 'PBK-KILN-GLAZE-001'}) CREATE (a)-[:INVOKES]->(b);
MATCH (a {_dump_id: 'KILN-FIRE-SLOW-001'}), (b {_dump_id: 'CAT-KILN-GAS-001'}) CREATE (a)-[:BELONGS_TO]->(b);
MATCH (a {_dump_id: 'KILN-FIRE-SLOW-001'}), (b {_dump_id: 'PHA-KILN-ONE-001'}) CREATE (a)-[:WARMS]->(b);
`})
	edges := map[string][]schemas.Edge{
		"CAT-KILN-GAS-001":   {{Type: "BELONGS_TO", Target: "CAT-KILN-001"}},
		"KILN-FIRE-SLOW-001": {{Type: "BELONGS_TO", Target: "CAT-KILN-GAS-001"}, {Type: "RELATED_TO", Target: "PHA-KILN-ONE-001"}},
		"ABS-KILN-001":       {{Type: "ABSTRACTS", Target: "KILN-FIRE-SLOW-001"}},
		"PBK-KILN-GLAZE-001": {{Type: "CONTAINS", Target: "PHA-KILN-ONE-001"}, {Type: "CONTAINS", Target: "PHA-KILN-TWO-001"}},
		"PBK-KILN-LOAD-001":  {{Type: "INVOKES", Target: "PBK-KILN-GLAZE-001"}},
	}
	if len(got) != 9 {
		t.Fatalf("%d nodes of 9: %v", len(got), problems)
	}
	for id, f := range got {
		if diff := cmp.Diff(edges[id], f.Rule.Edges); diff != "" {
			t.Errorf("edges of %s\n%s", id, diff)
		}
	}
	if p := got["PBK-KILN-GLAZE-001"].Rule.Playbook; !slices.Equal(p.Phases, []string{"PHA-KILN-ONE-001", "PHA-KILN-TWO-001"}) {
		t.Errorf("phases %v", p.Phases)
	}
	if p := got["PBK-KILN-LOAD-001"].Rule.Playbook; !slices.Equal(p.Steps, []string{"Sweep", "Stack"}) {
		t.Errorf("steps %q", p.Steps)
	}
	abs := got["ABS-KILN-001"].Rule
	if abs.Trigger != "Fire slowly." || abs.Statement != "Fire slowly." || !slices.Equal(abs.Abstraction.Members, []string{"KILN-FIRE-SLOW-001"}) {
		t.Errorf("abstraction %+v %+v", abs, abs.Abstraction)
	}
	if o := got["KILN-FIRE-SLOW-001"].Outcomes; o != (Outcomes{41, 2}) {
		t.Errorf("outcomes %+v", o)
	}
	if tags := got["KILN-LOST-PLACE-001"].Rule.Tags; !slices.Equal(tags, []string{"cat-nowhere-001"}) {
		t.Errorf("tags %v", tags)
	}
	for _, p := range problems {
		if p.Kind == KindInvalid || p.Kind == KindDuplicate {
			t.Errorf("%v", p)
		}
	}
}

// TestOlderCirclesAreTold: they come in, and a person reads of them.
func TestOlderCirclesAreTold(t *testing.T) {
	got, problems := loadOlder(t, map[string]string{"graph.cypher": `
CREATE (a:Rule {rule_id: 'KILN-A-001', trigger: 't', statement: 's', severity: 'low'})-[:PRECEDES]->(b:Rule {rule_id: 'KILN-B-001', trigger: 't', statement: 's', severity: 'low'}), (b)-[:PRECEDES]->(a);`})
	if len(got) != 2 || len(got["KILN-A-001"].Rule.Edges) != 1 || len(problems) != 1 || !strings.Contains(problems[0].Reason, "KILN-A-001 → KILN-B-001 → KILN-A-001") {
		t.Errorf("%v\n%v", got, problems)
	}
}
