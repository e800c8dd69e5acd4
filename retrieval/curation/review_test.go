package curation

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/writbus/writ/schemas"
)

func TestNeighbours(t *testing.T) {
	p := complete("GO-NEW-001", "A loop waits.", "Bound it.")
	same := p
	same.ID = "GO-SAME-001"
	far := complete("GO-FAR-001", "A clock is read.", "Pass it.")
	tied := far
	tied.ID = "GO-EVEN-001"
	c := Corpus{Nodes: []schemas.Rule{far, p, same, tied}, Cosines: []float64{0.5, 1, 0.2, 0.5}}
	var got []string
	for _, n := range Neighbours(p, c, 2) {
		got = append(got, n.ID+" "+decimals(n.Cosine))
	}
	if want := []string{"GO-SAME-001 1.0000", "GO-EVEN-001 0.5000"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
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
		var differ strings.Builder
		for _, pair := range pairedFields(a, b) {
			if !slices.Equal(pair.old, pair.new) {
				differ.WriteString("@@ " + pair.name + " @@\n")
			}
		}
		var said strings.Builder
		for line := range strings.Lines(diff) {
			if strings.HasPrefix(line, "@@ ") {
				said.WriteString(line)
			}
		}
		if differ.String() != said.String() || (diff == "") != reflect.DeepEqual(fieldTexts(a), fieldTexts(b)) {
			t.Fatalf("%s differ: %s", &differ, diff)
		}
	})
}
