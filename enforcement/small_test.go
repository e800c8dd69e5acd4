package enforcement

import (
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// edit asks to change lines of a file, which differs in as many from what it held
// before, and does it where the user says yes.
func (x *session) edit(name, before, after string, lines int, yes bool) Decision {
	x.t.Helper()
	return x.editTo(name, before, after, lines, lines+x.state.Small[name], yes)
}

// editTo is edit of a file that then differs in all from what it held at the prompt.
func (x *session) editTo(name, before, after string, lines, all int, yes bool) Decision {
	x.t.Helper()
	req := x.requestOf(name, after)
	x.edits(&req, 0, before, after, lines, all)
	d := x.do(req)
	if d.Verdict == Ask && yes || d.Verdict == Allow {
		x.do(FinishTool{ToolFinished: schemas.ToolFinished{Tool: req.Tool, ToolUseID: req.ToolUseID, Files: []schemas.FileState{fileState(name, []byte(after))}}})
	}
	return d
}

// edits notes what a request changes of a target, as the turn does.
func (x *session) edits(req *RequestTool, at int, before, after string, lines, all int) {
	target := &req.Targets[at]
	if target.Class != ClassCode {
		return
	}
	if req.Edits == nil {
		req.Edits = map[string]Edit{}
	}
	target.Lines = all
	req.Edits[target.Rel] = NewEdit(target.Rel, []byte(before), []byte(after), lines, all)
}

func small(t testing.TB) *session {
	x := newSession(t, "")
	x.prompt("/writ-mode small")
	x.prompt("mend the rounding of totals")
	if x.state.Mode != ModeSmall {
		t.Fatalf("mode %q", x.state.Mode)
	}
	return x
}

func TestSmallIsTheUsersToChoose(t *testing.T) {
	for _, from := range []string{"", ModeReview, ModeWork} {
		if x := newSession(t, from); x.do(SetMode{Mode: ModeSmall}).Verdict != Deny {
			t.Errorf("from %q an agent chose it", from)
		}
	}
	if x := small(t); x.do(SetMode{Mode: ModeWork}).Verdict != Allow {
		t.Errorf("an agent cannot go on in work mode: %s", x.last.Reason)
	}
}

// TestSmallShowsEachEdit: tests are free, each edit of code is asked for, and what
// the user does not see, or what is not small, is refused.
func TestSmallShowsEachEdit(t *testing.T) {
	const was = "def total(xs):\n    return sum(xs)\n"
	for name, c := range map[string]struct {
		file, after string
		lines       int
		want        Verdict
		why         string
	}{
		"a line":                    {"src/cart.py", "def total(xs):\n    return round(sum(xs), 2)\n", 1, Ask, "1 line here, 1 of 40"},
		"a private name":            {"src/cart.py", was + "def _cents(x):\n    return x\n", 2, Ask, ""},
		"a public name":             {"src/cart.py", was + "def cents(x):\n    return x\n", 2, Deny, "cents"},
		"too much":                  {"src/cart.py", was + strings.Repeat("    # more\n", 41), 41, Deny, "41 lines"},
		"a dependency":              {"requirements-dev.txt", "evil==1\n", 1, Deny, "depends"},
		"a lock file":               {"web/package-lock.json", "{}", 1, Deny, "depends"},
		"a test":                    {"tests/test_cart.py", strings.Repeat("assert 1 == 1\n", 90), 90, Allow, ""},
		"a plan":                    {PlanFile, "# Plan\n", 1, Allow, ""},
		"what no agent writes":      {".writ/config.yaml", "mode: work\n", 1, Deny, "ENF-PROTECTED"},
		"a method of a public type": {"src/cart.go", "func (c Cart) Total() int { return 0 }\n", 1, Deny, "Total"},
		"an export":                 {"src/cart.ts", "export const cents = 1\n", 1, Deny, "cents"},
		"a constant of a group":     {"src/cart.go", "package a\n\nconst (\n\tLimit = 3\n)\n", 1, Deny, "Limit"},
		"a field of a struct":       {"src/cart.go", "package a\n\ntype t struct {\n\tTotal int\n}\n", 1, Deny, "Total"},
		"a method in Python":        {"src/cart.py", was + "class _C:\n    def cents(self):\n        return 1\n", 3, Deny, "cents"},
		"names that are passed on":  {"src/cart.ts", "export { cents } from './b'\n", 1, Deny, "cents"},
		"a default":                 {"src/cart.js", "export default 1\n", 1, Deny, "default"},
		"a module's exports":        {"src/cart.js", "module.exports = { cents }\n", 1, Deny, "cents"},
		"Elixir":                    {"lib/cart.ex", "def cents, do: 1\n", 1, Deny, "cents"},
		"a project file":            {"src/cart.fsproj", "<Project/>\n", 1, Deny, "depends"},
		"requirements by folder":    {"requirements/dev.txt", "evil==1\n", 1, Deny, "depends"},
		"no export":                 {"src/cart.ts", "const cents = 1\n", 1, Ask, ""},
	} {
		x := small(t)
		before := was
		if c.file != "src/cart.py" {
			before = ""
		}
		if d := x.edit(c.file, before, c.after, c.lines, true); d.Verdict != c.want || !strings.Contains(d.Reason, c.why) {
			t.Errorf("%s: %s, want %s: %s", name, d.Verdict, c.want, d.Reason)
		}
	}
	x := small(t)
	if d := x.do(RequestTool{Tool: "Bash", ToolUseID: "b", Shell: Inspect(caseLayout, "/p", "sed -i s/a/b/ src/cart.py", nil, nil), Workspace: x.workspace(), Settings: DefaultSettings()}); d.Verdict != Deny || d.Rule != RuleSmall {
		t.Errorf("a command wrote code: %s %s", d.Verdict, d.Reason)
	}
}

// TestSmallCountsWhatWasWritten: what the user let through counts until their next
// prompt, what they refused does not, and the count goes with the mode.
func TestSmallCountsWhatWasWritten(t *testing.T) {
	x := small(t)
	x.edit("src/cart.py", "", "a\n", 25, false)
	x.edit("src/cart.py", "", "a\n", 25, true)
	if d := x.edit("src/other.py", "", "b\n", 15, true); d.Verdict != Ask || !strings.Contains(d.Reason, "40 of 40") {
		t.Errorf("25 and 15: %s %s", d.Verdict, d.Reason)
	}
	if d := x.edit("src/cart.py", "a\n", "c\n", 1, true); d.Verdict != Deny || !strings.Contains(d.Reason, "writ mode set work") {
		t.Errorf("41: %s %s", d.Verdict, d.Reason)
	}
	if !strings.Contains(x.state.Guidance(), "40 lines") {
		t.Errorf("the guidance does not say it: %s", x.state.Guidance())
	}
	x.prompt("and now the label above it")
	if d := x.edit("src/cart.py", "a\n", "c\n", 1, true); d.Verdict != Ask {
		t.Errorf("after another prompt: %s %s", d.Verdict, d.Reason)
	}
	x.prompt("/writ-mode work")
	if len(x.state.Small) > 0 {
		t.Errorf("in work mode: %v", x.state.Small)
	}
}

// TestSmallCountsTheDifferenceOnce: what is written twice counts once, what is undone
// does not count, all files of one call count together, and tests count nothing.
func TestSmallCountsTheDifferenceOnce(t *testing.T) {
	x := small(t)
	for _, after := range []string{"b\n", "c\n", "d\n"} {
		if d := x.editTo("src/cart.py", "a\n", after, 30, 30, true); d.Verdict != Ask || !strings.Contains(d.Reason, "30 of 40") {
			t.Errorf("30 lines written again as %q: %s %s", after, d.Verdict, d.Reason)
		}
	}
	x.editTo("src/cart.py", "d\n", "a\n", 30, 0, true)
	if len(x.state.Small) > 0 {
		t.Errorf("after it was undone: %v", x.state.Small)
	}
	x.edit("src/cart.py", "a\n", "b\n", 2, true)
	req := x.shellRequest("sed -i s/a/b/ src/cart.py")
	x.do(req)
	x.do(req) // the second refusal is a question
	x.do(FinishTool{ToolFinished: schemas.ToolFinished{Tool: "Bash", ToolUseID: req.ToolUseID}})
	if x.state.Small["src/cart.py"] != 2 {
		t.Errorf("a command of which nothing is told is counted: %v", x.state.Small)
	}

	x = small(t)
	x.edit("tests/test_cart.py", "", "assert 1 == 1\n", 90, true)
	if d := x.edit("src/cart.py", "a\n", "b\n", 1, true); d.Verdict != Ask || !strings.Contains(d.Reason, "1 of 40") {
		t.Errorf("after a test of 90 lines: %s %s", d.Verdict, d.Reason)
	}

	x = small(t)
	x.edit("src/a.py", "", "a = 1\n", 10, true)
	req = x.requestOf("src/a.py", "b")
	other := x.requestOf("src/b.py", "b")
	req.Targets = append(req.Targets, other.Targets...)
	x.edits(&req, 0, "", "a = 2\n", 10, 12)
	x.edits(&req, 1, "", "b = 2\n", 29, 29)
	if d := x.do(req); d.Verdict != Deny || !strings.Contains(d.Reason, "41 lines") {
		t.Errorf("two files of one call: %s %s", d.Verdict, d.Reason)
	}
}

// TestSmallTurnsEndWithTests: tests are due for what the user let through, and an
// agent is sent back to those that fail, once.
func TestSmallTurnsEndWithTests(t *testing.T) {
	x := small(t)
	x.edit("src/cart.py", "", "a\n", 1, true)
	if due := x.state.DueTests(); len(due) != 1 || due[0] != "src/cart.py" {
		t.Errorf("tests are due for %v", due)
	}
	failed := schemas.TestsFinished{Trigger: "stop", Kind: KindTest, Command: "pytest", Outcome: schemas.OutcomeFailed, Output: "test_total: 5 is not 3"}
	if d := x.do(EndTurn{Ran: &failed}); d.Verdict != Deny || !strings.Contains(d.Reason, "`pytest`") || !strings.Contains(d.Context, "5 is not 3") {
		t.Errorf("the turn ended: %s %s %s", d.Verdict, d.Reason, d.Context)
	}
	if d := x.do(EndTurn{Again: true}); d.Verdict != Allow || !strings.Contains(d.Notice, "although the tests fail") {
		t.Errorf("sent back again: %s %s", d.Verdict, d.Notice)
	}
	passed := failed
	passed.Outcome, passed.Output = schemas.OutcomePassed, ""
	x.edit("src/cart.py", "a\n", "b\n", 1, true)
	if d := x.do(EndTurn{Ran: &passed}); d.Verdict != Allow || len(x.state.DueTests()) > 0 {
		t.Errorf("green tests: %s %s, due %v", d.Verdict, d.Reason, x.state.DueTests())
	}
}
