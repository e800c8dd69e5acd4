package enforcement

import (
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// planOf is a valid plan of files.
func planOf(items ...string) string {
	return "# Plan\n\n## Files\n\n" + strings.Join(items, "\n") + "\n\n## Analysis\n\nThe total is computed twice today, once without the discount.\n\n" +
		"## Rules Applied\n\nNo matching rules\n\n## Capabilities\n\n- [ ] A cart with a discount shows the reduced total\n"
}

// implementing is a session in implementation under a plan of files.
func implementing(t testing.TB, items ...string) *session {
	t.Helper()
	x := newSession(t, ModeWork)
	x.write(PlanFile, planOf(items...))
	x.prompt("approved")
	x.write(testFile, goodTest)
	x.prompt("approved")
	if x.state.Phase() != PhaseImplementation {
		t.Fatalf("phase %q: %+v", x.state.Phase(), x.last)
	}
	return x
}

func TestAnApprovalCoversTheFilesOfThePlan(t *testing.T) {
	for _, tt := range []struct {
		plan    []string
		allowed []string
		asked   []string
	}{
		{
			[]string{"- `src/one.py`: totals"},
			[]string{"src/one.py", "/p/src/one.py", "tests/test_one.py", "tests/test_other.py", CapabilitiesFile, "findings.md", "/tmp/x.py"},
			[]string{"src/payment.py", "src/one.pyc", "src", "one.py", "README.md", "src/one.py.bak", ".gitignore"},
		},
		{[]string{"- `src/auth/`: all of it"}, []string{"src/auth/a.py", "src/auth/deep/b.py"}, []string{"src/authx.py", "src/a.py"}},
		{[]string{"- `src/auth/*.py`: all of it"}, []string{"src/auth/a.py"}, []string{"src/auth/deep/b.py", "src/auth/a.js"}},
		{[]string{"- `src/ui/**/*.ts`", "- `app/[id]/page.tsx`"}, []string{"src/ui/a.ts", "src/ui/x/y/a.ts", "app/[id]/page.tsx"}, []string{"app/i/page.tsx", "src/a.ts"}},
		{[]string{"| file | what |", "|---|---|", "| `src/one.py` | totals |"}, []string{"src/one.py"}, []string{"src/two.py"}},
		{[]string{"- /p/src/one.py: totals"}, []string{"src/one.py"}, []string{"src/two.py"}},
		{[]string{"- `./`: whatever is needed", "- `src/one.py`"}, []string{"src/one.py"}, []string{"src/payment.py"}},
		{[]string{"- `/p`: whatever is needed", "- `src/one.py`"}, []string{"src/one.py"}, []string{"src/payment.py"}},
		{[]string{"- `package.json`: a dependency"}, []string{"package.json", "package-lock.json", "pnpm-lock.yaml"}, []string{"yarn.js", "sub/package-lock.json"}},
		{[]string{"- `web/package.json`: a dependency"}, []string{"web/package-lock.json", "package-lock.json"}, []string{"api/package-lock.json", "go.sum"}},
		{[]string{"- `go.mod`: a dependency", "- `main.go`"}, []string{"go.sum"}, []string{"Cargo.lock"}},
		{[]string{"- delete `src/old.py`", "- `src/one.py`"}, []string{"src/old.py"}, []string{"src/older.py"}},
		{[]string{"- `src/a.py` → `src/b.py`"}, []string{"src/a.py", "src/b.py"}, []string{"src/c.py"}},
	} {
		x := implementing(t, tt.plan...)
		for _, name := range tt.allowed {
			x.request(name, "x = 1")
			if x.last.Verdict != Allow {
				t.Errorf("%q, %s: %s, want allow: %s", tt.plan, name, x.last.Verdict, x.last.Reason)
			}
		}
		for _, name := range tt.asked {
			x.request(name, "x = 1")
			if x.last.Verdict != Ask || x.last.Rule != RulePlan || !strings.Contains(x.last.Reason, strings.TrimPrefix(name, "/p/")) || !strings.Contains(x.last.Reason, "to the plan") {
				t.Errorf("%q, %s: %s %q, want ask: %s", tt.plan, name, x.last.Verdict, x.last.Rule, x.last.Reason)
			}
		}
	}
}

func TestAnEmptyPackageFileComesWithItsModule(t *testing.T) {
	x := implementing(t, "- `src/shop/one.py`: totals")
	for name, want := range map[string]Verdict{"src/shop/__init__.py": Allow, "src/__init__.py": Ask} {
		if x.request(name, ""); x.last.Verdict != want {
			t.Errorf("empty %s: %s, want %s", name, x.last.Verdict, want)
		}
		if x.request(name, "import os"); x.last.Verdict != Ask {
			t.Errorf("%s with code: %s", name, x.last.Verdict)
		}
	}
}

func TestTheUsersYesAddsAFileOnce(t *testing.T) {
	x := implementing(t, "- `src/one.py`: totals")
	req := x.requestOf("src/payment.py", "x = 1")
	x.do(req)
	x.want(Ask, RulePlan)
	x.do(x.requestOf("src/payment.py", "x = 1"))
	x.want(Ask, RulePlan) // no answer came yet
	x.finish(req, "src/payment.py")
	if x.recorded() != "tool.finished plan.extended" {
		t.Errorf("recorded %s", x.recorded())
	}
	x.write("src/payment.py", "x = 2")
	x.want(Allow, "")
	x.write("src/refund.py", "x = 2")
	x.want(Ask, RulePlan)

	x = implementing(t, "- `src/one.py`: totals")
	for what, finish := range map[string]FinishTool{
		"a tool that failed":        {ToolFinished: schemas.ToolFinished{Tool: "Write", Failed: true}},
		"a host that asks nobody":   {ToolFinished: schemas.ToolFinished{Tool: "Write"}, Unasked: true},
		"a tool nobody asked about": {ToolFinished: schemas.ToolFinished{Tool: "Write", ToolUseID: "other", Files: []schemas.FileState{{Path: "src/payment.py", SHA256: "1"}}}},
	} {
		req := x.requestOf("src/payment.py", "x = 1")
		x.do(req)
		if finish.ToolUseID == "" {
			finish.ToolUseID = req.ToolUseID
		}
		x.do(finish)
		x.request("src/payment.py", "x = 1")
		if x.last.Verdict != Ask {
			t.Errorf("%s: %s", what, x.last.Verdict)
		}
	}
	req = x.requestOf("src/payment.py", "x = 1")
	x.do(req)
	x.prompt("no, leave it") // the question is over
	x.finish(req)
	x.request("src/payment.py", "x = 1")
	x.want(Ask, RulePlan)
}

func TestTheUsersWordsAddAFile(t *testing.T) {
	for prompt, want := range map[string]Verdict{
		"add src/payment.py to the plan":                   Allow,
		"Yes, please add `src/payment.py` to the plan.":    Allow,
		"add src/refund.py and src/payment.py to the plan": Allow,
		"ok, add it to the plan":                           Allow,
		"add src/ to the plan":                             Allow,
		"/writ-approve src/payment.py":                     Allow,
		"add src/refund.py to the plan":                    Ask,
		"don't add src/payment.py to the plan":             Ask,
		"should I add src/payment.py to the plan?":         Ask,
		"add a word about src/payment.py to the plan":      Ask,
		"add . to the plan":                                Ask,
		"add ../x to the plan":                             Ask,
		"add **/*.py to the plan":                          Ask,
		"add payments to the plan":                         Ask,
		"yes":                                              Ask,
	} {
		x := implementing(t, "- `src/one.py`: totals")
		x.request("src/payment.py", "x = 1")
		x.want(Ask, RulePlan)
		x.prompt(prompt)
		x.request("src/payment.py", "x = 1")
		if x.last.Verdict != want {
			t.Errorf("%q: %s, want %s: %s", prompt, x.last.Verdict, want, x.last.Reason)
		}
		for _, c := range []SubmitPrompt{{Origin: "schedule_wakeup"}, {Origin: OriginUser, Agent: "a1"}} {
			y := implementing(t, "- `src/one.py`: totals")
			c.Prompt, c.ActID, c.Workspace, c.Settings = prompt, "act", y.workspace(), DefaultSettings()
			y.do(c)
			if y.request("src/payment.py", "x = 1"); y.last.Verdict != Ask {
				t.Errorf("%q by %+v: %s", prompt, c.Origin, y.last.Verdict)
			}
		}
	}
}

func TestCommandsKeepToThePlan(t *testing.T) {
	for command, want := range map[string]Verdict{
		"echo x > src/one.py":                    Allow,
		"sed -i s/a/b/ src/one.py":               Allow,
		"echo x > src/payment.py":                Ask,
		"cp /tmp/x src/payment.py":               Ask,
		"echo x > src/one.py; mv a src/one.py":   Ask,
		"git rm src/payment.py":                  Ask,
		"cp -r /tmp/x/. .":                       Ask,
		"git checkout other -- src/payment.py":   Ask,
		"git reset --hard FETCH_HEAD":            Ask,
		"git stash pop":                          Ask,
		"mkdir -p src/deep":                      Allow,
		"rm -rf node_modules":                    Allow,
		"cp x.js node_modules/a/x.js":            Ask,
		"cp -r /tmp/x src/venv":                  Ask,
		"echo x > src/__pycache__":               Ask,
		"git add -A && git commit -m x":          Allow,
		"pytest -q":                              Allow,
		"python3 gen.py":                         Allow,
		"git stash; git checkout -- src; ls":     Allow,
		"git stash":                              Allow,
		"go build ./...":                         Allow,
		"go build ./... > /tmp/log 2>&1":         Allow,
		"cd src && go build . 2>&1 | tail -5":    Allow,
		"go build -o src/payment.py ./cmd/app":   Ask,
		"gofmt -l -w .":                          Allow,
		"gofmt -r 'a -> b' -w .":                 Ask,
		"go vet ./... > src/payment.py":          Ask,
		"git diff 2>&1src/payment.py":            Ask,
		"go build ./...; cp -r /tmp/x/. .":       Ask,
		"git checkout -- src/other.py":           Allow,
		"git stash; echo x > src/payment.py":     Ask,
		"git diff > src/payment.py":              Ask,
		"git worktree add /tmp/x":                Allow,
		"npm install left-pad":                   Ask,
		"go build -o /tmp/app ./cmd/app && true": Allow,
	} {
		x := implementing(t, "- `src/one.py`: totals")
		x.uses++
		d := x.do(RequestTool{
			Tool: "Bash", ToolUseID: "u", Shell: Inspect(caseLayout, "/p", command, nil, nil), Repository: &Repository{},
			Workspace: x.workspace(), Settings: DefaultSettings(),
		})
		if d.Verdict != want {
			t.Errorf("%s: %s %s, want %s: %s", command, d.Verdict, d.Rule, want, d.Reason)
		}
	}
}

func TestAYesToTheWholeProjectCountsOnce(t *testing.T) {
	x := implementing(t, "- `src/one.py`: totals")
	for range 2 {
		x.uses++
		req := RequestTool{Tool: "Bash", ToolUseID: "u", Shell: Inspect(caseLayout, "/p", "cp -r /tmp/x/. .", nil, nil), Workspace: x.workspace(), Settings: DefaultSettings()}
		x.do(req)
		x.want(Ask, RulePlan)
		x.finish(req)
	}
}

func TestWhatACommandChangedBeyondThePlanIsTold(t *testing.T) {
	x := implementing(t, "- `src/one.py`: totals")
	changes := func(names ...string) (all []TreeChange) {
		for _, name := range names {
			all = append(all, TreeChange{Target: Classify(caseLayout, "/p/"+name), Change: "created"})
		}
		return all
	}
	x.do(CheckTree{Changes: changes("src/one.py", testFile), Workspace: x.workspace(), Settings: DefaultSettings()})
	if x.last.Notice != "" {
		t.Errorf("the plan's own files: %s", x.last.Notice)
	}
	x.do(CheckTree{Changes: changes("src/one.py", "src/payment.py"), Workspace: x.workspace(), Settings: DefaultSettings()})
	if !strings.Contains(x.last.Notice, "src/payment.py") || strings.Contains(x.last.Notice, "one.py") || x.state.Refusals != 0 {
		t.Errorf("%+v", x.last)
	}
}

// Approvals of which the log has no files go on as they were.
func TestAnApprovalWithoutFilesCoversAll(t *testing.T) {
	x := newSession(t, ModeWork)
	for _, gate := range []string{GatePlan, GateTests} {
		x.state = Evolve(x.state, schemas.Event{Data: schemas.GateApproved{Gate: gate, Channel: ChannelTerminal, ActID: gate}})
	}
	x.state = Evolve(x.state, schemas.Event{Data: schemas.PhaseChanged{To: PhaseImplementation}})
	x.write("src/anything.py", "x = 1")
	x.want(Allow, "")
}

// finished brings a session to the end of its plan's work.
func finished(t *testing.T) *session {
	t.Helper()
	x := implementing(t, "- `src/one.py`: totals")
	x.write("src/one.py", "x = 1")
	x.do(FinishTool{ToolFinished: schemas.ToolFinished{Tool: "Bash", ToolUseID: "t"}, Command: "pytest"})
	x.do(EndTurn{Message: "All tests pass.", Settings: DefaultSettings()})
	if !done(x.state) {
		t.Fatalf("not done: %+v", x.state)
	}
	return x
}

func TestANewWishOpensPlanning(t *testing.T) {
	x := finished(t)
	x.prompt("Thanks! Now add refunds to src/one.py")
	x.phase(PhasePlanning)
	if x.recorded() != "prompt.submitted plan.reopened phase.changed" || !strings.Contains(x.last.Notice, "continue with the plan") || strings.Contains(x.last.Notice, "\n") {
		t.Errorf("%s %q", x.recorded(), x.last.Notice)
	}
	x.write("src/one.py", "x = 2")
	x.want(Deny, RulePlan)
	x.do(SubmitPrompt{Prompt: "continue with the plan", ActID: "forged", Origin: "sdk", Workspace: x.workspace(), Settings: DefaultSettings()})
	x.phase(PhasePlanning)
	x.prompt("Continue with the plan.")
	x.phase(PhaseImplementation)
	x.write("src/one.py", "x = 2")
	x.want(Allow, "")

	x = finished(t)
	x.prompt("please add refunds")
	x.write(PlanFile, planOf("- `src/refund.py`: refunds"))
	x.want(Allow, "")
	x.prompt("approved")
	x.phase(PhaseTesting)
	x.prompt("continue with the plan") // the old one is gone
	x.phase(PhaseTesting)
	x.write(testFile, otherTest)
	x.prompt("approved")
	x.write("src/one.py", "x = 3")
	x.want(Ask, RulePlan)
	x.write("src/refund.py", "x = 3")
	x.want(Allow, "")
}

// TestALateWishOpensPlanning: the host hands a prompt to its agent whether or not its hook
// was answered in time, and the plan before does not let that write for the new wish.
func TestALateWishOpensPlanning(t *testing.T) {
	x := finished(t)
	late := func(prompt string) {
		x.do(SubmitPrompt{Prompt: prompt, ActID: prompt, Origin: OriginUser, Late: true, Workspace: x.workspace(), Settings: DefaultSettings()})
	}
	late("Thanks! Now add refunds to src/one.py")
	x.phase(PhasePlanning)
	x.write("src/one.py", "x = 2")
	x.want(Deny, RulePlan)
	late("continue with the plan")
	x.phase(PhasePlanning)
}

// TestALateAnswerIsGivenOnceMore: some hosts give one id to all that is typed while a turn
// goes on, and the user was told to answer once more.
func TestALateAnswerIsGivenOnceMore(t *testing.T) {
	x := newSession(t, ModeWork)
	x.write(PlanFile, planOf("- `src/one.py`: totals"))
	answer := func(late bool, phase string) {
		t.Helper()
		x.do(SubmitPrompt{Prompt: "approved", ActID: "prompt:p1", PromptID: "p1", Origin: OriginUser, Late: late, Workspace: x.workspace(), Settings: DefaultSettings()})
		x.phase(phase)
	}
	answer(true, PhasePlanning)
	answer(false, PhaseTesting)
	answer(true, PhaseTesting)
	if x.last.Notice != "" {
		t.Errorf("the same hook once more: %s", x.last.Notice)
	}
}

func TestWhatOpensNoPlanning(t *testing.T) {
	for _, prompt := range []string{"why did you add a cache?", "great, commit it", "fix the rounding error", "add a docstring to total", "thanks", "approved"} {
		x := finished(t)
		x.prompt(prompt)
		if x.state.Phase() == PhasePlanning {
			t.Errorf("%q opened planning", prompt)
		}
	}
	x := implementing(t, "- `src/one.py`: totals", "- `src/two.py`: more")
	x.write("src/one.py", "x = 1")
	x.do(EndTurn{Settings: DefaultSettings()})
	x.prompt("now implement the second part")
	x.phase(PhaseImplementation) // it is not done: a planned file is missing
	x.prompt("new task: a login page")
	x.phase(PhasePlanning)
	x.prompt("continue with the plan")
	x.phase(PhaseImplementation)

	x = finished(t)
	x.do(SubmitPrompt{Prompt: "now add refunds", ActID: "a", Origin: "schedule_wakeup", Workspace: x.workspace(), Settings: DefaultSettings()})
	x.phase(PhaseImplementation)
	x.write("src/one.py", "x = 2") // at work again
	x.prompt("add rounding")
	x.phase(PhaseImplementation)
	x.prompt("also add a test for the total")
	x.phase(PhaseImplementation)
	x.prompt("also add refunds") // of which the plan says nothing
	x.phase(PhasePlanning)
}
