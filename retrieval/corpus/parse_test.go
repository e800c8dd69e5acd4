package corpus

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/writbus/writ/schemas"
)

const small = `---
id: GO-CTX-FIRST-001
severity: high
trigger: when
statement: do
---
`

// with returns the small rule with extra front matter lines before the end.
func with(lines string) string {
	return strings.TrimSuffix(small, "---\n") + lines + "---\n"
}

func TestParse(t *testing.T) {
	base := schemas.Rule{ID: "GO-CTX-FIRST-001", Severity: "high", Trigger: "when", Statement: "do"}
	edit := func(f func(*schemas.Rule)) schemas.Rule { r := base; f(&r); return r }
	cases := []struct {
		name, src string
		want      schemas.Rule
	}{
		{"small", small, base},
		{"byte order mark", "\ufeff" + small, base},
		{"windows line ends", strings.ReplaceAll(small+"\na\nb\n", "\n", "\r\n"), edit(func(r *schemas.Rule) { r.Body = "a\nb" })},
		{"old mac line ends", strings.ReplaceAll(small, "\n", "\r"), base},
		{"no newline at the end", strings.TrimSuffix(small, "\n"), base},
		{"blanks after a fence", strings.ReplaceAll(small, "---\n", "--- \t\n"), base},
		{"comment", with("# a note\n"), base},
		{"body", small + "\n\n# Title\n\ntext  \n\n", edit(func(r *schemas.Rule) { r.Body = "# Title\n\ntext" })},
		{"body begins with code", small + "\n    x := 1\n", edit(func(r *schemas.Rule) { r.Body = "    x := 1" })},
		{"fence in the body", small + "a\n---\nb\n", edit(func(r *schemas.Rule) { r.Body = "a\n---\nb" })},
		{"indented fence in a literal", with("violation: |\n  a\n  ---\n  b\n"), edit(func(r *schemas.Rule) { r.Violation = "a\n---\nb\n" })},
		{"folded text", with("rationale: >-\n  one\n  two\n"), edit(func(r *schemas.Rule) { r.Rationale = "one two" })},
		{"quoted number", with("title: \"42\"\n"), edit(func(r *schemas.Rule) { r.Title = "42" })},
		{"flow and block lists", with("tags: [a, b]\nsymptoms:\n  - c\n"), edit(func(r *schemas.Rule) { r.Tags, r.Symptoms = []string{"a", "b"}, []string{"c"} })},
		{"quoted keys", with("\"title\": a\nedges: [{'type': RELATED_TO, \"target\": A-B-C}]\n"), edit(func(r *schemas.Rule) {
			r.Title, r.Edges = "a", []schemas.Edge{{Type: "RELATED_TO", Target: "A-B-C"}}
		})},
		{"as many blank lines as are allowed", with(strings.Repeat("\n", maxBlank)), base},
		{"edge forms", with("edges:\n  - {type: RELATED_TO, target: A-B-C}\n  - type: DEPENDS_ON\n    target: A-B-D\n"), edit(func(r *schemas.Rule) {
			r.Edges = []schemas.Edge{{Type: "RELATED_TO", Target: "A-B-C"}, {Type: "DEPENDS_ON", Target: "A-B-D"}}
		})},
		{"a rule by name", with("type: Rule\n"), base},
		{"every other field", with("always_on: true\nmechanical_enforcement_path: golangci-lint\nstaleness_window: 90\nevidence: [INC-7]\nrationalization_counters:\n  - a\nred_flag_thoughts: [b]\n"), edit(func(r *schemas.Rule) {
			r.AlwaysOn, r.MechanicalEnforcementPath, r.StalenessWindow = true, "golangci-lint", 90
			r.Evidence, r.RationalizationCounters, r.RedFlagThoughts = []string{"INC-7"}, []string{"a"}, []string{"b"}
		})},
		{"check", with("check:\n  language: go\n  pattern: 'a\\b'\n  contexts: [code, string]\n"), edit(func(r *schemas.Rule) {
			r.Check = &schemas.Check{Language: "go", Pattern: `a\b`, Contexts: []string{"code", "string"}}
		})},
		{"skill", with("type: Skill\nskill: {steps: [a, b], outcome: c}\n"), edit(func(r *schemas.Rule) {
			r.Type, r.Skill = schemas.NodeSkill, &schemas.Skill{Steps: []string{"a", "b"}, Outcome: "c"}
		})},
		{"one key in a mapping", with("type: Technique\ntechnique:\n  steps:\n    - a\n"), edit(func(r *schemas.Rule) {
			r.Type, r.Technique = schemas.NodeTechnique, &schemas.Technique{Steps: []string{"a"}}
		})},
		{"abstraction", with("type: Abstraction\nabstraction:\n  summary: s\n  members: [A-B-C]\n  ratio: 0.25\nedges:\n  - {type: ABSTRACTS, target: A-B-C}\n"), edit(func(r *schemas.Rule) {
			r.Type, r.Abstraction = schemas.NodeAbstraction, &schemas.Abstraction{Summary: "s", Members: []string{"A-B-C"}, Ratio: 0.25}
			r.Edges = []schemas.Edge{{Type: "ABSTRACTS", Target: "A-B-C"}}
		})},
		{"whole number for a number", with("type: Abstraction\nabstraction: {summary: s, members: [a], ratio: 1}\n"), edit(func(r *schemas.Rule) {
			r.Type, r.Abstraction = schemas.NodeAbstraction, &schemas.Abstraction{Summary: "s", Members: []string{"a"}, Ratio: 1}
		})},
		{"mandatory", with("mandatory: true\n"), edit(func(r *schemas.Rule) { r.Mandatory = true })},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse("r.md", []byte(c.src))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	cases := []struct {
		name, src string
		want      []string // "line: part of the reason", one per problem
	}{
		{"empty", "", []string{"1: begins with a line"}},
		{"no front matter", "# Title\n", []string{"1: begins with a line"}},
		{"no end", "---\nid: A-B-C\n", []string{"1: has no end"}},
		{"nothing inside", "---\n---\n", []string{"1: is empty"}},
		{"a list", "---\n- a\n---\n", []string{"2: is a mapping"}},
		{"broken YAML", "---\nid: A-B-C\ntrigger: \"open\n---\n", []string{"3: front matter"}},
		{"unknown key", with("serverity: high\n"), []string{"6: unknown key \"serverity\""}},
		{"key twice", with("severity: low\n"), []string{"6: already defined"}},
		{"key twice in other quotes", with("\"severity\": low\n"), []string{"6: already defined"}},
		{"edge key twice in other quotes", with("edges:\n  - {type: RELATED_TO, 'type': RELATED_TO, target: A-B-C}\n"), []string{"7: already defined"}},
		{"too much front matter", with("rationale: " + strings.Repeat("x", maxFront) + "\n"), []string{"1: the limit is 131072"}},
		{"blank lines", with(strings.Repeat("\n", maxBlank+1)), []string{"6: more than 32 blank lines"}},
		{"every missing field", "---\ntitle: x\n---\n", []string{"1: id is missing", "1: severity is missing", "1: trigger is missing", "1: statement is missing"}},
		{"blank", with("title: \" \"\n"), []string{"6: title is missing or blank"}},
		{"malformed id", strings.Replace(small, "GO-CTX-FIRST-001", "GO", 1), []string{"2: id \"GO\" is malformed"}},
		{"values outside their sets", strings.Replace(with("scope: query\nconfidence: certain\nauthority: robot\n"), "high", "urgent", 1), []string{
			"3: severity \"urgent\"", "7: confidence \"certain\"", "8: authority \"robot\"",
		}},
		{"no such day", with("last_validated: 2026-02-30\n"), []string{"6: last_validated"}},
		{"number for text", with("title: 42\n"), []string{"6: title takes text"}},
		{"nothing for text", with("title:\n"), []string{"6: title takes text"}},
		{"text for list", with("tags: a\n"), []string{"6: tags takes a list"}},
		{"text for flag", with("mandatory: \"yes\"\n"), []string{"6: mandatory takes true or false"}},
		{"blank entry", with("tags: [a, \"\"]\n"), []string{"6: tags: entry 2 is blank"}},
		{"edge is text", with("edges: [a]\n"), []string{"6: an edge is"}},
		{"edge with another key", with("edges:\n  - {type: RELATED_TO, to: A-B-C}\n"), []string{"7: unknown key to in an edge"}},
		{"bad edges", with("edges:\n  - {type: LIKES, target: A-B-C}\n  - {type: RELATED_TO, target: GO-CTX-FIRST-001}\n  - {type: RELATED_TO, target: \"\"}\n"), []string{
			"7: edge type \"LIKES\"", "8: points to the rule itself", "9: has no target",
		}},
		{"edge twice", with("edges:\n  - {type: RELATED_TO, target: A-B-C}\n  - {type: RELATED_TO, target: A-B-C}\n"), []string{"8: appears twice"}},
		{"alias", with("title: &a x\nscope: *a\n"), []string{"6: title takes text", "7: scope takes text"}},
		{"tag", with("title: !!str 42\n"), []string{"6: title takes text"}},
		{"unknown type", with("type: Wish\n"), []string{"6: type \"Wish\" is unknown"}},
		{"number for type", with("type: 3\n"), []string{"6: type takes text"}},
		{"missing detail", with("type: Skill\n"), []string{"1: a Skill has its own fields under the key skill"}},
		{"another type's detail", with("skill: {steps: [a]}\n"), []string{"6: a Rule has no key skill"}},
		{"text for a mapping", with("type: Skill\nskill: a\n"), []string{"7: skill takes keys of its own"}},
		{"empty detail", with("type: Skill\nskill: {}\n"), []string{"7: skill.steps is missing or empty"}},
		{"unknown key in a mapping", with("type: Skill\nskill:\n  steps: [a]\n  stepps: [b]\n"), []string{"9: unknown key \"stepps\" under skill"}},
		{"wrong kinds in a mapping", with("type: Skill\nskill:\n  steps: a\n  outcome: [b]\n"), []string{"8: skill.steps takes a list", "9: skill.outcome takes text"}},
		{"blank in a mapping", with("type: Rationalization\nrationalization:\n  excuse: \"\"\n"), []string{"7: rationalization.reality is missing", "8: rationalization.excuse is missing"}},
		{"number out of range", with("staleness_window: 99999999999\n"), []string{"6: staleness_window is out of range"}},
		{"number below the range", with("staleness_window: -99999999999\n"), []string{"6: staleness_window is out of range"}},
		{"negative days", with("staleness_window: -1\n"), []string{"6: staleness_window counts days"}},
		{"text for a whole number", with("staleness_window: \"7\"\n"), []string{"6: staleness_window takes a whole number"}},
		{"order from zero", with("type: Phase\nphase: {exit: [a]}\n"), []string{"7: phase.order counts from 1"}},
		{"text for a number", with("type: Abstraction\nabstraction: {summary: s, members: [a], ratio: b}\n"), []string{"7: abstraction.ratio takes a number"}},
		{"no finite number", with("type: Abstraction\nabstraction: {summary: s, members: [a], ratio: .inf}\n"), []string{"7: abstraction.ratio takes a number"}},
		{"check on a skill", with("type: Skill\nskill: {steps: [a]}\ncheck: {pattern: a}\n"), []string{"8: a Skill has no check"}},
		{"check with both", with("check:\n  pattern: a\n  query: b\n"), []string{"6: either a pattern or a query"}},
		{"check with neither", with("check: {language: go}\n"), []string{"6: either a pattern or a query"}},
		{"no regular expression", with("check:\n  pattern: (\n  unless: '['\n  contexts: [air]\n"), []string{"7: check.pattern is no regular", "8: check.unless is no regular", "9: check.contexts \"air\" is unknown"}},
		{"edge from the wrong type", with("edges:\n  - {type: PRESSURE_TESTS, target: A-B-C}\n"), []string{"7: edge PRESSURE_TESTS starts from PressureScenario, not from a Rule"}},
		{"not UTF-8", with("title: \"\xff\"\n"), []string{"6: byte 0xff is not UTF-8"}},
		{"control character", with("title: a\x00b\n"), []string{"6: control character U+0000"}},
		{"too large", small + strings.Repeat("x", MaxSize), []string{"1: the limit is 1048576"}},
		{"deep nesting", with("tags: " + strings.Repeat("[", 100_000) + "\n"), []string{"6: nests deeper"}},
		{"deep entries", with("tags:\n  " + strings.Repeat("- ", 50_000) + "a\n"), []string{"7: nests deeper"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			rule, err := Parse("dir/r.md", []byte(c.src))
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("error %v, want ErrInvalid", err)
			}
			if !reflect.ValueOf(rule).IsZero() {
				t.Errorf("rule %+v beside an error", rule)
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(c.want) {
				t.Fatalf("got %d problems, want %d:\n%s", len(lines), len(c.want), err)
			}
			for i, want := range c.want {
				at, reason, _ := strings.Cut(want, ": ")
				if !strings.HasPrefix(lines[i], "dir/r.md:"+at+": ") || !strings.Contains(lines[i], reason) {
					t.Errorf("problem %q, want line %s with %q", lines[i], at, reason)
				}
			}
		})
	}
}

func TestRenderRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyNode().Draw(t, "node")
		file := Render(want)
		got, err := Parse("r.md", file)
		if err != nil {
			t.Fatalf("%v\n%s", err, file)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n%s", diff, file)
		}
	})
}

