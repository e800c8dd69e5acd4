package curation

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/schemas"
)

// drawNode is a node of any type and sense: few ids and words, so that nodes
// meet.
func drawNode(t *rapid.T, label string) schemas.Rule {
	text := rapid.SampledFrom([]string{"", " ", "\xff", "A loop waits.", "a loop  waits.", "Consider it.", "Try to wait as needed.", "Bound it."})
	id := rapid.SampledFrom([]string{"", "GO-A-001", "GO-B-001", "GO-C-001", "go-a", "GO-D-WORD"})
	r := schemas.Rule{
		ID: id.Draw(t, label+" id"), Severity: rapid.SampledFrom([]string{"", "high", "High"}).Draw(t, "severity"),
		Trigger: text.Draw(t, "trigger"), Statement: text.Draw(t, "statement"), Rationale: text.Draw(t, "rationale"),
		Mandatory: rapid.Bool().Draw(t, "mandatory"),
		Authority: rapid.SampledFrom([]string{"", "human", "ai-provisional"}).Draw(t, "authority"),
		Type:      rapid.SampledFrom(append(schemas.NodeTypes(), "", "Gadget")).Draw(t, "type"),
		Symptoms:  rapid.SliceOfN(text, 0, 3).Draw(t, "symptoms"),
	}
	if rapid.Bool().Draw(t, "skill") {
		r.Skill = &schemas.Skill{Steps: []string{"one", " "}}
	}
	for range rapid.IntRange(0, 3).Draw(t, "edges") {
		r.Edges = append(r.Edges, schemas.Edge{
			Type:   rapid.SampledFrom(append(corpus.EdgeTypes(), "LIKES", "CONFLICTS_WITH", "CONFLICTS_WITH")).Draw(t, "edge"),
			Target: id.Draw(t, "target"),
		})
	}
	return r
}

func drawCorpus(t *rapid.T) Corpus {
	var c Corpus
	for range rapid.IntRange(0, 4).Draw(t, "nodes") {
		n := drawNode(t, "existing")
		if slices.ContainsFunc(c.Nodes, func(o schemas.Rule) bool { return o.ID == n.ID }) {
			continue
		}
		c.Nodes = append(c.Nodes, n)
		c.Cosines = append(c.Cosines, rapid.SampledFrom([]float64{-1, 0, 0.69, 0.7, 0.85, 0.95, 1}).Draw(t, "cosine"))
	}
	return c
}

