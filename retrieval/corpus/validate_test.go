package corpus

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/writbus/writ/schemas"
)

// sound is a rule that Validate finds nothing about, but for its edges.
func sound(id string, edges ...string) schemas.Rule {
	r := schemas.Rule{
		ID: id, Severity: "low", Trigger: "t", Statement: "s", Symptoms: []string{"a", "b", "c"}, Violation: "v", PassExample: "p",
		Authority: "human", Confidence: "peer-reviewed", LastValidated: "2026-01-31",
	}
	for _, e := range edges {
		kind, target, _ := strings.Cut(e, " ")
		r.Edges = append(r.Edges, schemas.Edge{Type: kind, Target: target})
	}
	return r
}

func TestValidate(t *testing.T) {
	edit := func(r schemas.Rule, f func(*schemas.Rule)) schemas.Rule { f(&r); return r }
	mandatory := func(r *schemas.Rule) { r.Mandatory, r.MechanicalEnforcementPath = true, "gate" }
	phase := edit(sound("P-H-A"), func(r *schemas.Rule) {
		r.Type, r.Phase = schemas.NodePhase, &schemas.Phase{Order: 1, Exit: []string{"e"}}
	})
	cases := []struct {
		name  string
		rules []schemas.Rule
		with  Checks
		want  []string
	}{
		{"nothing", nil, Checks{Today: "2026-11-21"}, nil},
		{"clean", []schemas.Rule{sound("A-A-A", "RELATED_TO B-B-B"), sound("B-B-B")}, Checks{Today: "2026-11-21"}, nil},
		{"schema", []schemas.Rule{sound("A-A-A", "RELATED_TO B-B-B"), edit(sound("B-B-B"), func(r *schemas.Rule) { r.Severity, r.Statement = "urgent", " " })}, Checks{}, []string{
			`error: B-B-B: severity "urgent" is unknown: use one of critical, high, medium, low (schema)`, "error: B-B-B: statement is missing or blank (schema)",
		}},
		{"twice", []schemas.Rule{sound("A-A-A", "RELATED_TO B-B-B"), sound("B-B-B"), sound("B-B-B")}, Checks{}, []string{
			"error: B-B-B: the id is taken: give one of them another (duplicate)",
		}},
		{"edges", []schemas.Rule{sound("A-A-A", "DEPENDS_ON C-C-C", "PRECEDES P-H-A", "CONFLICTS_WITH P-H-A"), phase}, Checks{}, []string{
			"error: A-A-A: edge DEPENDS_ON points to C-C-C, which does not exist: correct the id, or remove the edge (unknown_target)",
			"error: A-A-A: edge CONFLICTS_WITH from a Rule points to Rule, Skill, Playbook, Technique, AntiPattern or ForbiddenResponse, but P-H-A is a Phase (wrong_endpoint)",
		}},
		{"lists of ids", []schemas.Rule{sound("A-A-A", "RELATED_TO P-B-K"), edit(sound("P-B-K"), func(r *schemas.Rule) {
			r.Type, r.Playbook = schemas.NodePlaybook, &schemas.Playbook{Phases: []string{"N-O-T", "A-A-A"}}
		})}, Checks{}, []string{
			"error: P-B-K: playbook.phases names A-A-A, which is a Rule, not a Phase (wrong_endpoint)",
			"error: P-B-K: playbook.phases names N-O-T, which does not exist: correct the id, or remove it (unknown_target)",
		}},
		{"orphan", []schemas.Rule{sound("A-A-A", "RELATED_TO B-B-B"), sound("B-B-B"), sound("C-C-C")}, Checks{}, []string{
			"warning: C-C-C: no edge leads here or away: say what it is related to (orphan)",
		}},
		{"conflict of mandatory rules", []schemas.Rule{edit(sound("A-A-A", "CONFLICTS_WITH B-B-B"), mandatory), edit(sound("B-B-B", "CONFLICTS_WITH A-A-A"), mandatory)}, Checks{}, []string{
			"error: A-A-A: conflicts with B-B-B, and both are always shown: make one of them optional, or remove it (conflict)",
		}},
		{"one of them optional", []schemas.Rule{edit(sound("A-A-A", "CONFLICTS_WITH B-B-B"), mandatory), sound("B-B-B")}, Checks{}, nil},
		{"conflict with what it needs", []schemas.Rule{sound("A-A-A", "CONFLICTS_WITH B-B-B"), sound("B-B-B", "DEPENDS_ON A-A-A")}, Checks{}, []string{
			"error: A-A-A: conflicts with B-B-B, but B-B-B DEPENDS_ON A-A-A: remove one of the edges (conflict)",
		}},
		{"superseded", []schemas.Rule{sound("A-A-A", "SUPERSEDES B-B-B", "RELATED_TO B-B-B"), sound("B-B-B"), sound("C-C-C", "DEPENDS_ON B-B-B")}, Checks{}, []string{
			"warning: C-C-C: edge DEPENDS_ON points to B-B-B, which A-A-A supersedes: point to that one (superseded)",
		}},
		{"cycles", []schemas.Rule{
			sound("A-A-A", "PRECEDES B-B-B"), sound("B-B-B", "PRECEDES C-C-C", "PRECEDES D-D-D"), sound("C-C-C", "PRECEDES D-D-D"), sound("D-D-D", "PRECEDES A-A-A", "DEPENDS_ON C-C-C"),
			sound("E-E-E", "RELATED_TO F-F-F", "SUPERSEDES F-F-F"), sound("F-F-F", "RELATED_TO E-E-E", "SUPERSEDES E-E-E"),
			sound("G-G-G", "PRECEDES H-H-H"), sound("H-H-H", "PRECEDES G-G-G", "PRECEDES A-A-A"),
		}, Checks{}, []string{
			"error: A-A-A: PRECEDES runs in a circle: A-A-A → B-B-B → D-D-D → A-A-A. Remove one of these edges (cycle)",
			"error: E-E-E: SUPERSEDES runs in a circle: E-E-E → F-F-F → E-E-E. Remove one of these edges (cycle)",
			"error: G-G-G: PRECEDES runs in a circle: G-G-G → H-H-H → G-G-G. Remove one of these edges (cycle)",
		}},
		{"stale", []schemas.Rule{
			edit(sound("A-A-A", "RELATED_TO B-B-B"), func(r *schemas.Rule) { r.StalenessWindow = 30 }),
			edit(sound("B-B-B"), func(r *schemas.Rule) { r.LastValidated = "2025-03-02" }),
			edit(sound("C-C-C", "RELATED_TO A-A-A"), func(r *schemas.Rule) { r.LastValidated = "2025-03-01" }),
			edit(sound("D-D-D", "RELATED_TO A-A-A"), func(r *schemas.Rule) { r.LastValidated = "" }),
		}, Checks{Today: "2026-03-02"}, []string{
			"warning: C-C-C: last validated on 2025-03-01, and that held for 365 days: check whether it is still true (stale)",
		}},
		{"window of its own", []schemas.Rule{edit(sound("A-A-A", "RELATED_TO B-B-B"), func(r *schemas.Rule) { r.StalenessWindow = 30 }), sound("B-B-B")}, Checks{Today: "2026-03-03"}, []string{
			"warning: A-A-A: last validated on 2026-01-31, and that held for 30 days: check whether it is still true (stale)",
		}},
		{"what is missing", []schemas.Rule{
			edit(sound("A-A-A", "RELATED_TO P-H-A"), func(r *schemas.Rule) { r.Violation, r.PassExample, r.Symptoms = "", "\n", []string{"a"} }),
			edit(phase, func(r *schemas.Rule) { r.Violation, r.PassExample, r.Symptoms = "", "", nil }),
		}, Checks{}, []string{
			"warning: A-A-A: the rule has no violation and no pass_example: show what it looks like in code (example)",
			"error: A-A-A: pass_example is missing or blank (schema)",
			"warning: A-A-A: 1 symptoms, at least 3: describe the trouble in the words of someone who does not know the rule (symptoms)",
		}},
		{"claims", []schemas.Rule{
			edit(sound("A-A-A", "RELATED_TO B-B-B"), func(r *schemas.Rule) { r.Authority, r.Confidence = "ai-provisional", "battle-tested" }),
			edit(sound("B-B-B"), func(r *schemas.Rule) { r.Mandatory = true }),
			edit(sound("C-C-C", "RELATED_TO B-B-B"), func(r *schemas.Rule) { r.Mandatory, r.Check = true, &schemas.Check{Pattern: "x"} }),
		}, Checks{}, []string{
			"warning: A-A-A: battle-tested is granted by recorded outcomes only: write production-validated (battle_tested)",
			"warning: A-A-A: nobody has reviewed this proposal: writ rule review A-A-A (unreviewed)",
			"error: B-B-B: the rule is mandatory and nothing enforces it: name its mechanical_enforcement_path, or give it a check (mechanism)",
		}},
		{"redundant", []schemas.Rule{sound("A-A-A", "RELATED_TO B-B-B"), sound("B-B-B"), sound("C-C-C", "SUPERSEDES A-A-A"), edit(phase, func(r *schemas.Rule) { r.Edges = sound("", "RELATED_TO B-B-B").Edges })}, Checks{
			Redundant: 0.9, Neighbours: func(r schemas.Rule) []schemas.Neighbour {
				return []schemas.Neighbour{{ID: "P-H-A", Similarity: 1}, {ID: "C-C-C", Similarity: 0.89}, {ID: "B-B-B", Similarity: 0.9}, {ID: "A-A-A", Similarity: 0.95}, {ID: "N-O-T", Similarity: 1}}
			},
		}, []string{
			"warning: A-A-A: says nearly the same as B-B-B (similarity 0.90): merge them, or let one supersede the other (redundant)",
			"warning: B-B-B: says nearly the same as C-C-C (similarity 0.90): merge them, or let one supersede the other (redundant)",
		}},
		{"band", []schemas.Rule{edit(sound("A-A-A", "RELATED_TO B-B-B"), mandatory), edit(sound("B-B-B"), func(r *schemas.Rule) { r.AlwaysOn = true }), sound("C-C-C", "RELATED_TO A-A-A")}, Checks{
			Band: func(list []schemas.Rule) error { return errors.New(fmt.Sprint(len(list), " are too many")) },
		}, []string{"error: A-A-A: 2 are too many: shorten them, or make some optional (band)"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var list []Node
			for _, r := range c.rules {
				list = append(list, Node{Rule: r})
			}
			var got []string
			for _, f := range Validate(list, c.with) {
				got = append(got, shown(f))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			var again []string
			for _, f := range Validate(list, c.with) {
				again = append(again, shown(f))
			}
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("in another order:\n%s", diff)
			}
		})
	}
}

