package enforcement

import (
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// TestVerifyingIsWhole: a list of verifying.txt with another name would be of nothing.
func TestVerifyingIsWhole(t *testing.T) {
	var named []string
	for line := range strings.Lines(verifyingText) {
		if name, is := strings.CutSuffix(strings.TrimSpace(line), ":"); is {
			named = append(named, name)
		}
	}
	known := verifying()
	if want := []string{"tests", "checks", "tests by operand", "checks by operand", "targets"}; !slices.Equal(named, want) {
		t.Errorf("it has the lists %q, not %q", named, want)
	}
	for i, list := range []map[string]bool{known.tests, known.checks, known.testOperands, known.checkOperands, known.targets} {
		if len(list) == 0 {
			t.Errorf("the list %q is empty", named[i])
		}
		for word := range list {
			if by := strings.HasSuffix(named[i], "by operand"); by != (strings.Count(word, "/") == 1) || strings.ContainsAny(word, ",;:") {
				t.Errorf("%s has %q", named[i], word)
			}
			if known.testOperands[word] && known.checkOperands[word] || known.tests[word] && known.checks[word] {
				t.Errorf("%q both tests and checks", word)
			}
		}
	}
}

func TestWhatVerifies(t *testing.T) {
	for command, want := range map[string]string{
		"go test ./...": "test!", "cd a && go test ./... -count=1": "test!", "go test ./... | tail": "test", "go vet ./...": "check!",
		"go vet ./... && go test ./...": "test!", "go build ./... && echo ok": "check!", "npm test": "test!", "npm run test:unit": "test!",
		"npm run lint": "check!", "npx jest src": "test!", "yarn workspace a test": "test!", "pytest -q": "test!",
		"python3 -m pytest tests": "test!", "python -m unittest": "test!", "python manage.py test shop": "test!",
		"python tests/run_tests.py": "test!", "cargo test --quiet": "test!", "cargo clippy": "check!", "make": "", "make test": "test!",
		"make -C sub check": "check!", "just ci": "test!", "./gradlew :app:test": "test!", "mvn -q -DskipITs verify": "test!",
		"./mvnw compile": "check!", "bundle exec rspec": "test!", "bin/rails test": "test!", "tsc --noEmit": "check!",
		"npx tsc -p .": "check!", "writ check --diff": "check!", "writ status": "", "./scripts/run-tests.sh": "test!", "ls tests": "",
		"cat go_test.go": "", "git commit -m 'run tests'": "", "echo go test": "", "jest --version": "", "go run ./cmd/test": "",
		"go env": "", "python -c 'import pytest'": "", "npm install": "", "grep -r test .": "", "docker build .": "", "sh ./custom": "",
		"timeout 60 make verify": "test!", "go test ./... || true": "test", "uv run pytest": "test!", "dotnet test": "test!",
		"node --test": "test!", "node --check a.js": "check!", "prettier --check .": "check!", "prettier --write .": "", "gofmt -l .": "check!",
		"gofmt -w .": "", "terraform plan": "check!", "vendor/bin/phpunit": "test!",
	} {
		kind, decides := evidenceIn(command, "")
		if kind != "" && decides {
			kind += "!"
		}
		if kind != want {
			t.Errorf("%q verifies %q, want %q", command, kind, want)
		}
	}
	if kind, decides := evidenceIn(" ./x --all ", "./x --all"); kind != KindTest || !decides {
		t.Error("the project's own command is not known")
	}
}

func TestClaims(t *testing.T) {
	for _, message := range []string{
		"All tests pass.", "Everything works now.", "The implementation is complete.", "I've implemented the parser and all 12 tests are passing.",
		"Done.", "**Done!** The feature is fully implemented.", "I have fixed the bug.", "The existing tests still pass.",
		"The fix is ready.\n\nLet me know what you think.", "Summary:\n- Successfully refactored the store", "✅ All checks pass", "I’ve completed the task.",
		"The build is green.", "Here it is:\n```\nnot done\n```\nEverything is done.", "The bug has been fixed; see store.go.",
		"Fixed: the lookup binds its parameter.", "This is production-ready.",
	} {
		if claimsSuccess(message) == "" {
			t.Errorf("no claim in %q", message)
		}
	}
	for _, message := range []string{
		"", "I did not run the tests, so this is untested.", "Two tests fail.", "Should I go on?", "Are all tests passing?",
		"If all tests pass, we can merge.", "I wrote the parser; the tests are not passing yet.", "Next I will implement the store.",
		"The plan is in plan.md and waits for your approval.", "I have implemented it, but I couldn't run the tests here.",
		"```\nok all tests pass\n```", "Please run the tests to verify that everything works.", "Once this is done we can ship.",
		"I haven't verified this. Everything is done.", "I've added a failing test.", "Half of the task is done.",
	} {
		if claim := claimsSuccess(message); claim != "" {
			t.Errorf("%q claims %q", message, claim)
		}
	}
}

// inImplementation is a session with both approvals that changed a file.
func inImplementation(changed ...string) State {
	s := State{Host: "claude", Project: "/p", Mode: ModeWork, Work: Work{Phase: PhaseImplementation, Gates: map[string]Gate{GatePlan: {}, GateTests: {}}}}
	for _, f := range changed {
		s = Evolve(s, schemas.Event{Data: schemas.ToolFinished{Tool: "Write", Files: []schemas.FileState{{Path: f, SHA256: "x"}}}})
	}
	return s
}

func fold(s State, d Decision) State {
	for _, p := range d.Record {
		s = Evolve(s, schemas.Event{Data: p})
	}
	return s
}

func mustDecide(t *testing.T, s State, c Command) Decision {
	t.Helper()
	d, err := Decide(s, c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestNothingIsDoneWithoutEvidence(t *testing.T) {
	todo := RequestTool{Tool: "TodoWrite", Completes: []string{"Write the store"}, Settings: DefaultSettings()}
	ran := func(command string, failed bool) FinishTool {
		return FinishTool{ToolFinished: schemas.ToolFinished{Tool: "Bash", Failed: failed, Error: "FAIL store"}, Command: command}
	}
	s := inImplementation("store.go", "docs/notes.md")
	if d := mustDecide(t, s, todo); d.Verdict != Deny || d.Rule != RuleEvidence || !strings.Contains(d.Reason, "store.go") || strings.Contains(d.Reason, "notes.md") {
		t.Errorf("unverified: %+v", d)
	}
	if d := mustDecide(t, inImplementation(), todo); d.Verdict != Allow {
		t.Errorf("nothing changed: %+v", d)
	}
	planning := s
	planning.Work.Phase = PhasePlanning
	if d := mustDecide(t, planning, todo); d.Verdict != Allow {
		t.Errorf("planning: %+v", d)
	}
	failed := fold(s, mustDecide(t, s, ran("go test ./...", true)))
	if d := mustDecide(t, failed, todo); d.Verdict != Deny || !strings.Contains(d.Reason, "failed") {
		t.Errorf("after failed tests: %+v", d)
	}
	for _, command := range []string{"go test ./...", "go vet ./...", "go test ./... | tail -5"} {
		verified := fold(s, mustDecide(t, s, ran(command, false)))
		if d := mustDecide(t, verified, todo); d.Verdict != Allow {
			t.Errorf("after %s: %+v", command, d)
		}
		changed := fold(verified, mustDecide(t, verified, FinishTool{ToolFinished: schemas.ToolFinished{Tool: "Edit", Files: []schemas.FileState{{Path: "b.go"}}}}))
		if d := mustDecide(t, changed, todo); d.Verdict != Deny {
			t.Errorf("changed after %s: %+v", command, d)
		}
	}
	checked := fold(s, mustDecide(t, s, ran("go vet ./...", false)))
	if len(checked.DueTests()) == 0 || len(checked.Unverified) != 0 {
		t.Errorf("a check stands for tests: %+v", checked.DueTests())
	}
	asking := todo
	asking.Settings.DenyToAsk = true
	again := fold(s, mustDecide(t, s, todo))
	if d := mustDecide(t, again, asking); d.Verdict != Ask {
		t.Errorf("the second time: %+v", d)
	}
	if d := mustDecide(t, s, RequestTool{Tool: "TodoWrite", Completes: []string{"x"}, Actor: Actor{Agent: "a", Parent: &s}, Settings: Settings{Subagents: SubagentsExempt}}); d.Verdict != Allow {
		t.Errorf("an exempt worker: %+v", d)
	}
}

func TestATurnEndsOnceItsTestsRan(t *testing.T) {
	run := func(outcome string) *schemas.TestsFinished {
		return &schemas.TestsFinished{Trigger: "stop", Kind: KindTest, Command: "go test ./...", Outcome: outcome, Output: "--- FAIL: TestX", Millis: 60_000}
	}
	s := inImplementation("store.go")
	if d := mustDecide(t, s, EndTurn{Ran: run(schemas.OutcomePassed), Message: "All tests pass."}); d.Verdict != Allow || d.Notice != "" {
		t.Errorf("green: %+v", d)
	}
	red := mustDecide(t, s, EndTurn{Ran: run(schemas.OutcomeFailed)})
	if red.Verdict != Deny || red.Rule != RuleEvidence || !strings.Contains(red.Context, "FAIL: TestX") {
		t.Errorf("red: %+v", red)
	}
	after := fold(s, red)
	if len(after.DueTests()) != 0 || !after.Failing || after.Ran.Fails != 1 {
		t.Errorf("after red: %+v", after)
	}
	if d := mustDecide(t, after, EndTurn{Again: true}); d.Verdict != Allow || !strings.Contains(d.Notice, "although the tests fail") {
		t.Errorf("red, again: %+v", d)
	}
	for _, outcome := range []string{schemas.OutcomeTimedOut, schemas.OutcomeNotRun} {
		d := mustDecide(t, s, EndTurn{Ran: run(outcome), Message: "Here is what I changed."})
		if d.Verdict != Allow || !strings.Contains(d.Notice, "go test ./...") {
			t.Errorf("%s: %+v", outcome, d)
		}
		if left := fold(s, d); len(left.DueTests()) != 1 {
			t.Errorf("%s: nothing is due", outcome)
		}
	}
	claim := mustDecide(t, s, EndTurn{Message: "Everything is done."})
	if claim.Verdict != Deny || !strings.Contains(claim.Reason, "everything is done") {
		t.Errorf("a claim: %+v", claim)
	}
	if d := mustDecide(t, fold(s, claim), EndTurn{Again: true, Message: "Everything is done."}); d.Verdict != Allow || !strings.Contains(d.Notice, "claim") {
		t.Errorf("a claim, again: %+v", d)
	}
	if d := mustDecide(t, s, EndTurn{Message: "Everything is done.", Agent: "a"}); d.Verdict != Allow {
		t.Errorf("a sub-agent's: %+v", d)
	}
	if d := mustDecide(t, State{Mode: ModeConversation, Unverified: []string{"a.go"}}, EndTurn{Message: "Done."}); d.Verdict != Allow {
		t.Errorf("outside of work: %+v", d)
	}
}

func TestGreenTestsAdvanceWhereTheProjectSaysSo(t *testing.T) {
	s := inImplementation("store.go")
	s.Work.Gates = map[string]Gate{GatePlan: {Planned: []string{"store.go", "sql/*.sql"}}, GateTests: {}}
	passed := &schemas.TestsFinished{Trigger: "stop", Kind: KindTest, Command: "go test", Outcome: schemas.OutcomePassed}
	there := Workspace{Files: map[string]schemas.FileState{"store.go": {Path: "store.go", SHA256: "x"}}}
	phase := func(c EndTurn) string { return fold(s, mustDecide(t, s, c)).Phase() }
	green := EndTurn{Ran: passed, Workspace: there, Settings: Settings{AdvanceOnGreen: true}}
	if p := phase(green); p != PhaseVerification {
		t.Errorf("green: %s", p)
	}
	for name, change := range map[string]func(*EndTurn){
		"not configured": func(c *EndTurn) { c.Settings.AdvanceOnGreen = false },
		"a file missing": func(c *EndTurn) { c.Workspace = Workspace{} },
		"no run":         func(c *EndTurn) { c.Ran = nil },
		"a sub-agent":    func(c *EndTurn) { c.Agent = "a" },
		"red": func(c *EndTurn) {
			c.Ran = &schemas.TestsFinished{Kind: KindTest, Trigger: "stop", Command: "x", Outcome: schemas.OutcomeFailed}
		},
	} {
		c := green
		change(&c)
		if p := phase(c); p != PhaseImplementation {
			t.Errorf("%s: %s", name, p)
		}
	}
}
