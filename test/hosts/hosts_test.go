package hosts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/test/hosts/script"
)

// What the user says, in the order of the conversation.
const (
	wish          = "Please add up the prices of a cart."
	planApproved  = "The plan is approved."
	goOn          = "Go on with the tests."
	testsApproved = "The tests are approved."
	writeIt       = "Go on with the code."
)

const plan = `# Plan: add up a cart

## Files

- ` + "`cart.go` – `Total`" + ` adds the prices of a cart
- ` + "`cart_test.go`" + ` – cases for an empty and a full cart

## Analysis

The shop has prices and no sum of them. ` + "`Total`" + ` takes prices in cents and returns their
sum, so that no caller adds floats.

## Rules Applied

No matching rules

## Capabilities

- [ ] An empty cart costs nothing
- [ ] A full cart costs the sum of its prices
`

const tests = `package shop

import "testing"

func TestTotal(t *testing.T) {
	if got := Total(nil); got != 0 {
		t.Errorf("an empty cart costs %d", got)
	}
	if got := Total([]int{150, 250}); got != 400 {
		t.Errorf("a full cart costs %d", got)
	}
}
`

const code = `package shop

// Total is the sum of prices in cents.
func Total(prices []int) int {
	sum := 0
	for _, p := range prices {
		sum += p
	}
	return sum
}
`

// bypass writes the code by a program of whose text nobody can tell it.
const bypass = `node -e "require('fs')['write'+'FileSync'](process.argv[1]+'.go', 'package shop')" cart`

// scripts are what the model of an agent answers.
func (a agent) scripts(project, writ string) map[string][]script.Reply {
	file := func(name, content string) script.Reply {
		return script.Reply{Calls: []script.Call{a.file(filepath.Join(project, name), content)}}
	}
	shell := func(command string) script.Reply { return script.Reply{Calls: []script.Call{a.shell(command)}} }
	test := []script.Reply{file("cart_test.go", tests), shell("echo 'package shop' > cart.go"), {Text: "The tests wait for you."}}
	cart := []script.Reply{file("cart.go", code), {Text: "The code is there."}}
	return map[string][]script.Reply{
		wish: {
			file("cart.go", code), shell(writ + " mode set work"), file("plan.md", plan),
			shell("echo 'package shop' > cart.go"), shell(bypass),
			{Text: "The plan waits for you."},
		},
		planApproved: test, goOn: test, testsApproved: cart, writeIt: cart,
	}
}

// TestConversation: no code before a plan and tests that the user approved,
// whatever the agent tries; code after.
func TestConversation(t *testing.T) {
	folders(t)
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			if a.slow && os.Getenv("WRIT_TEST_HOSTS_SLOW") == "" {
				t.Skip("it takes seconds to start: WRIT_TEST_HOSTS_SLOW=1 drives it as well")
			}
			t.Parallel()
			r := guarded(t, a)
			told, results := r.turn(wish)
			if !strings.Contains(told, "This project is guarded by Writ.") {
				t.Errorf("the model was not told of the guard:\n%s", tail(told))
			}
			if !strings.Contains(told, "WRIT MANDATORY RULES") {
				t.Errorf("the model was not told the rules that always hold:\n%s", tail(told))
			}
			r.wantResults(results, "ENF-GATE-MODE: cart.go", "work, phase planning", "", "ENF-GATE-PLAN: cart.go", r.bypassed())
			if r.has("cart.go") || !r.has("plan.md") {
				t.Fatalf("cart.go is there: %v, plan.md: %v", r.has("cart.go"), r.has("plan.md"))
			}
			session, _ := r.session()
			if log := r.events(session); strings.Contains(log, `"write.unapproved"`) {
				t.Errorf("a write got through:\n%s", tail(log))
			}
			r.approved("plan", planApproved, goOn, "testing")
			if !r.has("cart_test.go") || r.has("cart.go") {
				t.Fatalf("cart_test.go is there: %v, cart.go: %v", r.has("cart_test.go"), r.has("cart.go"))
			}
			r.approved("tests", testsApproved, writeIt, "implementation")
			if !r.has("cart.go") {
				t.Error("approved code was not written")
			}
			if again, _ := r.session(); again != session {
				t.Errorf("the conversation became two sessions, %s and %s", session, again)
			}
			if out := r.must("writ", "doctor"); !strings.Contains(out, "refused, as it must be") {
				t.Error(out)
			}
		})
	}
}

// bypassed is a word of what becomes of a command that nobody can judge.
func (r *rig) bypassed() string {
	if _, why := confine.Supported(); r.agent.confines && why == "" {
		return "ermission denied"
	}
	return unjudged
}

// unjudged is said of a command where nothing holds it.
const unjudged = "nobody can tell from the command what it writes"

func (r *rig) wantResults(results []string, want ...string) {
	r.t.Helper()
	if len(results) != len(want) {
		r.t.Fatalf("%d results of tools, want %d:\n%s", len(results), len(want), strings.Join(results, "\n--\n"))
	}
	for i, part := range want {
		if !strings.Contains(results[i], part) {
			r.t.Errorf("result %d: %s\nwant %q in it", i+1, tail(results[i]), part)
		}
	}
}

// approved has the user approve a gate, and the agent go on: by a prompt, or at
// a terminal where the host says that a program sends its prompts.
func (r *rig) approved(gate, prompt, next, phase string) {
	r.t.Helper()
	if r.agent.nobody {
		id, before := r.session()
		r.model.Scripts[prompt] = []script.Reply{{Text: "Thank you."}}
		for _, said := range []string{prompt, "/writ-approve " + gate} {
			r.turn(said)
			if _, now := r.session(); now != before {
				r.t.Fatalf("a program that says %q approved the %s: phase %s", said, gate, now)
			}
		}
		r.atTerminal(gate, id)
		prompt = next
	}
	_, results := r.turn(prompt)
	if _, now := r.session(); now != phase {
		r.t.Fatalf("phase %q after the %s, want %s\n%s", now, gate, phase, strings.Join(results, "\n--\n"))
	}
	if refused := slices.ContainsFunc(results, func(result string) bool { return strings.Contains(result, "ENF-GATE-TEST: cart.go") }); refused != (gate == "plan") {
		r.t.Errorf("results after the %s:\n%s", gate, strings.Join(results, "\n--\n"))
	}
}

// atTerminal approves a gate as a person at a terminal does.
func (r *rig) atTerminal(gate, session string) {
	r.t.Helper()
	out, err := r.run("script", "-qec", "echo yes | script -qec 'writ approve "+gate+" --session "+session+"' /dev/null", "/dev/null")
	if err != nil {
		r.t.Skipf("no terminal can be made to approve the %s at: %v\n%s", gate, err, out)
	}
}
