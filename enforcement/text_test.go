package enforcement

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writbus/writ/schemas/excerpt"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// What agents and users are told is a golden file: a change is reviewed.
func TestTexts(t *testing.T) {
	var b strings.Builder
	say := func(what string, d Decision) {
		b.WriteString("# " + what + "\n" + d.Verdict.String())
		if d.Rule != "" {
			b.WriteString(" " + d.Rule)
		}
		b.WriteString("\n")
		for _, line := range []struct{ name, text string }{{"reason", d.Reason}, {"context", d.Context}, {"notice", d.Notice}} {
			if line.text != "" {
				b.WriteString(line.name + ": " + line.text + "\n")
			}
		}
		b.WriteString("\n")
	}
	x := newSession(t, "")
	say("code before a mode is chosen", x.request(codeFile, ""))
	say("a protected path", x.request(".claude/settings.json", ""))
	say("Writ's data", x.shell("cat ~/.local/share/writ/admin.creds"))
	say("an approval by the agent's shell", x.shell("writ approve"))
	x = newSession(t, ModeDebug)
	say("code in debug", x.request(codeFile, ""))
	say("outside in debug", x.request("/q/x", ""))
	say("an agent that wants a laxer mode", x.do(SetMode{Mode: ModeConversation}))
	x = newSession(t, ModeReview)
	say("code in review", x.request(codeFile, ""))
	x = newSession(t, "")
	say("work begins", x.do(SetMode{Mode: ModeWork}))
	say("code in planning", x.request(codeFile, ""))
	req := x.requestOf(codeFile, "")
	req.Settings.DenyToAsk = true
	say("the second time", x.do(req))
	say("an unknown program in planning", x.shell("python build.py"))
	say("outside in planning", x.request("/q/x", ""))
	say("an agent that leaves work", x.do(SetMode{Mode: ModeConversation}))
	say("an agent that becomes an orchestrator", x.do(SetMode{Mode: ModeWork, Orchestrator: true}))
	say("an approval without a plan", x.prompt("approved"))
	x.write(PlanFile, badPlan)
	say("an approval of a plan that is not valid", x.prompt("/writ-approve"))
	x.write(PlanFile, goodPlan)
	say("an approval under a condition", x.prompt("approved, but only after you add a rollback step"))
	say("an agent that advances", x.do(AdvancePhase{Workspace: x.workspace()}))
	say("the plan is approved", x.prompt("approved"))
	say("code in testing", x.request(codeFile, ""))
	x.write(testFile, goodTest)
	say("the tests are approved", x.prompt("approved"))
	say("the plan in implementation", x.request(PlanFile, otherPlan))
	x.write(testFile, otherTest)
	x.files[PlanFile] = otherPlan
	say("drift", x.request(codeFile, ""))
	x.files[PlanFile] = goodPlan
	say("the implementation is approved", x.prompt("/writ-approve"))
	say("code in verification", x.request(codeFile, ""))
	say("verification is not done", x.do(AdvancePhase{Gate: "", Workspace: func() Workspace { x.prompt("go on"); return x.workspace() }()}))
	say("reopened", x.do(ReopenPhase{}))
	say("invalidated", x.do(InvalidateGate{Gate: GatePlan, Reason: "a rule was missing", Rule: "GO-A-1"}))

	golden := filepath.Join("testdata", "texts.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the texts changed; look at them and run with -update:\n%s", b.String())
	}
}

func TestReasonsAreShort(t *testing.T) {
	long := strings.Repeat("sehr/lange/ordner/ü", 60) + "/a.py"
	for _, stance := range []string{"", ModeDebug, ModeReview, ModeWork} {
		x := newSession(t, stance)
		for _, name := range []string{long, "/q/" + long, ".codex/" + long} {
			d := x.request(name, "")
			if n := utf8.RuneCountInString(d.Reason); n > MaxReason || n == 0 {
				t.Errorf("%s: %d characters", stance, n)
			}
			if !strings.Contains(d.Reason, "a.py") || strings.HasSuffix(d.Reason, "…") {
				t.Errorf("%s: the path's end or the next step is missing: %s", stance, d.Reason)
			}
		}
	}
}

func TestShorten(t *testing.T) {
	for in, want := range map[string]string{"": "", "abc": "abc", "abcd": "ab…", "üüü": "üüü", "üüüü": "üü…", "a\xffb": "a\uFFFDb"} {
		if got := excerpt.Runes(in, 3); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