func FuzzParse(f *testing.F) {
	files, _ := Load(os.DirFS("rules"))
	for _, file := range files[:20] {
		f.Add(Render(file.Rule))
	}
	for _, s := range []string{
		"", "---\n", "---\n---\n", small, "\ufeff" + small, strings.ReplaceAll(small, "\n", "\r\n"),
		with("title: &a x\nscope: *a\n"), with("violation: |2\n   a\n"), with("rationale: >+\n  a\n\n\n"),
		with("? a\n: b\n"), with("<<: {title: x}\n"), with("edges: [{type: RELATED_TO}]\n"), with("title: \"\\u0085\"\n"),
		with("type: Skill\nskill: {steps: [a], tools: []}\n"), with("type: Phase\nphase:\n  order: 0x2\n  exit:\n  - a\n"),
		with("type: Abstraction\nabstraction: {summary: s, members: [A], ratio: 1e-3}\n"), with("check:\n  pattern: '\\b'\n  unless: |\n    a\n"),
		with("tags: [[[[[[[[\n"), with("title: 'it''s'\n"), with("...\n"), with("%YAML 1.2\n"),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		r, err := Parse("f.md", src)
		if err != nil {
			if !errors.Is(err, ErrInvalid) || !strings.HasPrefix(err.Error(), "f.md:") {
				t.Fatalf("error without its place: %v", err)
			}
			return
		}
		if err := r.Validate(); err != nil {
			t.Fatalf("accepted a rule that is incomplete: %v", err)
		}
		file := Render(r)
		again, err := Parse("f.md", file)
		if err != nil {
			t.Fatalf("own rendering is refused: %v\n%s", err, file)
		}
		if diff := cmp.Diff(r, again); diff != "" {
			t.Fatalf("%s\n%s", diff, file)
		}
		if second := Render(again); !bytes.Equal(file, second) {
			t.Fatalf("rendering is not stable:\n%s\n%s", file, second)
		}
	})
}
