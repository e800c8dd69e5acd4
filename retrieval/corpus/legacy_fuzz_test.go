package corpus

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// checkLoaded is what holds for every input of the importers: places are
// right, every node is sound and comes back from its own file, and a second
// reading finds the same.
func checkLoaded(t *testing.T, name string, src []byte) {
	t.Helper()
	folder := fstest.MapFS{name: {Data: src}}
	files, problems := LoadAny(folder, nil)
	lines := bytes.Count(src, []byte("\n")) + bytes.Count(src, []byte("\r")) + 2
	for _, p := range problems {
		if p.Path != name || p.Line < 1 || p.Line > lines || p.Reason == "" || !bytes.Contains(src, []byte("%")) && strings.Contains(p.Reason, "%!") {
			t.Fatalf("problem %+v in %d lines", p, lines)
		}
	}
	for _, f := range files {
		if err := f.Rule.Validate(); err != nil {
			t.Fatal(err)
		}
		if wrong := CheckNode(f.Rule); len(wrong) > 0 {
			t.Fatalf("%s: %v", f.Rule.ID, wrong)
		}
		again, err := Parse("f.md", Render(f.Rule))
		if err != nil {
			t.Fatalf("%v\n%s", err, Render(f.Rule))
		}
		if diff := cmp.Diff(f.Rule, again); diff != "" {
			t.Fatal(diff)
		}
	}
	second, _ := LoadAny(folder, nil)
	if diff := cmp.Diff(files, second, whole); diff != "" {
		t.Fatal(diff)
	}
}

// FuzzBlocks reads Markdown in any format: blocks, front matter old and new.
func FuzzBlocks(f *testing.F) {
	for name, file := range older(f) {
		if strings.HasSuffix(name, ".md") {
			f.Add(string(file.Data))
		}
	}
	for _, s := range []string{
		small, "<!-- RULE START: A-B-C -->\n```\n<!-- RULE END: A-B-C -->\n", "<!-- NODE START type=Skill id=A-B-C -->\n---\n- x\n---\n<!-- NODE END -->",
		"<!-- RULE START: A-B-C -->\n**Trigger**: x\n\nStatement\n===\ny\n### Violation\n~~~~\nz\n~~~\n~~~~\n### Symptoms\n* a\n  b\n1) c\n<!-- RULE END: A-B-C -->\n",
		"---\nrule_id: A-B-C\nstatement: {a: [b, !!c d]}\nmandatory: 2\nstaleness_window: 9e99\nedges: [x, 3, {type: a}]\n---\n",
		"---\nnode_type: Phase\nphase_id: A-B-C\nposition: -1\nname: x\ncheck: {pattern: (}\nphase: {exit: a}\n---\n",
		"---\nnode_type: Skill\nskill_id: A-B-C\nstatement: s\nskill: {tools: ' ', steps: [], outcome: 3, x: y}\ntools: '[a, b'\n---\n",
		"<!-- RULE START -->\r\n**Severity**: high\r\n<!-- RULE END -->\r\n",
		"<!-- NODE START type=AntiPattern id=A-B-C -->\n**counter_nodes**: A-B-D, A-B-E\nEdges:\n- COUNTERS A-B-D\n# x\n\n<!-- EDGE type=TEACHES target=A-B-D -->\n<!-- NODE END: A-B-C -->",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) { checkLoaded(t, "a/f.md", []byte(src)) })
}

// FuzzScript reads Cypher scripts into nodes.
func FuzzScript(f *testing.F) {
	for name, file := range older(f) {
		if strings.HasSuffix(name, ".cypher") {
			f.Add(string(file.Data))
		}
	}
	for _, s := range []string{
		"CREATE (:Rule {rule_id: 'A-B-C', statement: \"a\\u0000\\uD800\", body: '\\b \\r\\n x', mandatory: 'perhaps'});",
		"CREATE (:AntiPattern:X {antipattern_id: 'A-B-C', counter_nodes: ['A-B-D', 3, {a: 1}], statement: [1, 2.5], trigger: {k: 'v'}})",
		"CREATE (:Phase {phase_id: 'A-B-C', name: 'n', position: 1e300}) CREATE ({id: 'A-B-D'})",
		"CREATE (:Abstraction {abstraction_id: 'A-B-C', summary: 's'})-[:ABSTRACTS]->(:Rule {rule_id: 'A-B-D', statement: 's', edges: '- PRECEDES: A-B-C'})",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) { checkLoaded(t, "a/f.cypher", []byte(src)) })
}
