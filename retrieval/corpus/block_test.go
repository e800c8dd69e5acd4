package corpus

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/writbus/writ/schemas"
)

// TestBlocks: how differently one block may be written.
func TestBlocks(t *testing.T) {
	base := schemas.Rule{ID: "A-B-C", Severity: "high", Trigger: "t", Statement: "s"}
	edit := func(f func(*schemas.Rule)) schemas.Rule { r := base; f(&r); return r }
	cases := []struct {
		name  string
		lines string
		want  schemas.Rule
		notes []string
	}{
		{"pairs", "**Severity**: High\n**Trigger**: t\n**Statement:** s", base, nil},
		{"plain pairs and bullets", "- **Severity**: high\nTrigger: t\nStatement: s\n", base, nil},
		{"underlined headings", "**Severity**: high\n\nTrigger\n=======\nt\n\nStatement\n---\n\ns", base, nil},
		{"levels and closing marks", "**Severity**: high\n# Trigger #\nt\n###### **Statement**:\ns", base, nil},
		{"pairs after sections", "## Trigger\nt\n## Statement\ns\n\n__Severity__: high", base, nil},
		{"a bullet in a section is text", "**Severity**: high\n## Trigger\nt\n## Statement\ns\n- **Domain**: x\n", edit(func(r *schemas.Rule) { r.Statement = "s\n- **Domain**: x" }), nil},
		{"a deeper heading is text", "**Severity**: high\n## Trigger\nt\n## Statement\ns\n### Detail\nd", edit(func(r *schemas.Rule) { r.Statement = "s\n### Detail\nd" }), nil},
		{"another section is body", "**Severity**: high\n## Trigger\nt\n## History\nh\n\n### Detail\nd\n## Statement\ns", edit(func(r *schemas.Rule) { r.Body = "## History\nh\n\n### Detail\nd" }), nil},
		{"heading in code", "**Severity**: high\n## Trigger\nt\n~~~md\n## Statement\n```\n~~~\n## Statement\ns", edit(func(r *schemas.Rule) { r.Trigger = "t\n~~~md\n## Statement\n```\n~~~" }), nil},
		{"a fence that nothing closes", "**Severity**: high\n## Trigger\nt\n````\n## Statement\ns\n```go", edit(func(r *schemas.Rule) { r.Trigger, r.Statement = "t\n````", "s\n```go" }), nil},
		{"code of an example", "**Severity**: high\n**Trigger**: t\n\n**Statement**: s\n## Violation\n\n  ```go\n  a\n\n    b\n  ```\n## Pass\nFirst:\n```go\nc\n```", edit(func(r *schemas.Rule) { r.Violation, r.PassExample = "a\n\n  b\n", "First:\n```go\nc\n```" }), nil},
		{"two examples stay as they are", "**Severity**: high\n**Trigger**: t\n\n**Statement**: s\n## Violation\n```\na\n```\n```\nb\n```", edit(func(r *schemas.Rule) { r.Violation = "```\na\n```\n```\nb\n```" }), nil},
		{"lists", "**Severity**: high\n**Tags**: a, `b`; [c]\n**Trigger**: t\n\n**Statement**: s\n## Symptoms\n1. x\n   y\n\n2) z", edit(func(r *schemas.Rule) {
			r.Tags, r.Symptoms = []string{"a", "b", "[c]"}, []string{"x\ny", "z"}
		}), nil},
		{"title without the id", "## A title\n**Severity**: high\n**Trigger**: t\n\n**Statement**: s", edit(func(r *schemas.Rule) { r.Title = "A title" }), nil},
		{"words of no set", "**Severity**: urgent\n**Authority**: robot\n**Mandatory**: perhaps\n**Last_validated**: soon\n**Colour**: red\n**Trigger**: t\n\n**Statement**: s", edit(func(r *schemas.Rule) { r.Severity = "medium" }), []string{
			`f.md:2: severity "urgent" is unknown: left out`, `f.md:3: authority "robot" is unknown: left out`, `f.md:4: mandatory is not understood: "perhaps" is left out`,
			`f.md:5: last_validated "soon" is no date: left out`, "f.md:6: property colour has no place here: left out", "f.md:1: severity was missing: taken as medium, for there was none",
		}},
		{"twice", "**Severity**: high\n## Trigger\nt\n## Statement\ns\n## Statement\nother", base, []string{"f.md:7: statement is given twice: the first one holds"}},
		{"edges", "**Severity**: high\n**Trigger**: t\n\n**Statement**: s\n## Edges\n* `PRECEDES` → A-B-D, A-B-E\n- type: DEPENDS_ON, target: A-B-F\n- nothing\n- PRESSURE_TESTS: A-B-G\n- PRECEDES: A-B-C\n<!-- EDGE type=PRECEDES -->", edit(func(r *schemas.Rule) {
			r.Edges = []schemas.Edge{{Type: "PRECEDES", Target: "A-B-D"}, {Type: "PRECEDES", Target: "A-B-E"}, {Type: "DEPENDS_ON", Target: "A-B-F"}, {Type: "RELATED_TO", Target: "A-B-G"}}
		}), []string{
			`f.md:9: edge "- nothing" is not understood: left out`,
			"f.md:10: edge PRESSURE_TESTS starts from no Rule here: kept as RELATED_TO",
			"f.md:11: edge PRECEDES points to nothing or to its own node: left out", "f.md:12: edge PRECEDES points to nothing or to its own node: left out",
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found, loose := convertBlocks("f.md", "<!-- RULE START: A-B-C -->\n"+c.lines+"\n<!-- RULE END: A-B-C -->\n")
			if len(found) != 1 || len(loose) > 0 || len(found[0].problems) > 0 {
				t.Fatalf("%d nodes, notes %v, problems %v", len(found), loose, found[0].problems)
			}
			if diff := cmp.Diff(c.want, found[0].rule); diff != "" {
				t.Error(diff)
			}
			var notes []string
			for _, p := range found[0].notes {
				notes = append(notes, p.String())
			}
			if diff := cmp.Diff(c.notes, notes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// convertBlocks reads the blocks of one file, each as a node of its own.
func convertBlocks(path, text string) (found []*document, notes []Problem) {
	found, notes = parseBlocks(path, text)
	for i, d := range found {
		if d.from != nil {
			found[i] = d.from.convert()
		}
	}
	return found, notes
}

// TestFillIns: every type of an older format becomes a node that is sound.
func TestFillIns(t *testing.T) {
	for _, typ := range schemas.NodeTypes() {
		own := map[schemas.NodeType]string{
			schemas.NodeAbstraction: "\n**rule_ids**: A-B-D, A-B-E",
		}[typ]
		src := "<!-- NODE START id=A-B-C type=" + string(typ) + " -->\n**Trigger**: t\n\n**Statement**: s" + own + "\n<!-- NODE END -->"
		found, _ := convertBlocks("f.md", src)
		if len(found) != 1 || len(found[0].problems) > 0 || found[0].rule.NodeType() != typ {
			t.Errorf("%s: %+v", typ, found)
		}
	}
	found, _ := convertBlocks("f.md", "<!-- NODE START id=A-B-C type=Abstraction -->\n**Statement**: s\n<!-- NODE END -->")
	if len(found) != 1 || len(found[0].problems) != 1 || !strings.Contains(found[0].problems[0].Reason, "abstraction.members is missing") {
		t.Errorf("a node whose own fields cannot be filled in: %+v", found)
	}
}
