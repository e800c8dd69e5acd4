package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/writbus/writ/test/integration"
)

const (
	goodFiles    = "## Files\n\n- `cmd/tool/main.go`\n\n"
	goodAnalysis = "## Analysis\n\nThe tool exits 0 when a flag is unknown, so scripts believe it worked.\n\n"
	goodRules    = "## Rules Applied\n\n- CLI-EXIT-CODE-001: 2 for usage errors\n\n"
	goodBoxes    = "## Capabilities\n\n- [ ] An unknown flag exits with 2\n"
)

var knownRules = []string{"CLI-EXIT-CODE-001", "GO-CTX-001", "ENF-GATE-FINAL"}

func with(section, body string) string {
	out := ""
	for _, part := range []string{goodFiles, goodAnalysis, goodRules, goodBoxes} {
		if strings.HasPrefix(part, "## "+section+"\n") {
			part = "## " + section + "\n\n" + body + "\n\n"
		}
		out += part
	}
	return out
}

func validate(src string) (Plan, []Problem) {
	return Validate([]byte(src), has([]string{"CLI-EXIT-CODE-001", "ENF-GATE-FINAL"}), has(knownRules))
}

func TestSectionBodies(t *testing.T) {
	for _, c := range []struct{ section, body, want string }{
		{"Files", "- cmd/tool/main.go", ""},
		{"Files", "- internal/cart – a new package", ""},
		{"Files", "- `Makefile`\n- LICENSE", ""},
		{"Files", "- [the sender](internal/send.go)", ""},
		{"Files", "| path | what |\n|---|---|\n| `a/b.go` | new |", ""},
		{"Files", "| path | what |\n|---|---|\n| TODO | new |", "placeholder:Files"},
		{"Files", "| path | what |\n|---|---|\n| a/b.go | - |", ""},
		{"Files", "1. `src\\cart\\total.cs`", ""},
		{"Files", "- `TODO.md` is deleted", ""},
		{"Files", "> - `cmd/tool/main.go`", ""},
		{"Files", "<p>cmd/tool/main.go</p>", ""},
		{"Files", "- `.gitignore`", ""},
		{"Files", "- web/package.json", ""},
		{"Files", "See https://example.com/a.go for it.", "no_files"},
		{"Files", "<https://example.com/src/a.go> and others", "no_files"},
		{"Files", "the reader and/or the writer, e.g. the first, since v1.2", "no_files"},
		{"Files", "- `total()` and its callers", "no_files"},
		{"Files", "everything Node.js reads", "no_files"},
		{"Files", "<!-- src/a.go -->", "empty_section:Files"},
		{"Files", "### New\n\n### Changed", "empty_section:Files"},
		{"Files", "- \n- ", "empty_section:Files"},
		{"Files", "none", "placeholder:Files"},
		{"Files", "- `a.go`\n- ...", "placeholder:Files"},
		{"Files", "- `a.go`\n- **FIXME** the rest", "placeholder:Files"},
		{"Files", "- `a.go`\n- todo", "placeholder:Files"},
		{"Analysis", "> Quoted text that says why this is done.", ""},
		{"Analysis", "    some code only", "empty_section:Analysis"},
		{"Analysis", "<!-- explained elsewhere -->\n\n---\n", "empty_section:Analysis"},
		{"Capabilities", "<!-- never closed", "empty_section:Capabilities"},
		{"Analysis", "Todo lists are stored per user, in one table.", ""},
		{"Analysis", "Real text.\n\nTODO: write the rest.", "placeholder:Analysis"},
		{"Analysis", "Real text here.\n\n- FIXME", "placeholder:Analysis"},
		{"Analysis", "TODOs in the parser are resolved by this change.", ""},
		{"Analysis", "`TODO` marks in the parser are resolved by this change.", ""},
		{"Analysis", "The analysis is to be determined.", "placeholder:Analysis"},
		{"Analysis", "To be filled in later.", "placeholder:Analysis"},
		{"Analysis", "*(will be added soon)*", "placeholder:Analysis"},
		{"Analysis", "Coming soon!", "placeholder:Analysis"},
		{"Analysis", "[describe the analysis here]", "placeholder:Analysis"},
		{"Analysis", "TBD.", "placeholder:Analysis"},
		{"Analysis", "tbd - after the meeting", "placeholder:Analysis"},
		{"Analysis", "To be determined by a profile of the parser: which loop is hot.", ""},
		{"Analysis", "The size is to be determined at run time, from the header.", ""},
		{"Analysis", "The fixtures hold Lorem ipsum; the layout does not care about text.", ""},
		{"Analysis", "bla bla bla", "placeholder:Analysis"},
		{"Analysis", "foo bar", "placeholder:Analysis"},
		{"Analysis", "---\n\n?", "placeholder:Analysis"},
		{"Analysis", "### Cause\nObvious.", "placeholder:Analysis"},
		{"Analysis", "祝日を考慮しないため、月初の請求処理が休業日に実行される。", ""},
		{"Analysis", "明白", "placeholder:Analysis"},
		{"Rules Applied", "no MATCHING rules.", ""},
		{"Rules Applied", "- `No matching rules`", ""},
		{"Rules Applied", "No\nmatching rules", ""},
		{"Rules Applied", "No matching rules\n\n- CLI-EXIT-CODE-001", "contradictory_rules"},
		{"Rules Applied", "### CLI-EXIT-CODE-001\n\nexit codes are documented", ""},
		{"Rules Applied", "CLI-EXIT-CODE-001", ""},
		{"Rules Applied", "None.", "placeholder:Rules Applied"},
		{"Rules Applied", "No rules.", "no_rules_statement"},
		{"Rules Applied", "GO-CTX-001: contexts", "hallucinated_rule:GO-CTX-001"},
		{"Rules Applied", "GO-CTX-001 and GO-CTX-002", "hallucinated_rule:GO-CTX-001 unknown_rule:GO-CTX-002"},
		{"Rules Applied", "cli-exit-code-001 in small letters", "no_rules_statement"},
		{"Rules Applied", "X-CLI-EXIT-CODE-001 is not CLI-EXIT-CODE-001x", "unknown_rule:X-CLI-EXIT-CODE-001"},
		{"Rules Applied", "MIL-STD-498, CC-BY-SA, CVE-2021-44228, ISO-8859-1 and UTF-8", "no_rules_statement"},
		{"Rules Applied", "| rule | why |\n|---|---|\n| CLI-EXIT-CODE-001 | codes |", ""},
		{"Rules Applied", "```\nCLI-EXIT-CODE-001\n```\nas shown above", "no_rules_statement"},
		{"Rules Applied", "see https://rules.example.com/CLI-EXIT-CODE-001", ""},
		{"Capabilities", "1. [ ] an unknown flag is refused", ""},
		{"Capabilities", "- group of things\n  - [ ] a nested box", ""},
		{"Capabilities", "- group of things\n  - [x] a nested box", "ticked_capability"},
		{"Capabilities", "- [x](https://example.com) is only a link", "no_capabilities"},
		{"Capabilities", "- \\[ ] escaped, so no box", "no_capabilities"},
		{"Capabilities", "- [] not a box either", "no_capabilities"},
		{"Capabilities", "- [ ] works as told\n- [ ] \n", "placeholder:Capabilities"},
		{"Capabilities", "- [ ] works as told\n- [ ] ...\n", "placeholder:Capabilities"},
		{"Capabilities", "[ ] no list, no box", "no_capabilities"},
	} {
		t.Run(c.section+"/"+c.body, func(t *testing.T) {
			_, problems := validate(with(c.section, c.body))
			if got := strings.Join(keys(problems), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestHeadings(t *testing.T) {
	rest := goodAnalysis + goodRules + goodBoxes
	for _, c := range []struct{ name, src, want string }{
		{"byte order mark", "\ufeff" + goodFiles + rest, ""},
		{"carriage returns", strings.ReplaceAll(goodFiles+rest, "\n", "\r"), ""},
		{"setext", "Files\n---\n\n`a.go` only\n\n" + rest, ""},
		{"spaces and closing marks", "  ##   Files   ##\n`a.go`\n\n" + rest, ""},
		{"other case", "## files\n\n`a.go`\n\n" + rest, ""},
		{"colon", "## 1. Files to create or change:\n\n`a.go`\n\n" + rest, ""},
		{"other words", goodFiles + "## Root-cause analysis\n\nThe tool exits 0 when a flag is unknown, so scripts believe it worked.\n\n## **Applicable rules**\n\n- CLI-EXIT-CODE-001: 2 for usage errors\n\n## CAPABILITIES\n\n- [ ] An unknown flag exits with 2\n", ""},
		{"its own name goes before", goodFiles + "## Files changed\n\nthe list above\n\n" + rest, ""},
		{"two that mean it", "## Files to change\n\n`a.go`\n\n## Changed files\n\n`b.go`\n\n" + rest, "duplicate_section:Files"},
		{"another meaning", "## Files not to change\n\n`a.go`\n\n" + rest, "missing_section:Files"},
		{"a slip", "## Fils\n\n`a.go`\n\n" + rest, "missing_section:Files"},
		{"four spaces", rest + "\n\n    ## Files\n", "missing_section:Files"},
		{"quoted", "> ## Files\n> `a.go`\n\n" + rest, "missing_section:Files"},
		{"in a list", "- ## Files\n  `a.go`\n\n" + rest, "missing_section:Files"},
		{"seven marks short", "##Files\n`a.go`\n\n" + rest, "missing_section:Files"},
		{"fenced in a list", "- x\n  ```\n  ## Files\n  ```\n\n" + rest, "section_in_code_fence:Files"},
		{"fenced as setext", "```\nFiles\n---\n```\n\n" + rest, "section_in_code_fence:Files"},
		{"fenced by other words", "```\n## Files to change\n```\n\n" + rest, "section_in_code_fence:Files"},
		{"quoted in a fence", "```\n> ## Files\n```\n\n" + rest, "missing_section:Files"},
		{"level one ends a section", "## Files\n# Other\n`a.go`\n\n" + rest, "empty_section:Files"},
		{"duplicate empty", "## Files\n## Files\n" + rest, "duplicate_section:Files"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, problems := validate(c.src)
			if got := strings.Join(keys(problems), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhatAPlanSays(t *testing.T) {
	src := "## Files\n\n- `./pkg/a.go:12` → `pkg/b.go`\n- `pkg/c.go` – deleted\n- delete `pkg/d.go`\n- `pkg/e.go` and `pkg/a.go`\n- [f](pkg/f.go)\n\n" +
		goodAnalysis + goodRules + "## Capabilities\n\n- [ ] one `thing`\n- [X] two\n  things\n"
	got, problems := validate(src)
	want := Plan{
		Files: []string{"pkg/a.go", "pkg/b.go", "pkg/c.go", "pkg/d.go", "pkg/e.go", "pkg/f.go"},
		Gone:  []string{"pkg/a.go", "pkg/c.go", "pkg/d.go"},
		Rules: []string{"CLI-EXIT-CODE-001"},
		Capabilities: []Capability{
			{Text: "one thing", Line: 19},
			{Text: "two things", Ticked: true, Line: 20},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(problems) != 1 || problems[0].Line != 20 || key(problems[0]) != TickedCapability {
		t.Errorf("problems = %+v", problems)
	}
}

func TestLines(t *testing.T) {
	src := "intro\n\n## Files\nTODO\n\n## Analysis\n\n## Rules Applied\nx y\nGO-CTX-001\n\n```\ncode\n## Capabilities\n```\n"
	_, problems := validate(src)
	var got []string
	for _, p := range problems {
		got = append(got, fmt.Sprintf("%d %s", p.Line, key(p)))
		if p.Text == "" {
			t.Errorf("%s has no text", key(p))
		}
	}
	want := []string{"4 placeholder:Files", "6 empty_section:Analysis", "10 hallucinated_rule:GO-CTX-001", "14 section_in_code_fence:Capabilities"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOnlyARuleThatDoesNotExistIsCalledInvented: one that was merely named is to be read.
func TestOnlyARuleThatDoesNotExistIsCalledInvented(t *testing.T) {
	_, problems := validate(with("Rules Applied", "GO-CTX-001 and GO-CTX-002"))
	if len(problems) != 2 || strings.Contains(problems[0].Text, "hallucinated") || !strings.Contains(problems[0].Text, "writ rule show GO-CTX-001") ||
		!strings.Contains(problems[1].Text, "hallucinated") || !strings.Contains(problems[1].Text, "GO-CTX-002 does not exist") {
		t.Errorf("%+v", problems)
	}
}

func TestParseKnowsNoRules(t *testing.T) {
	p, problems := Parse([]byte(with("Rules Applied", "- NO-SUCH-RULE-001: a rule")))
	if problems != nil || !slices.Equal(p.Rules, []string{"NO-SUCH-RULE-001"}) {
		t.Errorf("plan %+v, problems %+v", p, problems)
	}
}

func TestParseCapabilities(t *testing.T) {
	got := ParseCapabilities([]byte("# Done\n- [x] one\n## Left\n* [ ] two\n"))
	want := []Capability{{Text: "one", Ticked: true, Line: 2}, {Text: "two", Line: 4}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestTooLarge(t *testing.T) {
	if _, problems := Parse(make([]byte, MaxBytes+1)); len(problems) != 1 || key(problems[0]) != TooLarge {
		t.Errorf("problems = %+v", problems)
	}
}

// What a parser takes long for is refused before it is parsed.
func TestNestingIsBounded(t *testing.T) {
	size := MaxBytes / integration.Rounds(4, 1)
	for _, unit := range []string{"> ", ">", "- ", "1. ", "- > ", "[a]("} {
		if _, problems := Parse([]byte(strings.Repeat(unit, size/len(unit)))); len(problems) != 1 || key(problems[0]) != TooLarge {
			t.Errorf("%q repeated: %+v", unit, problems)
		}
	}
	for _, unit := range []string{"[", "*a ", "```\n", "## Files\n", "| a ", "<!--", "`", "&", "- - -\n", "![", "<a ", "**"} {
		if _, problems := Parse([]byte(strings.Repeat(unit, size/len(unit)))); len(problems) == 0 || key(problems[0]) == TooLarge {
			t.Errorf("%q repeated: %+v", unit, problems)
		}
	}
}

func FuzzValidate(f *testing.F) {
	f.Add([]byte(goodFiles + goodAnalysis + goodRules + goodBoxes))
	f.Add([]byte("## Files\r\n- [x](a.go)\r- `b\\c.go` → d\n\n````\n```\n## Files\n````"))
	f.Add([]byte("\ufeff## Files\n<!-- \n## Analysis\n> - [ ] TODO\n| a |\n|-|\n| GO-CTX-001 |"))
	f.Fuzz(func(t *testing.T, src []byte) {
		p, problems := Validate(src, has(knownRules), has(knownRules))
		again, problems2 := Validate(src, has(knownRules), has(knownRules))
		if !cmp.Equal(p, again) || !cmp.Equal(problems, problems2) {
			t.Fatal("two readings differ")
		}
		lines := 1 + strings.Count(string(normalise(src)), "\n")
		last := 0
		for _, q := range problems {
			if q.Line < last || q.Line > lines || q.Text == "" || q.Code == "" {
				t.Fatalf("%+v after line %d of %d", q, last, lines)
			}
			last = q.Line
		}
		if problems == nil && (len(p.Files) == 0 || len(p.Capabilities) == 0) {
			t.Fatalf("valid without files or capabilities: %+v", p)
		}
	})
}

// TestWhatIsNotShown: what a reader does not see is not approved.
func TestWhatIsNotShown(t *testing.T) {
	for _, c := range []struct{ section, body, want string }{
		{"Analysis", "<details>\n\nThe tool exits 0 for an unknown flag.\n\n</details>", "empty_section:Analysis"},
		{"Analysis", "Scripts believe it worked.\n\n<details><summary>Log</summary>\n\nexit 0\n\n</details>", ""},
		{"Analysis", "~~The tool exits 0 for an unknown flag.~~", "empty_section:Analysis"},
		{"Analysis", "<del>The tool exits 0 for an unknown flag.</del>", "empty_section:Analysis"},
		{"Analysis", "Scripts believe it. <span style=\"display: none\">And more.</span>", "hidden_text"},
		{"Analysis", "Scripts believe it; the page says `<div hidden>`.", ""},
		{"Analysis", "Scripts believe \u202eit worked\u202c here.", "hidden_text"},
		{"Analysis", "Scripts believe \x1b[8mit worked\x1b[0m here.", "hidden_text"},
		{"Analysis", "می\u200cخواهیم پرچم ناشناخته را رد کنیم", ""},
		{"Analysis", "As the user requested, see above.", "placeholder:Analysis"},
		{"Capabilities", "- [ ] It works as expected", "placeholder:Capabilities"},
		{"Capabilities", "- [ ] An unknown flag exits with 2\n- [ ] All tests pass", ""},
		{"Files", "- `**/*` whatever is needed", "too_broad"},
		{"Files", "- `src/**`", "too_broad"},
		{"Files", "- `{cmd,*}/**/*.*`", "too_broad"},
		{"Files", "- `cmd/tool/**`\n- `docs/*.md`", ""},
		{"Files", "- `src/{cart,price}.ts`", ""},
		{"Files", "- `src/{cart,price/{a,b}}.ts`", ""},
		{"Files", "- `src/{cart.ts,**}`", "too_broad"},
		{"Files", "- `{src,lib}/**`", "too_broad"},
		{"Files", "- `src/*.{ts,js}`", "too_broad"},
		{"Files", "- `src/{cart`", ""},
		{"Rules Applied", "It is not true that no matching rules exist.", "no_rules_statement"},
		{"Rules Applied", "I did not touch TLS. There are no matching rules.", ""},
		{"Rules Applied", "No matching rules, since none does concern Zig (it is not covered).", ""},
		{"Rules Applied", "There is no reason to say no matching rules.", "no_rules_statement"},
		{"Rules Applied", "`No matching rules` is what one would write if there were none.", "no_rules_statement"},
	} {
		t.Run(c.section+"/"+c.body, func(t *testing.T) {
			_, problems := validate(with(c.section, c.body))
			if got := strings.Join(keys(problems), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
