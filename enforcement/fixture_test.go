package enforcement

import (
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

const (
	goodPlan = `# Carts

## Files

- ` + "`src/cart.py`" + `: totals
- ` + "`tests/test_cart.py`" + `: its tests

## Analysis

The total is computed twice today, once without the discount. One function
computes it and both callers use it.

## Rules Applied

No matching rules

## Capabilities

- [ ] A cart with a discount shows the reduced total
`
	otherPlan = `# Carts, second thoughts

## Files

- ` + "`src/cart.py`" + `: totals and taxes

## Analysis

Taxes belong to the total as well, so the function takes the region and both
callers hand it over.

## Rules Applied

No matching rules

## Capabilities

- [ ] A cart shows its total with taxes
`
	badPlan = "# Carts\n\n## Files\n\nTODO\n"

	goodTest  = "from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
	otherTest = "from cart import total\n\n\ndef test_total():\n    assert total([1, 2, 3]) == 6\n"
	badTest   = "def test_total():\n    pass\n"

	testFile = "tests/test_cart.py"
	codeFile = "src/cart.py"
)

// session is a session with its project, for tests: files by relative path, or
// absolute outside the project.
type session struct {
	t     testing.TB
	state State
	files map[string]string
	last  Decision
	uses  int
}

func newSession(t testing.TB, mode string) *session {
	x := &session{t: t, files: map[string]string{}}
	x.do(StartSession{schemas.SessionStarted{Host: "claude", Source: "startup", Project: "/p"}})
	if mode != "" {
		x.do(SetMode{Mode: mode, ByUser: true})
	}
	return x
}

// do decides a command and folds what is recorded.
func (x *session) do(c Command) Decision {
	x.t.Helper()
	d, err := Decide(x.state, c)
	if err != nil {
		x.t.Fatalf("%T: %v", c, err)
	}
	for _, p := range d.Record {
		x.state = Evolve(x.state, schemas.Event{Data: p})
	}
	x.last = d
	return d
}

func (x *session) workspace() Workspace {
	w := Workspace{Files: map[string]schemas.FileState{}, Tests: map[string][]byte{}}
	for name, content := range x.files {
		w.Files[name] = fileState(name, []byte(content))
	}
	if plan, ok := x.files[PlanFile]; ok {
		w.Plan = []byte(plan)
	}
	if boxes, ok := x.files[CapabilitiesFile]; ok {
		w.Capabilities = []byte(boxes)
	}
	for _, name := range x.state.TestFiles() {
		if content, ok := x.files[name]; ok {
			w.Tests[name] = []byte(content)
		}
	}
	return w
}

// request decides on a write of a file without doing it.
func (x *session) request(name, content string) Decision {
	x.t.Helper()
	return x.do(x.requestOf(name, content))
}

func (x *session) requestOf(name, content string) RequestTool {
	x.uses++
	target := Classify(caseLayout, Resolve(name, "/p", caseLayout.Home, nil))
	target.Result = Hash([]byte(content))
	return RequestTool{
		Tool: "Write", ToolUseID: "use-" + strings.Repeat("i", x.uses), Targets: []schemas.Target{target},
		Workspace: x.workspace(), Settings: DefaultSettings(),
	}
}

// write decides on a write and, when it is allowed, does it.
func (x *session) write(name, content string) Decision {
	x.t.Helper()
	req := x.requestOf(name, content)
	d := x.do(req)
	if d.Verdict == Allow {
		x.files[name] = content
		x.finish(req, name)
	}
	return d
}

func (x *session) finish(req RequestTool, names ...string) Decision {
	x.t.Helper()
	f := schemas.ToolFinished{Tool: req.Tool, ToolUseID: req.ToolUseID}
	for _, name := range names {
		state := schemas.FileState{Path: name}
		if content, ok := x.files[name]; ok {
			state = fileState(name, []byte(content))
		}
		f.Files = append(f.Files, state)
	}
	return x.do(FinishTool{ToolFinished: f, Workspace: x.workspace()})
}

func (x *session) shell(command string) Decision {
	x.t.Helper()
	return x.do(x.shellRequest(command))
}

func (x *session) shellRequest(command string) RequestTool {
	x.uses++
	return RequestTool{
		Tool: "Bash", ToolUseID: "use-" + strings.Repeat("i", x.uses), Shell: Inspect(caseLayout, "/p", command, nil, nil),
		Workspace: x.workspace(), Settings: DefaultSettings(),
	}
}

// prompt submits what the user typed.
func (x *session) prompt(text string) Decision {
	x.t.Helper()
	x.uses++
	return x.do(SubmitPrompt{Prompt: text, ActID: "prompt-" + strings.Repeat("i", x.uses), Origin: OriginUser, Workspace: x.workspace(), Settings: DefaultSettings()})
}

// reach brings a new session of work to the given phase by the user's acts.
func reach(t testing.TB, phase string) *session {
	t.Helper()
	x := newSession(t, ModeWork)
	order := []string{PhasePlanning, PhaseTesting, PhaseImplementation, PhaseVerification}
	steps := []func(){
		func() { x.write(PlanFile, goodPlan); x.prompt("/writ-approve plan") },
		func() { x.write(testFile, goodTest); x.prompt("/writ-approve tests") },
		func() { x.write(codeFile, "def total(x): return sum(x)\n"); x.prompt("/writ-approve implementation") },
	}
	for i := range slices.Index(order, phase) {
		steps[i]()
	}
	if x.state.Phase() != phase {
		t.Fatalf("phase %q, want %q; last: %+v", x.state.Phase(), phase, x.last)
	}
	return x
}

func (x *session) want(v Verdict, rule string) {
	x.t.Helper()
	if x.last.Verdict != v || x.last.Rule != rule {
		x.t.Errorf("%s %q, want %s %q: %s", x.last.Verdict, x.last.Rule, v, rule, x.last.Reason)
	}
}

func (x *session) phase(want string) {
	x.t.Helper()
	if x.state.Phase() != want {
		x.t.Errorf("phase %q, want %q; %s%s", x.state.Phase(), want, x.last.Reason, x.last.Notice)
	}
}

// recorded lists the types of what the last command recorded.
func (x *session) recorded() string {
	var types []string
	for _, p := range x.last.Record {
		types = append(types, string(p.EventType()))
	}
	return strings.Join(types, " ")
}
