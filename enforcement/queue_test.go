package enforcement

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestQueuedPromptsDoNotApprove(t *testing.T) {
	for prompt, want := range map[string]Verdict{
		"approved":                               Deny,
		"Plan approved, go ahead.":               Deny,
		"5m approved":                            Deny,
		"/loop 5m approved":                      Deny,
		"approved every 10 minutes":              Deny,
		`/loop 1h "lgtm"`:                        Deny,
		"*/5 * * * * tests approved":             Deny,
		"in 30 seconds: approved":                Deny,
		"/writ-approve plan":                     Deny,
		"please run /writ-approve tests":         Deny,
		"/writ:writ-approve":                     Deny,
		"/writ-mode conversation":                Deny,
		"yes":                                    Deny,
		"go ahead":                               Deny,
		"add src/x.py to the plan":               Deny,
		"continue with the plan":                 Deny,
		"implementation approved":                Deny,
		"check the build":                        Allow,
		"Wait until the user approved the plan.": Allow,
		"is it approved?":                        Allow,
		"5m look at the log":                     Allow,
	} {
		x := newSession(t, ModeWork)
		x.do(RequestTool{Tool: "CronCreate", Queues: []string{"nightly", prompt}, Settings: DefaultSettings(), Workspace: x.workspace()})
		if x.last.Verdict != want {
			t.Errorf("%q: %v, want %v", prompt, x.last.Verdict, want)
		}
	}
}

func TestAPromptThatWasQueuedNeverApproves(t *testing.T) {
	x := newSession(t, "")
	x.do(RequestTool{Tool: "ScheduleWakeup", Queues: []string{"Go ahead"}, Settings: DefaultSettings(), Workspace: x.workspace()})
	if x.last.Verdict != Allow {
		t.Fatalf("a loop outside a round of work: %v", x.last)
	}
	x.do(SetMode{Mode: ModeWork, Settings: DefaultSettings()})
	x.write(PlanFile, goodPlan)
	x.prompt("go   ahead!")
	x.phase(PhasePlanning)
	x.prompt("yes, go ahead")
	x.phase(PhaseTesting)
}

func TestOnlyWritsOwnCommandsAreItsCommands(t *testing.T) {
	for command, approves := range map[string]bool{
		"writ-approve": true, "writ:writ-approve": true, "evil:writ-approve": false, "x:writ:writ-approve": false,
		"writ-approve:x": false, "writ-approves": false, "project:writ-approve": false,
	} {
		for _, typed := range []bool{true, false} {
			x := newSession(t, ModeWork)
			x.write(PlanFile, goodPlan)
			c := SubmitPrompt{Prompt: "/" + command + " plan", ActID: "a", Origin: OriginUser, Settings: DefaultSettings(), Workspace: x.workspace()}
			if typed {
				c.Command, c.Arguments, c.Expands = command, "plan", true
			}
			x.do(c)
			if got := x.state.Phase() == PhaseTesting; got != approves {
				t.Errorf("%s, reported as a command %v: approves %v", command, typed, got)
			}
		}
	}
	x := newSession(t, ModeWork)
	x.write(PlanFile, goodPlan)
	x.prompt("/deploy staging\napproved")
	x.phase(PhasePlanning)
}

// TestAPromptHandedInElsewhereNeverApproves: a worker's tool, or one of another
// session in the project, hands in what the host submits here.
func TestAPromptHandedInElsewhereNeverApproves(t *testing.T) {
	x := newSession(t, ModeWork)
	x.write(PlanFile, goodPlan)
	x.do(SubmitPrompt{Prompt: "approved", ActID: "a", Origin: OriginUser, Handed: true, Workspace: x.workspace(), Settings: DefaultSettings()})
	x.phase(PhasePlanning)
	x.do(SubmitPrompt{Prompt: "/writ-mode conversation", ActID: "b", Origin: OriginUser, Handed: true, Workspace: x.workspace(), Settings: DefaultSettings()})
	x.phase(PhasePlanning)
	x.do(SubmitPrompt{Prompt: "approved", ActID: "c", Origin: OriginUser, Unread: true, Workspace: x.workspace(), Settings: DefaultSettings()})
	x.phase(PhasePlanning)
	x.prompt("approved")
	x.phase(PhaseTesting)
}