// shown renders a finding as "path:line: severity: ID: reason (check)".
func shown(f Finding) string {
	var place string
	switch {
	case f.Path != "" && f.Line > 0:
		place = fmt.Sprintf("%s:%d: ", f.Path, f.Line)
	case f.Path != "":
		place = f.Path + ": "
	}
	return fmt.Sprintf("%s%s: %s: %s (%s)", place, f.Severity, strings.Join(f.IDs[:min(1, len(f.IDs))], ""), f.Reason, f.Check)
}

// TestValidateNamesLines: of what was just loaded, of a person's stored file,
// and of a canonical one; of nodes that share a file only where it was loaded.
func TestValidateNamesLines(t *testing.T) {
	src := "---\ntrigger: t\nstatement: s\nseverity: low\nauthority: ai-provisional\nedges:\n  - {type: PRECEDES, target: B-B-B}\n  - type: RELATED_TO\n    target: N-O-T\nid: A-A-A\n---\n"
	files, _ := LoadAny(fstest.MapFS{
		"a.md": {Data: []byte(src)}, "b.md": ruleFile("B-B-B"),
		"old.md": {Data: []byte("<!-- RULE START: O-L-D -->\n### Statement\nx\n<!-- RULE END: O-L-D -->\n<!-- RULE START: O-L-E -->\n**Authority**: ai-provisional\n### Statement\nx\n<!-- RULE END: O-L-E -->\n")},
	}, nil)
	at := func(list []Node, check string) []string {
		var out []string
		for _, f := range Validate(list, Checks{}) {
			if f.Check == check {
				out = append(out, fmt.Sprintf("%s:%d", f.Path, f.Line))
			}
		}
		return out
	}
	var loaded, stored []Node
	for _, f := range files {
		loaded = append(loaded, f.Node())
		stored = append(stored, Node{Rule: f.Rule, Path: f.Path, Content: Keep(f.Rule, f.Content)})
	}
	for name, list := range map[string][]Node{"loaded": loaded, "stored": stored} {
		if got := at(list, CheckTarget); !slices.Equal(got, []string{"a.md:8"}) {
			t.Errorf("%s: unknown targets at %v", name, got)
		}
		want := []string{"a.md:5", "old.md:6"}
		if name == "stored" {
			want[1] = "old.md:0"
		}
		if got := at(list, CheckUnreviewed); !slices.Equal(got, want) {
			t.Errorf("%s: unreviewed at %v", name, got)
		}
	}
	stored[0].Rule.Edges = stored[0].Rule.Edges[1:]
	if got := at(stored, CheckTarget); !slices.Equal(got, []string{"a.md:8"}) {
		t.Errorf("changed: unknown targets at %v", got)
	}
}

// TestValidateIsQuick: a corpus of thousands of nodes with long circles.
func TestValidateIsQuick(t *testing.T) {
	var list []Node
	for i := range 5000 {
		list = append(list, Node{Rule: sound(fmt.Sprintf("A-B%d-C", i), fmt.Sprintf("DEPENDS_ON A-B%d-C", (i+1)%5000))})
	}
	got := Validate(list, Checks{})
	if len(got) != 1 || got[0].Check != CheckCycle || len(got[0].IDs) != 5000 {
		t.Errorf("%d findings", len(got))
	}
}
