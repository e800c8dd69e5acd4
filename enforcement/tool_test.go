package enforcement

import (
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// TestDecisionTable is the policy for one write, by mode or phase, class and
// actor. Columns: plan.md, capabilities.md, findings, test, code, scratch,
// outside, protected; a allows, d denies, ? asks.
func TestDecisionTable(t *testing.T) {
	columns := []string{PlanFile, CapabilitiesFile, "findings.md", testFile, codeFile, "/tmp/x", "/q/x", ".git/hooks/x"}
	rows := []struct{ stance, agent, inherits, worker string }{
		{"", "aadddadd", "aadddadd", "aaaaaadd"},
		{ModeConversation, "aaaaaa?d", "aaaaaa?d", "aaaaaa?d"},
		{ModeDebug, "???a?a?d", "???a?a?d", "aaaaaa?d"},
		{ModeReview, "ddaddadd", "ddaddadd", "aaaaaadd"},
		{PhasePlanning, "aadddadd", "aadddadd", "aaaaaadd"},
		{PhaseTesting, "dddadadd", "dddadadd", "daaaaadd"},
		{PhaseImplementation, "daaaaadd", "daaaaadd", "daaaaadd"},
		{PhaseVerification, "daaddadd", "daaddadd", "daaaaadd"},
		{"drift", "dddddadd", "dddddadd", "daaaaadd"},
	}
	tools := []string{"Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch", "mcp__fs__write_file", "Bash"}
	for _, row := range rows {
		for i, name := range columns {
			for actor, want := range map[string]byte{"agent": row.agent[i], "inherits": row.inherits[i], "worker": row.worker[i]} {
				for _, tool := range tools {
					d := tableDecision(t, row.stance, actor, tool, name)
					if got := map[Verdict]byte{Allow: 'a', Deny: 'd', Ask: '?'}[d.Verdict]; got != want {
						t.Errorf("%s, %s, %s of %s: %c, want %c: %s", row.stance, actor, tool, name, got, want, d.Reason)
					}
				}
			}
		}
	}
}

func tableDecision(t *testing.T, stance, actor, tool, name string) Decision {
	t.Helper()
	var x *session
	switch stance {
	case PhasePlanning, PhaseTesting, PhaseImplementation, PhaseVerification:
		x = reach(t, stance)
	case "drift":
		x = reach(t, PhaseImplementation)
		x.files[testFile] = "changed"
	default:
		x = newSession(t, stance)
	}
	req := x.requestOf(name, "new content")
	req.Tool = tool
	if tool == "Bash" {
		req.Shell, req.Targets = Inspect(caseLayout, "/p", "echo x > "+name, nil, nil), nil
	}
	switch actor {
	case "inherits":
		parent := x.state
		req.Actor = Actor{Agent: "a", Parent: &parent}
		req.Settings.Subagents = SubagentsInherit
		x.state = State{Parent: "p"}
	case "worker":
		parent := x.state
		parent.Orchestrator = true
		req.Actor = Actor{Agent: "a", Parent: &parent}
		x.state = State{Parent: "p"}
	}
	return x.do(req)
}

func TestSubagentsOfOneSessionAndSettings(t *testing.T) {
	tests := []struct {
		orchestrator bool
		setting      string
		started      string
		want         Verdict
	}{
		{false, "", "", Deny},
		{true, "", "", Allow},
		{true, SubagentsInherit, "", Deny},
		{false, SubagentsExempt, "", Allow},
		{false, "", SubagentsExempt, Allow},
		{true, "", SubagentsInherit, Deny},
		{false, SubagentsInherit, SubagentsExempt, Deny},
	}
	for _, tt := range tests {
		x := newSession(t, ModeWork)
		x.state.Orchestrator, x.state.Subagents = tt.orchestrator, tt.started
		req := x.requestOf(codeFile, "x")
		req.Settings.Subagents = tt.setting
		req.Actor.Agent = "a1" // recorded in the parent's own log
		x.do(req)
		if x.last.Verdict != tt.want {
			t.Errorf("%+v: %s", tt, x.last.Verdict)
		}
		if got := x.last.Record[0].(schemas.ToolDecided); got.Agent != "a1" {
			t.Errorf("recorded %+v", got)
		}
		x.request(codeFile, "x")
		x.want(Deny, RulePlan)
	}
}

// TestAPlanInAFolderIsToldWhereItBelongs: an agent that was started in a folder of
// the project writes its plan there.
func TestAPlanInAFolderIsToldWhereItBelongs(t *testing.T) {
	for _, mode := range []string{ModeWork, ""} {
		for _, name := range []string{PlanFile, CapabilitiesFile} {
			x := newSession(t, mode)
			x.request("packages/hello/"+name, "# Plan")
			if got := x.last.Reason; x.last.Verdict != Deny || !strings.HasSuffix(got, "a "+name+" counts at the project's root only. Write it to /p/"+name+".") {
				t.Errorf("in mode %q: %s", mode, got)
			}
		}
	}
}

func TestSecondRefusalAsks(t *testing.T) {
	x := newSession(t, ModeWork)
	request := func(name string) {
		req := x.requestOf(name, "x")
		req.Settings.DenyToAsk = true
		x.do(req)
	}
	request(codeFile)
	x.want(Deny, RulePlan)
	request("README.md")
	x.want(Ask, RulePlan)
	if x.state.Approved(GatePlan) || x.state.Refusals != 1 {
		t.Errorf("%+v", x.state)
	}
	request(codeFile)
	x.want(Ask, RulePlan)
	request(".git/config")
	x.want(Deny, RuleProtected)
	request(".git/config")
	x.want(Deny, RuleProtected)
	request(codeFile)
	x.want(Deny, RulePlan)
	request("/q/x")
	x.want(Deny, RuleOutside)
	request("/q/x")
	x.want(Deny, RuleOutside)
	request(codeFile)
	x.want(Deny, RulePlan)
	request("/tmp/x")
	request(codeFile)
	x.want(Ask, RulePlan)
	request(PlanFile)
	x.want(Allow, "")
	request(codeFile)
	x.want(Deny, RulePlan)
	for range 2 {
		x.request(codeFile, "x")
		x.want(Deny, RulePlan)
	}
}

// A question is put where a yes does what it says, and where somebody answers: hosts
// that ask nobody let pass what is asked about.
func TestAQuestionIsPutWhereAYesCounts(t *testing.T) {
	second := func(mode, command string, confined, unasked bool) Decision {
		x := newSession(t, mode)
		var d Decision
		for range 2 {
			req := x.shellRequest(command)
			if command == "" {
				req = x.requestOf(codeFile, "x")
			}
			req.Settings.DenyToAsk, req.Confined, req.Unasked = true, confined, unasked
			d = x.do(req)
		}
		return d
	}
	for name, tt := range map[string]struct {
		mode, command     string
		confined, unasked bool
		want              Verdict
	}{
		"an edit":                            {ModeWork, "", true, false, Ask},
		"an edit, and nobody answers":        {ModeWork, "", true, true, Deny},
		"a small edit, and nobody answers":   {ModeSmall, "", true, true, Deny},
		"an edit in debug, nobody answers":   {ModeDebug, "", true, true, Deny},
		"an edit that needs no yes":          {ModeConversation, "", true, true, Allow},
		"a command that runs held":           {ModeWork, "sed -i s/a/b/ src/pay.go", true, false, Deny},
		"the same where nothing holds it":    {ModeWork, "sed -i s/a/b/ src/pay.go", false, false, Ask},
		"the same, and nobody answers":       {ModeWork, "sed -i s/a/b/ src/pay.go", false, true, Deny},
		"unknown, unheld, nobody answers":    {ModeWork, "python3 gen.py", false, true, Deny},
		"unknown, unheld, somebody answers":  {ModeWork, "python3 gen.py", false, false, Ask},
		"outside, held":                      {ModeConversation, "touch /home/u/notes", true, false, Deny},
		"outside, where nothing holds it":    {ModeConversation, "touch /home/u/notes", false, false, Ask},
		"work is lost in an open mode":       {ModeConversation, "git stash drop", true, true, Ask},
		"work is lost while code is closed":  {ModeWork, "git stash drop", true, true, Deny},
		"work is lost, and somebody answers": {ModeWork, "git stash drop", true, false, Ask},
	} {
		if d := second(tt.mode, tt.command, tt.confined, tt.unasked); d.Verdict != tt.want {
			t.Errorf("%s: %s, want %s: %s", name, d.Verdict, tt.want, d.Reason)
		}
	}
}

func TestCommandsNobodyCanTell(t *testing.T) {
	tests := []struct {
		stance string
		want   Verdict
		rule   string
	}{
		{"", Ask, RuleMode},
		{ModeConversation, Allow, ""},
		{ModeDebug, Allow, ""},
		{ModeReview, Ask, RuleReview},
		{PhasePlanning, Ask, RulePlan},
		{PhaseTesting, Ask, RuleTests},
		{PhaseImplementation, Allow, ""},
		{PhaseVerification, Allow, ""},
		{"drift", Ask, RuleDrift},
	}
	for _, tt := range tests {
		for _, command := range []string{"python build.py", "npm test", "./run.sh"} {
			var x *session
			switch tt.stance {
			case "", ModeConversation, ModeDebug, ModeReview:
				x = newSession(t, tt.stance)
			case "drift":
				x = reach(t, PhaseImplementation)
				x.files[PlanFile] = otherPlan
			default:
				x = reach(t, tt.stance)
			}
			x.shell(command)
			x.want(tt.want, tt.rule)
			if t.Failed() {
				t.Fatalf("%q: %s", tt.stance, command)
			}
		}
		x := newSession(t, ModeWork)
		x.do(RequestTool{Tool: "mcp__db__run", Settings: Settings{MCPWriters: []string{"mcp__db__*"}}})
		x.want(Ask, RulePlan)
		x.do(RequestTool{Tool: "REPL", Code: true})
		x.want(Ask, RulePlan)
		x.do(RequestTool{Tool: "mcp__docs__read", Settings: Settings{MCPWriters: []string{"mcp__db__*"}}})
		x.want(Allow, "")
	}
}

func TestUnknownPartAndKnownPart(t *testing.T) {
	x := newSession(t, ModeWork)
	x.shell("python a.py && echo x > src/cart.py")
	x.want(Deny, RulePlan)
	x.shell("python a.py > /tmp/out")
	x.want(Ask, RulePlan)
	if !strings.Contains(x.last.Reason, "python a.py") {
		t.Errorf("the reason does not say what cannot be told: %s", x.last.Reason)
	}
}

func TestGitMetadataIsAllowedInEveryPhase(t *testing.T) {
	for _, phase := range []string{PhasePlanning, PhaseTesting, PhaseImplementation, PhaseVerification} {
		x := reach(t, phase)
		for _, command := range []string{"git add -A", "git commit -m 'the plan'", "git tag v1"} {
			x.shell(command)
			x.want(Allow, "")
		}
		x.shell("git config core.hooksPath /tmp/h")
		x.want(Deny, RuleProtected)
	}
}

func TestWritsOwnCommands(t *testing.T) {
	allow := []string{
		"writ status", "writ query 'timeouts in http clients'", "writ recall x", "writ search x", "writ context", "writ rule show GO-A-1",
		"writ rule propose --file /tmp/r.json", "writ mode set work", "writ mode", "writ --help", "writ status && writ query x",
		"writ --json status", "writ rule --json show GO-A-1", "writ rule search retire", "writ rule retire --help", "writ memory report", "writ help gates", "writ mode --session s", "writ find x", "writ find --in files x", "writ memory add x", "writ rule graph show X",
	}
	deny := []string{
		"writ approve", "writ phase invalidate plan --reason x", "writ phase reopen", "writ hook claude PreToolUse", "writ emit gate.approved", "writ rule review GO-A-1",
		"writ rule revert GO-A-1", "writ rule import r.md", "writ memory forget x", "writ memory review", "writ init", "writ uninstall", "writ down",
		"bash -c 'writ approve'", "ls; writ approve plan", "true && env A=b writ phase show", "writ $VERB", "writ rule $VERB",
		"writ rule retire SEC-TLS-VERIFY-001", "writ rule edit X", "writ rule add --file r.json", "writ rule compress", "writ memory triage --accept x", "writ memory import m.jsonl",
		"writ graph pull", "writ tune q.jsonl", "writ model", "writ run x", "writ dispatch x", "writ schedule resume x", "writ audit checkpoint", "writ up", "writ view rebuild rules", "writ backup /tmp/x", "writ restore /tmp/x", "writ --json backup /tmp/x --keep 1",
		"writ --json rule retire X", "writ rule --json retire X", "writ rule --x=y retire X", "writ frobnicate", "writ rule frobnicate", "writ config set x", "writ accept", "writ mode frobnicate",
		"env -i PATH=$PATH setsid -f writ rule retire X", "nohup writ rule retire X &", "writ rule retire X --reason --help", "printf 'writ rule retire X' | sh", "writ mode set $MODE",
		"writ log", "writ log --since 1h", "writ log emit gate.approved", "writ log view rebuild rules", "writ agent run x", "writ agent schedule resume x", "writ rule graph pull", "writ approve settings", "writ approve passkey add x", "writ backup restore d", "writ session phase reopen", "writ model tune x", "writ agent schedule frobnicate",
	}
	for _, mode := range []string{"", ModeConversation, ModeWork} {
		x := newSession(t, mode)
		for _, command := range allow {
			x.shell(command)
			if x.last.Verdict != Allow {
				t.Errorf("%q: %s: %s: %s", mode, command, x.last.Verdict, x.last.Reason)
			}
		}
		for _, command := range deny {
			x.shell(command)
			if x.last.Verdict != Deny || x.last.Rule != RuleProtected {
				t.Errorf("%q: %s: %s %s", mode, command, x.last.Verdict, x.last.Rule)
			}
		}
	}
}

func TestWritsDataIsNotRead(t *testing.T) {
	x := newSession(t, ModeConversation)
	for _, command := range []string{"cat ~/.local/share/writ/admin.creds", "grep -r token /home/dev/.local/share/writ", "curl -K ~/.local/share/writ/x http://localhost"} {
		x.shell(command)
		x.want(Deny, RuleProtected)
	}
	x.do(RequestTool{Tool: "Read", Private: []string{"/home/dev/.local/share/writ/admin.creds"}, Settings: DefaultSettings()})
	x.want(Deny, RuleProtected)
	x.shell("ls ~/.local/share")
	x.want(Allow, "")
}

func TestPlanDialogIsCheckedBeforeItIsShown(t *testing.T) {
	x := newSession(t, ModeWork)
	if d := x.do(RequestTool{Tool: "ExitPlanMode", Plan: []byte(" \n"), Settings: Settings{}}); d.Verdict != Deny || !strings.Contains(d.Reason, "would show is empty") {
		t.Errorf("an empty plan: %+v", d)
	}
	x.do(RequestTool{Tool: "ExitPlanMode", Plan: []byte(badPlan), Settings: DefaultSettings()})
	x.want(Deny, RulePlan)
	x.do(RequestTool{Tool: "ExitPlanMode", Plan: []byte(goodPlan), Settings: DefaultSettings()})
	x.want(Allow, "")
	y := newSession(t, ModeConversation)
	y.do(RequestTool{Tool: "ExitPlanMode", Plan: []byte(badPlan), Settings: DefaultSettings()})
	y.want(Allow, "")
}

func TestDebugReproduction(t *testing.T) {
	x := newSession(t, "")
	x.do(SetMode{Mode: ModeDebug, Repro: []string{"./src/a.py", "lib", "/q/z.py", ""}, ByUser: true})
	for name, want := range map[string]Verdict{"src/a.py": Allow, "src/a.pyc": Ask, "lib/b/c.rb": Allow, "library/x": Ask, testFile: Allow, "README.md": Ask} {
		x.request(name, "x")
		if x.last.Verdict != want {
			t.Errorf("%s: %s, want %s", name, x.last.Verdict, want)
		}
	}
}

func TestMisuseIsAnError(t *testing.T) {
	for _, c := range []Command{nil, RequestTool{}, SubmitPrompt{Prompt: "approved"}, SubmitPrompt{ActID: "\xff"}, ApproveGate{ActID: "a"}, ApproveGate{Channel: "terminal"}, InvalidateGate{}, StartSession{}, Compact{}} {
		d, err := Decide(State{}, c)
		if err == nil || d.Verdict != Deny || len(d.Record) != 0 {
			t.Errorf("%+v: %+v %v", c, d, err)
		}
	}
	if (Decision{}).Verdict != Deny {
		t.Error("the zero decision does not deny")
	}
}

func TestAConfinedCommandNeedsNoQuestion(t *testing.T) {
	s := State{Host: "claude", Project: "/p", Mode: ModeWork, Work: Work{Phase: PhasePlanning}}
	request := RequestTool{Tool: "Bash", Shell: &ShellCommand{Text: "make", Effect: EffectCannotTell, Why: "make: runs the code of the project"}, Settings: DefaultSettings()}
	d := mustDecide(t, s, request)
	if d.Verdict != Ask {
		t.Errorf("unbounded: %+v", d)
	}
	request.Unbounded = "confinement is not to be had, no Landlock"
	if d = mustDecide(t, s, request); d.Verdict != Ask || !strings.Contains(d.Reason, "no Landlock") {
		t.Errorf("the answer does not say why: %s", d.Reason)
	}
	request.Confined = true
	if d = mustDecide(t, s, request); d.Verdict != Allow {
		t.Errorf("confined: %+v", d)
	}
	request.Shell.Targets = []schemas.Target{{Path: "/p/a.go", Rel: "a.go", Class: ClassCode}}
	if d = mustDecide(t, s, request); d.Verdict != Deny {
		t.Errorf("confined, with a known target: %+v", d)
	}
}

func TestToolsOfServersAreKnownByEachHostsName(t *testing.T) {
	for tool, want := range map[string]Verdict{
		"mcp__fs__write_file": Ask, "MCP:write_file": Ask, "mcp__fs__read_file": Allow, "MCP:read_file": Allow, "write_file": Allow,
	} {
		s := State{Mode: ModeWork, Work: Work{Phase: PhasePlanning}}
		if d := mustDecide(t, s, RequestTool{Tool: tool, Settings: Settings{MCPWriters: []string{"mcp__fs__write_*"}}}); d.Verdict != want {
			t.Errorf("%s: %v", tool, d.Verdict)
		}
	}
}

// TestAYesToAServersToolHolds: a tool of a server whose name does not say that it
// reads is asked for while code may not be written, until the user's yes showed
// itself; a question about what it is given is put each time.
func TestAYesToAServersToolHolds(t *testing.T) {
	x := newSession(t, ModeWork)
	ask := func(id, tool, holds string) Decision {
		return x.do(RequestTool{Tool: tool, ToolUseID: id, Unproven: "its name does not say", Holds: holds})
	}
	ran := func(id, tool string, c FinishTool) string {
		t.Helper()
		c.ToolFinished = schemas.ToolFinished{Tool: tool, ToolUseID: id, Failed: c.Failed}
		x.do(c)
		return x.recorded()
	}
	const tool = "mcp__ide__start"
	if d := ask("t1", tool, tool); d.Verdict != Ask || !strings.Contains(d.Reason, "A yes holds") {
		t.Fatalf("%+v", d)
	}
	if got := ran("t1", tool, FinishTool{Holds: tool, Unasked: true}); strings.Contains(got, "tool.accepted") {
		t.Errorf("nobody was asked: %s", got)
	}
	ask("t2", tool, "")
	if got := ran("t2", tool, FinishTool{}); strings.Contains(got, "tool.accepted") {
		t.Errorf("a yes to one command holds for all: %s", got)
	}
	if got := ran("t3", tool, FinishTool{Holds: tool}); strings.Contains(got, "tool.accepted") {
		t.Errorf("nobody was asked for t3: %s", got)
	}
	ask("t4", tool, tool)
	if got := ran("t4", tool, FinishTool{Holds: tool}); !strings.Contains(got, "tool.accepted") {
		t.Errorf("the user's yes: %s", got)
	}
	if d := ask("t5", tool, tool); d.Verdict != Allow {
		t.Errorf("asked again: %+v", d)
	}
	if d := ask("t6", "mcp__ide__other", "mcp__ide__other"); d.Verdict != Ask {
		t.Errorf("a yes to another tool: %+v", d)
	}
	if d := ask("t7", tool, ""); d.Verdict != Ask {
		t.Errorf("a yes to the name is one to all that it is given: %+v", d)
	}
	x = newSession(t, ModeConversation)
	if d := ask("t1", tool, tool); d.Verdict != Allow {
		t.Errorf("asked while nothing is closed: %+v", d)
	}
}