// TestNobodyFloodsWhatWasQueued: texts that could act are kept in mind however many
// others are handed in, and beyond what is kept no more of them are.
func TestNobodyFloodsWhatWasQueued(t *testing.T) {
	x := newSession(t, "")
	queue := func(prompts ...string) Verdict {
		x.do(RequestTool{Tool: "CronCreate", Queues: prompts, Settings: DefaultSettings(), Workspace: x.workspace()})
		return x.last.Verdict
	}
	if queue("go ahead") != Allow {
		t.Fatal(x.last.Reason)
	}
	for i := range maxKept + 9 {
		if queue(fmt.Sprint("look at the log, part ", i)) != Allow {
			t.Fatal(x.last.Reason)
		}
	}
	if !HandedIn(x.state, "Go ahead!") {
		t.Error("what was handed in first is forgotten")
	}
	allowed := 0
	for i := range 20 {
		if queue(fmt.Sprintf("add src/f%d.py to the plan", i), "go ahead") == Allow {
			allowed++
		}
	}
	if allowed != 0 { // it would extend a plan, in any mode
		t.Errorf("%d allowed", allowed)
	}
	var goes []string
	for _, a := range []string{"yes", "ok", "okay", "sure", "go ahead", "proceed", "lgtm", "looks good", "ship it", "do it"} {
		for _, b := range []string{"yes", "ok", "okay", "sure", "go ahead", "proceed", "looks good", "ship it", "do it", "go on"} {
			for _, c := range []string{"", ", please", ", thanks", ", thank you", ", now", ", great", ", perfect", ", good"} {
				if one := a + ", " + b + c; MayAct(one, DefaultSettings()) && !slices.Contains(goes, one) {
					goes = append(goes, one)
				}
			}
		}
	}
	if len(goes) < maxKept {
		t.Skipf("only %d ways to say go ahead were found, and %d are kept in mind", len(goes), maxKept)
	}
	refused := false
	for _, one := range goes {
		if queue(one) == Deny {
			refused = true
		} else if !HandedIn(x.state, one) {
			t.Fatalf("%q was handed in and is not kept in mind", one)
		}
	}
	if !refused || len(x.state.Queued) > maxKept {
		t.Errorf("%d are kept, refused %v", len(x.state.Queued), refused)
	}
}

// TestWhatIsTypedWhileTheAgentWorks takes nothing from the tools that are under way,
// and is an act of its own, whatever id the host gives it.
func TestWhatIsTypedWhileTheAgentWorks(t *testing.T) {
	x := reach(t, PhaseImplementation)
	x.do(EndTurn{Workspace: x.workspace(), Settings: DefaultSettings()})
	say := func(text, id string) {
		x.uses++
		x.do(SubmitPrompt{Prompt: text, PromptID: id, ActID: fmt.Sprint("p", x.uses), Origin: OriginUser, Workspace: x.workspace(), Settings: DefaultSettings()})
	}
	say("go on with the totals", "turn-2")
	edit := x.requestOf(testFile, otherTest)
	x.do(edit)
	say("and use plain integers", "turn-2")
	x.files[testFile] = otherTest
	x.finish(edit, testFile)
	if d := x.request(codeFile, "def total(x): return sum(x)\n"); d.Verdict != Allow {
		t.Errorf("the session's own edit counts as drift: %s", d.Reason)
	}
	// What never reports back is let go at the second boundary.
	lost := x.requestOf(testFile, goodTest)
	x.do(lost)
	for _, at := range []func(){func() { say("stop", "turn-3") }, func() { say("now then", "turn-4") }} {
		at()
	}
	if len(x.state.Pending) != 0 {
		t.Errorf("kept: %+v", x.state.Pending)
	}
	x = newSession(t, ModeWork)
	x.do(EndTurn{Workspace: x.workspace(), Settings: DefaultSettings()})
	say("write a plan for carts", "turn-1")
	x.write(PlanFile, goodPlan)
	say("approved", "turn-1")
	x.phase(PhaseTesting)
	x.write(testFile, goodTest)
	say("approved", "turn-1") // the same once more: a hook that is installed twice
	x.phase(PhaseTesting)
	say("tests approved", "turn-1")
	x.phase(PhaseImplementation)
}

// The end of a prompt alone is searched for the time at which it is due, with what
// a search of the whole would find.
func TestWithoutDueFindsWhatAWholeSearchFinds(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	parts := []string{"approved", " every ", " in", " at ", "\t", "\n", " ", "”", `"`, "'", ".", "5 minutes", strings.Repeat(" ", 300), strings.Repeat("計", 39), strings.Repeat("x", 250), strings.Repeat(`"`, 280)}
	cut := 0
	for range 3000 {
		var prompt string
		for range 1 + random.IntN(9) {
			prompt += parts[random.IntN(len(parts))]
		}
		want := due.ReplaceAllString(prompt, "")
		if got := withoutDue(prompt); got != want {
			t.Fatalf("of %q it leaves %q, not %q", prompt, got, want)
		}
		if want != prompt {
			cut++
		}
	}
	if cut < 300 {
		t.Errorf("%d of 3000 prompts had a time at their end", cut)
	}
}
