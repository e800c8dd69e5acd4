package corpus

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/writbus/writ/schemas"
)

// TestFieldsCoverTheRule fails when schemas.Rule gains a key this package does
// not read and write, or a type of node without fields of its own.
func TestFieldsCoverTheRule(t *testing.T) {
	var want []string
	for f := range reflect.TypeFor[schemas.Rule]().Fields() {
		if key, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); key != "-" {
			want = append(want, key)
		}
	}
	var got []string
	for _, f := range fields {
		got = append(got, f.key)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(detailKeys) != len(schemas.NodeTypes())-1 {
		t.Errorf("keys by type: %v", detailKeys)
	}
}

// awkward draws texts as awkward as YAML gets.
func awkward() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[a-z#:\-?!&*|>'"%@\x60{}\[\], \t\n\\]{1,30}`),
		rapid.StringMatching(`( {0,3}[a-z:#\-"'\t ]{0,8}\n){1,5}[a-z]?`),
		rapid.SampledFrom([]string{"true", "~", "null", "1e3", "0x1f", "2026-01-31", "- a", "a: b", "a #b", "---", "...", "=", "<<", "\u2028", "\u0085", "é", "\U0001F600", "a\r\nb", "a:", "a: ", "no", ".5", "a" + strings.Repeat("\n", maxBlank+2) + "b", "a" + strings.Repeat("\n", maxBlank) + "b"}),
	)
}

// anyNode draws sound nodes of every type, all fields filled at random.
func anyNode() *rapid.Generator[schemas.Rule] {
	text := awkward().Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
	body := rapid.Map(awkward(), func(s string) string {
		return trimBody(strings.Map(func(r rune) rune {
			if r < 0x20 && r != '\n' && r != '\t' || r == 0x7f {
				return -1
			}
			return r
		}, s))
	})
	return rapid.Custom(func(t *rapid.T) schemas.Rule {
		var r schemas.Rule
		own := rapid.SampledFrom(schemas.NodeTypes()).Draw(t, "type")
		drawFields(t, text, fields, reflect.ValueOf(&r).Elem(), detailKeys[own])
		if r.Type = own; own == schemas.NodeRule {
			r.Type = ""
		} else {
			r.Check = nil
		}
		if p := r.Playbook; p != nil && len(p.Phases)+len(p.Steps) == 0 {
			p.Steps = []string{text.Draw(t, "a step")}
		}
		r.ID = rapid.StringMatching(`[A-Z][A-Z0-9]?-[A-Z]-[0-9]{3}`).Draw(t, "id")
		r.Severity = rapid.SampledFrom(severities).Draw(t, "severity")
		r.Confidence = rapid.SampledFrom([]string{"", "speculative", "peer-reviewed"}).Draw(t, "confidence")
		r.Authority = rapid.SampledFrom(append([]string{""}, authorities...)).Draw(t, "authority")
		r.LastValidated = rapid.SampledFrom([]string{"", "2026-01-31"}).Draw(t, "date")
		r.Body = body.Draw(t, "body")
		r.Edges = nil
		allowed := slices.DeleteFunc(EdgeTypes(), func(e string) bool { _, to := EdgeEnds(e, own); return len(to) == 0 })
		for _, target := range rapid.SliceOfNDistinct(text, 0, 3, rapid.ID[string]).Draw(t, "targets") {
			if target != r.ID {
				r.Edges = append(r.Edges, schemas.Edge{Type: rapid.SampledFrom(allowed).Draw(t, "edge"), Target: target})
			}
		}
		if c := r.Check; c != nil {
			c.Pattern = rapid.SampledFrom([]string{"", `\bfoo\(`, "a|b: c", "'x'\n"}).Draw(t, "pattern")
			if c.Query = ""; c.Pattern == "" {
				c.Query = text.Draw(t, "query")
			}
			c.Unless, c.Contexts = rapid.SampledFrom([]string{"", "// ok", `"\t"`}).Draw(t, "unless"), nil
			if rapid.Bool().Draw(t, "in comments") {
				c.Contexts = []string{"code", "comment"}
			}
		}
		return r
	})
}

// drawFields fills a struct; of the mappings only check and the named detail.
func drawFields(t *rapid.T, text *rapid.Generator[string], fields []field, v reflect.Value, detail string) {
	for _, f := range fields {
		if !f.required && rapid.Bool().Draw(t, "leave out "+f.key) && f.key != detail {
			continue
		}
		into := v.Field(f.index)
		switch f.kind {
		case textValue:
			into.SetString(text.Draw(t, f.key))
		case listValue:
			into.Set(reflect.ValueOf(rapid.SliceOfN(text, 1, 3).Draw(t, f.key)))
		case flagValue:
			into.SetBool(rapid.Bool().Draw(t, f.key))
		case integerValue:
			into.SetInt(int64(rapid.IntRange(1, math.MaxInt32).Draw(t, f.key)))
		case numberValue:
			into.SetFloat(rapid.Float64Range(0, 1e6).Draw(t, f.key))
		case edgeValue:
		case mapValue:
			if f.key == detail || f.key == "check" {
				into.Set(reflect.New(into.Type().Elem()))
				drawFields(t, text, f.sub, into.Elem(), "")
			}
		}
	}
}