func TestTheOrderOfNodesChangesNoReason(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, p := drawCorpus(t), drawNode(t, "proposal")
		gate := Gate{Thresholds: Reference}
		f := gate.Judge(Of(p), c)
		if f.Admitted && len(corpus.CheckNode(f.Node)) > 0 {
			t.Fatalf("admitted with %v", corpus.CheckNode(f.Node))
		}
		var moved Corpus
		for _, i := range rapid.Permutation(slices.Collect(indices(len(c.Nodes)))).Draw(t, "order") {
			n := c.Nodes[i]
			n.Edges = turned(n.Edges)
			moved.Nodes, moved.Cosines = append(moved.Nodes, n), append(moved.Cosines, c.Cosines[i])
		}
		p.Edges = turned(p.Edges)
		g := gate.Judge(Of(p), moved)
		f.Node.Edges, g.Node.Edges = nil, nil
		if got, want := encoded(t, g), encoded(t, f); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

func turned(edges []schemas.Edge) []schemas.Edge {
	edges = slices.Clone(edges)
	slices.Reverse(edges)
	return edges
}

// TestEachCheckIsMadeAlone puts a fault of every check into one proposal: each
// must be reported whatever else is wrong.
func TestEachCheckIsMadeAlone(t *testing.T) {
	faults := map[Check]func(*schemas.Rule, *Corpus){
		CheckSchema:      func(r *schemas.Rule, _ *Corpus) { r.Severity = "urgent" },
		CheckMechanical:  func(r *schemas.Rule, _ *Corpus) { r.Mandatory = true },
		CheckSpecificity: func(r *schemas.Rule, _ *Corpus) { r.Statement += " Try to do so." },
		CheckRedundancy:  func(_ *schemas.Rule, c *Corpus) { c.Cosines[0] = 0.9 },
		CheckConflict: func(r *schemas.Rule, _ *Corpus) {
			r.Edges = append(r.Edges, schemas.Edge{Type: "CONFLICTS_WITH", Target: "GO-OLD-001"})
		},
		CheckIdentity: func(r *schemas.Rule, c *Corpus) { c.Taken = []string{r.ID} },
	}
	rapid.Check(t, func(t *rapid.T) {
		p := complete("GO-NEW-001", "A loop waits.", "Bound it.")
		c := Corpus{Nodes: []schemas.Rule{complete("GO-OLD-001", "A clock is read.", "Pass it.")}, Cosines: []float64{0}}
		wrong := rapid.SliceOfDistinct(rapid.SampledFrom(Checks()), func(c Check) Check { return c }).Draw(t, "faults")
		for _, check := range wrong {
			faults[check](&p, &c)
		}
		f := Gate{Thresholds: Reference}.Judge(Of(p), c)
		for _, check := range Checks() {
			if f.Passed(check) == slices.Contains(wrong, check) {
				t.Fatalf("faults %v, reasons %v", wrong, f.Texts())
			}
		}
		if f.Admitted != (len(wrong) == 0) {
			t.Fatalf("faults %v, admitted %t", wrong, f.Admitted)
		}
	})
}

func TestTheSecondOfTwoIdenticalProposalsIsADuplicate(t *testing.T) {
	e := staticEmbedder(t)
	calibrated, err := Calibrate(e, Reference)
	if err != nil {
		t.Fatal(err)
	}
	gate := Gate{Thresholds: calibrated.Thresholds}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"loop", "qzx", "открыть", "a", "!", "file", "closes"}), 1, 6)
		trigger, statement := strings.Join(words.Draw(t, "trigger"), " "), strings.Join(words.Draw(t, "statement"), " ")
		judge := func(p schemas.Rule, nodes []schemas.Rule) Finding {
			vectors, err := vectorsOf(e, append(slices.Clone(nodes), p))
			if err != nil {
				t.Fatal(err)
			}
			c, err := Compare(vectors[len(nodes)], nodes, vectors[:len(nodes)])
			if err != nil {
				t.Fatal(err)
			}
			return gate.Judge(Of(p), c)
		}
		first := judge(complete("GO-NEW-001", trigger, statement), nil)
		if !first.Admitted {
			t.Fatalf("the first is refused: %v", first.Texts())
		}
		admitted := []schemas.Rule{first.Node}
		if second := judge(complete("GO-NEW-002", trigger, statement), admitted); second.Admitted || second.Passed(CheckRedundancy) {
			t.Fatalf("%q %q is admitted twice", trigger, statement)
		}
		if same := judge(complete("GO-NEW-001", trigger, statement), admitted); same.Admitted || same.Passed(CheckIdentity) {
			t.Fatal("the id is taken over")
		}
	})
}

func TestNoProposalOverwrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, p := drawCorpus(t), drawNode(t, "proposal")
		f := Gate{Thresholds: Reference}.Judge(Of(p), c)
		for _, n := range c.Nodes {
			if f.Admitted && n.ID == p.ID {
				t.Fatalf("%s is admitted over an existing one", p.ID)
			}
		}
		if f.Admitted != (len(f.Reasons) == 0) || f.Node.Authority != "ai-provisional" || f.Node.Confidence != "speculative" {
			t.Fatalf("got %+v", f)
		}
	})
}

// TestParseAgreesWithTheSchema compares Parse with a whole implementation of
// JSON Schema, over nodes with values of any type in any place.
func TestParseAgreesWithTheSchema(t *testing.T) {
	compiled := map[schemas.NodeType]*jsonschema.Schema{}
	for _, kind := range schemas.NodeTypes() {
		raw, err := schemas.NodeJSONSchema(kind)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("node.json", value); err != nil {
			t.Fatal(err)
		}
		if compiled[kind], err = c.Compile("node.json"); err != nil {
			t.Fatal(err)
		}
	}
	scalars := []any{nil, true, "", "x", 1, 1.5, -3, []any{}, []any{"a"}, []any{1}, map[string]any{}}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(schemas.NodeTypes()).Draw(t, "type")
		schema := schemaFor(kind)
		object := map[string]any{"type": string(kind), "id": "A-B-001", "severity": "low", "trigger": "t", "statement": "s"}
		for _, key := range append(schema.Required, rapid.SliceOfN(rapid.SampledFrom(append(slices.Sorted(maps.Keys(schema.Properties)), "gadget")), 0, 4).Draw(t, "keys")...) {
			switch known := schema.Properties[key]; {
			case known != nil && known.Const != nil:
			case rapid.IntRange(0, 3).Draw(t, key+" wrong") == 0:
				object[key] = rapid.SampledFrom(scalars).Draw(t, key)
			case known != nil:
				object[key] = drawValue(t, known, scalars)
			}
		}
		raw, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		want := compiled[kind].Validate(value)
		if p := Parse(raw); (len(p.Problems) == 0) != (want == nil) {
			t.Fatalf("%s\nproblems %v\nschema   %v", raw, p.Problems, want)
		}
	})
}

