package corpus

import (
	"bytes"
	"errors"
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
		{"values outside their sets", strings.Replace(with("scope: universe\nconfidence: certain\nauthority: robot\n"), "high", "urgent", 1), []string{
			"3: severity \"urgent\"", "6: scope \"universe\"", "7: confidence \"certain\"", "8: authority \"robot\"",
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

// TestFieldsCoverTheRule fails when schemas.Rule gains a key this package does
// not read and write.
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
}

// anyRule draws rules whose texts are as awkward as YAML gets.
func anyRule() *rapid.Generator[schemas.Rule] {
	awkward := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[a-z#:\-?!&*|>'"%@\x60{}\[\], \t\n\\]{1,30}`),
		rapid.StringMatching(`( {0,3}[a-z:#\-"'\t ]{0,8}\n){1,5}[a-z]?`),
		rapid.SampledFrom([]string{"true", "~", "null", "1e3", "0x1f", "2026-01-31", "- a", "a: b", "a #b", "---", "...", "=", "<<", "\u2028", "\u0085", "é", "\U0001F600", "a\r\nb", "a:", "a: ", "no", ".5", "a" + strings.Repeat("\n", maxBlank+2) + "b", "a" + strings.Repeat("\n", maxBlank) + "b"}),
	)
	text := awkward.Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
	maybe := rapid.OneOf(rapid.Just(""), text)
	body := rapid.Map(awkward, func(s string) string {
		return trimBody(strings.Map(func(r rune) rune {
			if r < 0x20 && r != '\n' && r != '\t' || r == 0x7f {
				return -1
			}
			return r
		}, s))
	})
	return rapid.Custom(func(t *rapid.T) schemas.Rule {
		list := func(name string) []string {
			if s := rapid.SliceOfN(text, 0, 3).Draw(t, name); len(s) > 0 {
				return s
			}
			return nil
		}
		r := schemas.Rule{
			ID: rapid.StringMatching(`[A-Z][A-Z0-9]?-[A-Z]-[0-9]{3}`).Draw(t, "id"), Title: maybe.Draw(t, "title"),
			Domain: maybe.Draw(t, "domain"), Severity: rapid.SampledFrom(severities).Draw(t, "severity"),
			Scope:   rapid.SampledFrom(append([]string{""}, scopes...)).Draw(t, "scope"),
			Trigger: text.Draw(t, "trigger"), Statement: text.Draw(t, "statement"), Symptoms: list("symptoms"),
			Violation: maybe.Draw(t, "violation"), PassExample: maybe.Draw(t, "pass"), Enforcement: maybe.Draw(t, "enforcement"),
			Rationale: maybe.Draw(t, "rationale"), Tags: list("tags"), Mandatory: rapid.Bool().Draw(t, "mandatory"),
			Confidence: "speculative", Authority: "human", LastValidated: "2026-01-31", Body: body.Draw(t, "body"),
		}
		for _, target := range rapid.SliceOfNDistinct(text, 0, 3, rapid.ID[string]).Draw(t, "targets") {
			if target != r.ID {
				r.Edges = append(r.Edges, schemas.Edge{Type: rapid.SampledFrom(edgeTypes).Draw(t, "type"), Target: target})
			}
		}
		return r
	})
}

func TestRenderRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyRule().Draw(t, "rule")
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
	files, err := Embedded()
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files[:20] {
		f.Add(Render(file.Rule))
	}
	for _, s := range []string{
		"", "---\n", "---\n---\n", small, "\ufeff" + small, strings.ReplaceAll(small, "\n", "\r\n"),
		with("title: &a x\nscope: *a\n"), with("violation: |2\n   a\n"), with("rationale: >+\n  a\n\n\n"),
		with("? a\n: b\n"), with("<<: {title: x}\n"), with("edges: [{type: RELATED_TO}]\n"), with("title: \"\\u0085\"\n"),
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
		if err := r.Check(); err != nil {
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