func TestEdgeTable(t *testing.T) {
	cases := []struct {
		edge     string
		from, to schemas.NodeType
		want     bool
	}{
		{"DEPENDS_ON", "", schemas.NodeRule, true},
		{"DEPENDS_ON", "", schemas.NodeForbiddenResponse, false},
		{"PRECEDES", schemas.NodePhase, schemas.NodePhase, true},
		{"CONFLICTS_WITH", "", schemas.NodeTechnique, true},
		{"CONFLICTS_WITH", "", schemas.NodePhase, false},
		{"SUPERSEDES", schemas.NodePhase, schemas.NodePhase, true},
		{"SUPERSEDES", schemas.NodeRule, "", true},
		{"SUPERSEDES", "", schemas.NodeSkill, false},
		{"RELATED_TO", schemas.NodeSubagentRole, schemas.NodeAbstraction, true},
		{"APPLIES_TO", "", schemas.NodePhase, true},
		{"TEACHES", schemas.NodeSkill, "", true},
		{"TEACHES", "", schemas.NodeSkill, true},
		{"TEACHES", "", "", false},
		{"INVOKES", schemas.NodePlaybook, schemas.NodeTechnique, true},
		{"BELONGS_TO", "", schemas.NodeCategory, true},
		{"BELONGS_TO", "", "", false},
		{"COUNTERS", "", schemas.NodeRationalization, true},
		{"COUNTERS", schemas.NodeRationalization, "", true},
		{"COUNTERS", "", "", false},
		{"DEMONSTRATES", schemas.NodeWorkedExample, schemas.NodeSkill, true},
		{"DISPATCHES", schemas.NodePlaybook, schemas.NodeSubagentRole, true},
		{"DISPATCHES", schemas.NodePhase, schemas.NodeSkill, false},
		{"GATES", "", schemas.NodePhase, true},
		{"PRESSURE_TESTS", schemas.NodePressureScenario, "", true},
		{"PRESSURE_TESTS", "", "", false},
		{"CONTAINS", schemas.NodePlaybook, schemas.NodePhase, true},
		{"CONTAINS", schemas.NodePhase, schemas.NodePhase, false},
		{"ATTACHED_TO", schemas.NodeRationalization, "", true},
		{"ABSTRACTS", schemas.NodeAbstraction, schemas.NodeTechnique, true},
		{"ABSTRACTS", schemas.NodeAbstraction, schemas.NodePhase, false},
		{"LIKES", "", "", false},
	}
	for _, c := range cases {
		if got := EdgeAllowed(c.edge, c.from, c.to); got != c.want {
			t.Errorf("%s from %q to %q: %v, want %v", c.edge, c.from, c.to, got, c.want)
		}
		if got := CheckEdge(schemas.Edge{Type: c.edge, Target: "A-B-C"}, c.from, c.to); (got == "") != c.want {
			t.Errorf("%s from %q to %q: %q", c.edge, c.from, c.to, got)
		}
	}
	if n := len(EdgeTypes()); n != 18 {
		t.Errorf("%d edge types, want 18", n)
	}
	for _, e := range EdgeTypes() {
		if from, _ := EdgeEnds(e, ""); len(from) == 0 {
			t.Errorf("%s starts nowhere", e)
		}
	}
}

func TestCheckNode(t *testing.T) {
	got := CheckNode(schemas.Rule{ID: "x", Severity: "high", Trigger: " ", Statement: "s", Type: schemas.NodeSkill, Edges: []schemas.Edge{{Type: "RELATED_TO"}}})
	want := []string{
		"trigger is missing or blank",
		`id "x" is malformed: capital letters, digits and hyphens, three parts or more, like GO-CTX-FIRST-001`,
		"a Skill has its own fields under the key skill: add it",
		"edge RELATED_TO has no target",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := CheckNode(schemas.Rule{ID: "A-B-C", Severity: "high", Trigger: "t", Statement: "s", Type: schemas.NodeRule}); len(got) > 0 {
		t.Errorf("a sound rule: %v", got)
	}
}

// TestRenderLeavesOutEmptyLists: JSON may bring lists without entries.
func TestRenderLeavesOutEmptyLists(t *testing.T) {
	r := schemas.Rule{ID: "A-B-C", Severity: "low", Trigger: "t", Statement: "s"}
	want := string(Render(r))
	r.Type, r.Tags, r.Symptoms, r.Edges = schemas.NodeRule, []string{}, []string{}, []schemas.Edge{}
	if got := string(Render(r)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