// drawValue follows a schema, most of the time.
func drawValue(t *rapid.T, s *nodeSchema, other []any) any {
	if rapid.IntRange(0, 9).Draw(t, "other") == 0 {
		return rapid.SampledFrom(other).Draw(t, "value")
	}
	switch s.Type[0] {
	case "string":
		return "text"
	case "boolean":
		return true
	case "integer", "number":
		return 2
	case "array":
		return []any{drawValue(t, s.Items, other)}
	}
	object := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		if rapid.IntRange(0, 5).Draw(t, "has") > 0 {
			object[key] = drawValue(t, s.Properties[key], other)
		}
	}
	return object
}

// FuzzJudge judges any bytes and any node that comes of them.
func FuzzJudge(f *testing.F) {
	f.Add([]byte(`{"id":"GO-A-001","severity":"low","trigger":"A loop waits.","statement":"Bound it."}`), 0.2)
	f.Add([]byte(`{"id":3,"type":"Skill","skill":{"steps":"x"},"edges":[{"type":"CONFLICTS_WITH","target":"GO-OLD-001"}]}`), 0.96)
	f.Add([]byte(`{"type":"Gadget","tags":[1],"check":{"pattern":"("},"edges":null}`), -1.0)
	f.Add([]byte(`{"id":"GO-A-001"} {}`), 0.0)
	f.Add([]byte(`[`), 0.0)
	f.Add([]byte(`{"id":"GO-A-001","severity":"low","trigger":"T","statement":"S","edges":[],"tags":[" "],"evidence":[],"violation":" ","check":{"pattern":"x","paths":[]}}`), 0.7)
	f.Add([]byte(`{"id":"GO-A-001","type":"Skill","severity":"low","trigger":"T","statement":"S","skill":{"steps":["one",""],"tools":[]},"edges":[{"type":"TEACHES","target":"GO-OLD-001"}]}`), 0.1)
	f.Add([]byte(`{"id":"GO-A-001","type":"Abstraction","severity":"low","trigger":"T","statement":"S","abstraction":{"summary":"s","members":["GO-OLD-001"],"ratio":1e-9},"staleness_window":3}`), 0.1)
	f.Fuzz(func(t *testing.T, raw []byte, cosine float64) {
		old := complete("GO-OLD-001", "A clock is read.", "Pass it.")
		before := encoded(t, old)
		c := Corpus{Nodes: []schemas.Rule{old}, Cosines: []float64{cosine}}
		gate := Gate{Thresholds: Reference}
		p := Parse(raw)
		got := gate.Judge(p, c)
		if got.Admitted != (len(got.Reasons) == 0) || got.Node.Authority != "ai-provisional" || got.Node.Confidence != "speculative" {
			t.Fatalf("%s: %+v", raw, got)
		}
		if encoded(t, c.Nodes[0]) != before {
			t.Fatal("the corpus was changed")
		}
		if !slices.IsSortedFunc(got.Reasons, func(a, b Reason) int {
			return slices.Index(Checks(), a.Check) - slices.Index(Checks(), b.Check)
		}) {
			t.Fatalf("out of order: %v", got.Texts())
		}
		Neighbours(got.Node, c, 3)
		if !got.Admitted {
			return
		}
		if err := got.Node.Validate(); err != nil {
			t.Fatalf("%s is admitted: %v", raw, err)
		}
		if problems := corpus.CheckNode(got.Node); len(problems) > 0 {
			t.Fatalf("%s is admitted: %v", raw, problems)
		}
		var back schemas.Rule
		if err := json.Unmarshal([]byte(encoded(t, got.Node)), &back); err != nil || !reflect.DeepEqual(back, got.Node) {
			t.Fatalf("%s does not survive its event: %v", raw, err)
		}
		if again := gate.Judge(Of(got.Node), c); !again.Admitted {
			t.Fatalf("%s is refused the second time: %v", raw, again.Texts())
		}
	})
}
