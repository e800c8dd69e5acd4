package curation

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/writbus/writ/schemas"
)

func TestNeighbours(t *testing.T) {
	p := complete("GO-NEW-001", "A loop waits.", "Bound it.")
	same := p
	same.ID, same.Severity, same.Symptoms = "GO-SAME-001", "low", []string{"it hangs"}
	far := complete("GO-FAR-001", "A clock is read.", "Pass it.")
	tied := far
	tied.ID = "GO-EVEN-001"
	c := Corpus{Nodes: []schemas.Rule{far, p, same, tied}, Cosines: []float64{0.5, 1, 0.2, 0.5}}
	var got []string
	for _, n := range Neighbours(p, c, 2) {
		got = append(got, n.Node.ID+" "+decimals(n.Cosine)+" "+strings.Join(n.Differs, ","))
	}
	if want := []string{"GO-SAME-001 1.0000 severity,symptoms", "GO-EVEN-001 0.5000 trigger,statement"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPromote(t *testing.T) {
	older := complete("GO-OLD-001", "A clock is read.", "Pass it.")
	always := complete("GO-BAND-001", "A gate refuses.", "Ask.")
	always.Mandatory, always.MechanicalEnforcementPath = true, "the gate"
	c := Corpus{Nodes: []schemas.Rule{older, always}}
	supersede := func(id string) func(*schemas.Rule) {
		return func(r *schemas.Rule) { r.Edges = []schemas.Edge{{Type: "SUPERSEDES", Target: id}} }
	}
	for _, test := range []struct {
		name string
		edit func(*schemas.Rule)
		want string // part of the only reason; "" allows
	}{
		{"whole", func(*schemas.Rule) {}, ""},
		{"superseding", supersede("GO-OLD-001"), ""},
		{"incomplete", func(r *schemas.Rule) { r.Rationale, r.Symptoms = "", nil }, "fill rationale, symptoms"},
		{"no proposal", func(r *schemas.Rule) { r.Authority = "human" }, "is no proposal"},
		{"taking out a mandatory rule", supersede("GO-BAND-001"), "every prompt carries"},
		{"mandatory for a mandatory rule", func(r *schemas.Rule) {
			supersede("GO-BAND-001")(r)
			r.Mandatory, r.MechanicalEnforcementPath = true, "a linter"
		}, ""},
		{"mandatory without a path", func(r *schemas.Rule) { r.Mandatory = true }, "names what enforces it"},
		{"a target that is gone", supersede("GO-GONE-001"), "does not exist"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := Gate{Thresholds: Reference}.Judge(Of(complete("GO-NEW-001", "A loop waits.", "Bound it.")), c)
			node := f.Node
			test.edit(&node)
			p := Promote(node, c)
			var texts []string
			for _, r := range p.Reasons {
				texts = append(texts, r.Text)
			}
			if allowed := test.want == ""; p.Allowed != allowed || !allowed && (len(texts) != 1 || !strings.Contains(texts[0], test.want)) {
				t.Errorf("allowed %t: %v", p.Allowed, texts)
			}
			if p.Node.Authority != "ai-promoted" || p.Node.Confidence != "peer-reviewed" {
				t.Errorf("becomes %s and %s", p.Node.Authority, p.Node.Confidence)
			}
		})
	}
}

// TestSupersedingWaitsForPromotion: the finding names what would go, and the
// proposal is admitted without it going.
func TestSupersedingWaitsForPromotion(t *testing.T) {
	p := complete("GO-NEW-001", "A loop waits.", "Bound it.")
	p.Edges = []schemas.Edge{{Type: "SUPERSEDES", Target: "GO-OLD-001"}, {Type: "SUPERSEDES", Target: "GO-BAD-001"}}
	c := Corpus{Nodes: []schemas.Rule{complete("GO-OLD-001", "A clock is read.", "Pass it."), complete("GO-BAD-001", "A file is read.", "Close it.")}}
	f := Gate{Thresholds: Reference}.Judge(Of(p), c)
	if !f.Admitted || !slices.Equal(f.Supersedes, []string{"GO-BAD-001", "GO-OLD-001"}) || f.Node.Authority != "ai-provisional" {
		t.Errorf("got %+v", f)
	}
	if got := Promote(f.Node, c).Supersedes; !slices.Equal(got, f.Supersedes) {
		t.Errorf("promotion takes out %v", got)
	}
}

func TestDiff(t *testing.T) {
	old := complete("GO-NEW-001", "A loop waits.", "Bound it.")
	old.Violation = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"
	old.Edges = []schemas.Edge{{Type: "RELATED_TO", Target: "GO-B-001"}, {Type: "RELATED_TO", Target: "GO-A-001"}}
	current := old
	current.Severity, current.Mandatory, current.Rationale = "low", true, ""
	current.Symptoms = []string{"it hangs", "it waits", "it is slow"}
	current.Violation = "one\ntwo\n3\nfour\nfive\nsix\nseven\neight\nnine\n"
	current.Edges = []schemas.Edge{{Type: "RELATED_TO", Target: "GO-A-001"}, {Type: "RELATED_TO", Target: "GO-B-001"}}
	current.Check = &schemas.Check{Language: "go", Pattern: `for \{`}
	want := `@@ severity @@
-high
+low
@@ symptoms @@
 it hangs
-it crashes
+it waits
 it is slow
@@ violation @@
 one
 two
-three
+3
 four
 five
…
 seven
 eight
+nine
@@ rationale @@
-It was so once.
@@ mandatory @@
+true
@@ check.language @@
+go
@@ check.pattern @@
+for \{
`
	if got := Diff(old, current); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := Diff(old, old); got != "" {
		t.Errorf("a node differs from itself: %s", got)
	}
}

func TestAnEditScriptLeadsFromOneToTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ""}), 0, 12)
		a, b := lines.Draw(t, "a"), lines.Draw(t, "b")
		var before, after []string
		for _, e := range editScript(a, b) {
			if e.op != '+' {
				before = append(before, e.line)
			}
			if e.op != '-' {
				after = append(after, e.line)
			}
		}
		if !slices.Equal(before, a) || !slices.Equal(after, b) {
			t.Fatalf("%q to %q: %q to %q", a, b, before, after)
		}
	})
}

func TestNodesDifferExactlyWhereTheDiffSaysSo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawNode(t, "a"), drawNode(t, "b")
		diff := Diff(a, b)
		differs := Differs(a, b)
		if (diff == "") != (len(differs) == 0) {
			t.Fatalf("%v: %s", differs, diff)
		}
		for _, field := range differs {
			if !strings.Contains(diff, "@@ "+field+" @@\n") {
				t.Fatalf("%s is missing in\n%s", field, diff)
			}
		}
	})
}
