package enforcement

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/integration"
	"pgregory.net/rapid"
)

// The model test drives random commands against a session and a project, and
// checks every answer against an oracle that knows nothing of State: it
// remembers what the user approved and what stands in the project.
//
// WRIT_MODEL_COMMANDS sets how many commands are driven in all; test/ci/sim.sh
// drives many more.
func TestModel(t *testing.T) {
	total := integration.Rounds(10_000, 30_000)
	if v := os.Getenv("WRIT_MODEL_COMMANDS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatal(err)
		}
		total = n
	}
	var driven tally
	rapid.Check(t, func(rt *rapid.T) {
		m := newModel(rt, &driven)
		for range total / 100 {
			m.step()
		}
		m.replay()
		m.lose()
	})
	t.Logf("%d commands, %d writes of code allowed and %d refused, %d approvals (%d by a passkey alone), %d drifts, %d invalidations, %d files let in",
		driven.commands, driven.codeAllowed, driven.codeRefused, driven.approvals, driven.strict, driven.drifts, driven.invalidations, driven.added)
	for what, n := range map[string]int{"allowed": driven.codeAllowed, "refused": driven.codeRefused, "approvals": driven.approvals, "drifts": driven.drifts, "invalidations": driven.invalidations, "let in": 5 * driven.added, "closed": 3 * driven.closed, "by a passkey alone": 3 * driven.strict, "red": 5 * driven.red} {
		if driven.commands >= 30_000 && n < driven.commands/600 { // a quarter of the rarest
			t.Errorf("only %d %s: the model explores too little", n, what)
		}
	}
}

type tally struct{ red, commands, closed, codeAllowed, codeRefused, approvals, drifts, invalidations, added, strict int }

// model is a session with its project and the oracle.
type model struct {
	t      *rapid.T
	tally  *tally
	state  State
	log    []schemas.Message
	clock  int
	files  map[string]string
	open   []RequestTool       // allowed and not finished
	writes map[string][]string // what open requests will write, by tool use

	least string // the assurance that the settings ask for

	// The oracle.
	mode     string
	approved map[string]map[string]string // gate → file → content
	parked   map[string]map[string]string
	own      map[string]string // tests as this session left them
	acts     map[string]bool
	seen     map[string]map[string]string // test file → content, with that of what serves it → what a run of it showed
	written  bool                         // something was written in carrying out the plan
	fresh    bool                         // what is decided now is decided in testing, with nothing written
	red      map[string]bool              // approved tests that were seen red, and have not passed since
	asked    map[string]string            // files outside the plan that the user was asked about, by tool use
	added    map[string]bool              // those the user let in
	aside    map[string]map[string]string
	asideOwn map[string]string
	stops    bool            // the host tells of turns' ends
	aged     map[string]bool // open when a prompt came or a turn ended, by tool use
	said     string          // the last prompt
}

var (
	modelPaths = []string{
		PlanFile, PlanFile, testFile, testFile, codeFile, codeFile, codeFile, "tests/test_more.py",
		CapabilitiesFile, "README.md", "/tmp/x", "/q/y", ".git/hooks/pre-commit", "findings.md",
	}
	modelContents = []string{goodPlan, otherPlan, goodTest, otherTest, badTest, badPlan, "x = 1\n"}
	modelPrompts  = []string{
		"approved", "approved", "/writ-approve", "/writ-approve plan", "/writ-approve tests", "/writ-approve implementation", "yes",
		"approved?", "not approved", "please go on with step 2", "/writ-mode conversation", "/writ-mode work", "/writ-mode review", "lgtm",
		"add README.md to the plan", "add it to the plan", "new task: a login page", "now implement refunds", "continue with the plan", "continue with the plan",
	}
	modelOrigins = []string{OriginUser, OriginUser, OriginUser, "", "sdk", "system", "loop_wakeup"}
	// modelOpens are the channels that open a gate, by what is asked for.
	modelOpens = map[string][]string{
		"":                 {ChannelPrompt, ChannelUnsourced, ChannelCommand, ChannelDashboard, ChannelTerminal, ChannelPasskey},
		AssurancePrompt:    {ChannelPrompt, ChannelUnsourced, ChannelCommand, ChannelDashboard, ChannelTerminal, ChannelPasskey},
		AssuranceTerminal:  {ChannelTerminal, ChannelPasskey},
		AssurancePasskey:   {ChannelPasskey},
		"of another world": {ChannelPasskey},
	}
	modelShell = []string{
		"ls", "echo x > src/cart.py", "npm test", "python make.py", "rm plan.md", "cat x > tests/test_cart.py", "writ approve", "writ status", "git commit -m x",
	}
)

func newModel(t *rapid.T, n *tally) *model {
	m := &model{
		t: t, tally: n, files: map[string]string{codeFile: "x = 0\n"}, writes: map[string][]string{},
		approved: map[string]map[string]string{}, own: map[string]string{}, acts: map[string]bool{}, asked: map[string]string{}, added: map[string]bool{}, seen: map[string]map[string]string{}, red: map[string]bool{}, aged: map[string]bool{},
	}
	m.do(StartSession{schemas.SessionStarted{Host: "claude", Project: "/p"}})
	return m
}

func pick[T any](m *model, from []T) T { return from[m.intn(len(from))] }

func (m *model) intn(n int) int { return rapid.IntRange(0, n-1).Draw(m.t, "n") }

// do decides, records and folds, through the codec.
func (m *model) do(c Command) Decision {
	m.tally.commands++
	m.fresh = m.state.Phase() == PhaseTesting && !m.written
	d, err := Decide(m.state, c)
	if err != nil {
		m.t.Fatalf("%T: %v", c, err)
	}
	if len([]rune(d.Reason)) > MaxReason {
		m.t.Fatalf("%T: a reason of %d characters", c, len([]rune(d.Reason)))
	}
	if len(d.Record) == 0 {
		return d
	}
	m.clock++
	main := schemas.Event{
		ID: fmt.Sprintf("event-%d", m.clock), Source: "/writ/test", Aggregate: schemas.Session("s"),
		Time: time.Unix(int64(m.clock), 0).In(time.FixedZone("x", 3600)), Data: d.Record[0],
	}
	message, err := schemas.Encode(main, d.Record[1:]...)
	if err != nil {
		m.t.Fatalf("%T: recorded what cannot be encoded: %v", c, err)
	}
	m.log = append(m.log, message)
	for _, p := range d.Record {
		e := main
		e.Data = p
		m.state = Evolve(m.state, e)
		if broken := brokenBy(m.state, true); broken != "" {
			m.t.Fatalf("%T, %T: invariant %s", c, p, broken)
		}
		m.watch(c, p)
	}
	return d
}

// watch keeps the oracle's books.
func (m *model) watch(c Command, p schemas.Payload) {
	switch p := p.(type) {
	case schemas.GateApproved:
		m.tally.approvals++
		m.approves(c, p)
	case schemas.GateDrifted:
		m.tally.drifts++
	case schemas.PlanExtended:
		m.extends(c, p)
	case schemas.ToolFinished:
		for _, f := range p.Files {
			building := m.state.Phase() == PhaseImplementation || m.state.Phase() == PhaseVerification
			if m.written = m.written || m.state.Phase() == PhaseImplementation; building && needsTests(f.Path) && !p.Failed {
				m.reddens()
			}
		}
	case schemas.PlanReopened:
		m.aside, m.approved = m.approved, map[string]map[string]string{}
		m.asideOwn = maps.Clone(m.own)
	case schemas.PlanResumed:
		m.reddens()
		if c, is := c.(SubmitPrompt); !is || c.Origin != OriginUser && c.Origin != "" || m.least != "" && m.least != AssurancePrompt {
			m.t.Fatalf("%+v went back to the plan", c)
		}
		m.approved, m.aside = m.aside, nil
		m.own = m.asideOwn // what was left under the plan, whatever ended later
	case schemas.GatesClosed:
		m.tally.closed++
		m.approved, m.parked, m.aside, m.open, m.own = map[string]map[string]string{}, nil, nil, nil, map[string]string{}
		if m.mode = m.state.Mode; m.mode == ModeConversation || m.mode == ModeDebug || m.state.Closed == "" {
			m.t.Fatalf("still in mode %q, closed for %q", m.mode, m.state.Closed)
		}
	case schemas.GateInvalidated:
		m.tally.invalidations++
		m.closes(p.Gate)
		if m.state.Approved(p.Gate) {
			m.t.Fatalf("%s is still open after its invalidation", p.Gate)
		}
	case schemas.ModeChanged:
		if _, prompted := c.(SubmitPrompt); prompted && m.mode == ModeWork && p.To != ModeWork && m.least != "" && m.least != AssurancePrompt {
			m.t.Fatalf("a prompt left work mode, where %q is asked for", m.least)
		}
		switch {
		case m.mode == ModeWork && p.To != ModeWork:
			m.parked, m.approved = m.approved, map[string]map[string]string{}
		case p.To == ModeWork && m.mode != ModeWork && m.parked != nil:
			m.approved, m.parked = m.parked, nil
			m.reddens()
		case p.To == ModeWork:
			m.approved, m.parked = map[string]map[string]string{}, nil
			m.own = map[string]string{}
		}
		m.mode = p.To
	}
}

func (m *model) approves(c Command, p schemas.GateApproved) {
	var act, origin string
	switch c := c.(type) {
	case SubmitPrompt:
		act, origin = c.ActID, c.Origin
	case ApproveGate:
		act, origin = c.ActID, OriginUser
		if c.Channel == ChannelPasskey && c.Unproven != "" {
			m.t.Fatalf("a signature that does not count approved the %s", p.Gate)
		}
	default:
		m.t.Fatalf("%T approved the %s", c, p.Gate)
	}
	if origin != OriginUser && origin != "" {
		m.t.Fatalf("a prompt from %q approved the %s", origin, p.Gate)
	}
	if !slices.Contains(modelOpens[m.least], p.Channel) {
		m.t.Fatalf("%s approved the %s, where %q is asked for", p.Channel, p.Gate, m.least)
	}
	if m.least == AssurancePasskey {
		m.tally.strict++
	}
	if m.acts[act] {
		m.t.Fatalf("the act %s approved twice", act)
	}
	m.acts[act] = true
	if p.Gate == GatePlan {
		m.aside, m.added = nil, map[string]bool{}
		m.written, m.seen, m.red = false, map[string]map[string]string{}, map[string]bool{}
	}
	m.approvesSeen(p)
	m.approved[p.Gate] = map[string]string{}
	for _, f := range p.Files {
		now, exists := m.files[f.Path]
		if exists && Hash([]byte(now)) != f.SHA256 || !exists && f.SHA256 != "" {
			m.t.Fatalf("%s was approved with a content that does not stand there", f.Path)
		}
		m.approved[p.Gate][f.Path] = now
	}
	if p.Gate == GateTests {
		m.own = map[string]string{}
	}
}

// extends wants an answer of the user behind every file that is let in.
func (m *model) extends(c Command, p schemas.PlanExtended) {
	for _, f := range p.Files {
		switch c := c.(type) {
		case SubmitPrompt:
			if c.Origin != OriginUser && c.Origin != "" || m.least != "" && m.least != AssurancePrompt {
				m.t.Fatalf("a prompt from %q let %s in, where %q is asked for", c.Origin, f, m.least)
			}
		case FinishTool:
			if m.asked[c.ToolUseID] != f || c.Failed {
				m.t.Fatalf("%s was let in without an answer", f)
			}
		default:
			m.t.Fatalf("%T let %s in", c, f)
		}
		m.added[f] = true
		m.tally.added++
	}
}

func (m *model) closes(gate string) {
	m.aside = nil
	for _, gates := range []map[string]map[string]string{m.approved, m.parked} {
		if gates == nil {
			continue
		}
		delete(gates, gate)
		if gate == GatePlan {
			clear(gates)
		}
	}
}

// live reports whether the user's approval of a gate stands, for what stands in
// the project.
func (m *model) live(gate string) bool {
	files, ok := m.approved[gate]
	if !ok {
		return false
	}
	for name, content := range files {
		now, exists := m.files[name]
		if exists && now == content {
			continue
		}
		if gate == GateTests && m.ownState(name, now, exists) {
			continue
		}
		return false
	}
	return true
}

// ownState reports whether a test stands as this session's own writes left it,
// or may leave it.
func (m *model) ownState(name, now string, exists bool) bool {
	if left, ok := m.own[name]; ok && exists && left == now {
		return true
	}
	return slices.ContainsFunc(m.open, func(r RequestTool) bool {
		return r.Shell != nil && r.Shell.Effect == EffectCannotTell || slices.Contains(m.writes[r.ToolUseID], name)
	})
}

// approvesSeen wants tests to be approved that were not seen to pass, or to fail
// by a fault of their own, unless something was written before; and the end of the
// work only once all passes that was red.
func (m *model) approvesSeen(p schemas.GateApproved) {
	for _, f := range p.Files {
		switch verdict := m.seen[f.Path][m.files[f.Path]]; {
		case p.Gate == GateImplementation && m.red[f.Path]:
			m.t.Fatalf("the implementation was approved, and %s was red before", f.Path)
		case p.Gate == GateTests && m.state.Work.Phase == PhaseImplementation && m.fresh && len(m.seen[f.Path]) > 0 && verdict == "":
			m.t.Fatalf("%s was approved with another content than that which ran", f.Path)
		case p.Gate == GateTests && m.fresh && (verdict == schemas.SeenPasses || verdict == schemas.SeenBroken):
			m.t.Fatalf("%s was approved, and running it showed: %s", f.Path, verdict)
		case p.Gate == GateTests:
			m.tally.red += map[string]int{schemas.SeenRed: 1}[verdict]
			if still, known := m.red[f.Path]; verdict == schemas.SeenRed {
				m.red[f.Path] = still || !known
			} else {
				delete(m.red, f.Path)
			}
		}
	}
}

// reddens notes that code changed since the tests passed.
func (m *model) reddens() {
	for name := range m.red {
		m.red[name] = true
	}
}

// sees runs the tests, as they stand or as they stood before.
func (m *model) sees() {
	verdict := pick(m, []string{schemas.SeenRed, schemas.SeenRed, schemas.SeenPasses, schemas.SeenBroken, schemas.SeenNotRun})
	content := m.files[testFile]
	if m.intn(4) == 0 {
		content = pick(m, modelContents)
	}
	w := m.workspace()
	r := schemas.TestFileResult{Path: testFile, SHA256: Hash([]byte(content)), Support: SupportOf(w)}
	switch verdict {
	case schemas.SeenRed:
		r.Failed = []schemas.TestFailure{{Name: "t", Cause: schemas.FailAssertion, Line: "no"}}
	case schemas.SeenPasses:
		r.Passed = 1
	case schemas.SeenBroken:
		r.Failed = []schemas.TestFailure{{Name: "t", Cause: schemas.FailFault, Line: "typo"}}
	default:
		r.NotRun = "no runner"
	}
	before := m.state.Work.Seen[testFile].Verdict
	if d := m.do(seeTests{Files: []schemas.TestFileResult{r}, Workspace: w}); len(d.Record) == 0 {
		return
	}
	switch _, red := m.red[testFile]; {
	case content != m.files[testFile]:
		m.t.Fatal("a run of what does not stand there counts")
	case m.state.Phase() == PhaseTesting:
		m.seen[testFile] = map[string]string{content: verdict}
	case m.state.Work.Seen[testFile].Verdict != before:
		m.t.Fatalf("a run in %s changed what was seen before from %q", m.state.Phase(), before)
	case red && m.state.Phase() != PhasePlanning:
		m.red[testFile] = verdict != schemas.SeenPasses
	}
}

func (m *model) workspace() Workspace {
	x := session{state: m.state, files: m.files}
	w := x.workspace()
	w.Runs = map[string]string{testFile: ""}
	return w
}

func (m *model) step() {
	switch m.intn(12) {
	case 0, 1, 2, 3:
		m.write(nil)
	case 4:
		m.prompt()
	case 5:
		m.shell()
	case 6:
		m.finish()
	case 7:
		m.outside()
	case 8:
		m.along()
	case 9:
		m.other()
	case 10:
		m.user()
	case 11:
		m.write(&schemas.SessionStarted{})
	}
}

// write lets the agent, or a sub-agent with a session of its own, ask for a
// write of one file.
func (m *model) write(sub *schemas.SessionStarted) {
	name, content := pick(m, modelPaths), pick(m, modelContents)
	target := Classify(caseLayout, Resolve(name, "/p", caseLayout.Home, nil))
	if m.intn(4) > 0 {
		target.Result = Hash([]byte(content))
	}
	req := RequestTool{Tool: "Write", ToolUseID: fmt.Sprintf("use-%d", m.clock), Targets: []schemas.Target{target}, Workspace: m.workspace(), Settings: m.settings()}
	if sub != nil {
		m.subagent(req)
		return
	}
	live := m.mode != ModeWork || m.live(GatePlan) && m.live(GateTests)
	restores := m.approved[GatePlan][name] == content || m.approved[GateTests][name] == content || m.own[name] == content
	d := m.do(req)
	m.checkWrite(d, target, live, restores)
	yes := d.Verdict == Ask && m.intn(2) == 0
	if yes && target.Class == ClassCode && live {
		m.asked[req.ToolUseID] = name
	}
	if (d.Verdict == Allow || yes) && target.Class != ClassScratch {
		m.open = append(m.open, req)
		m.writes[req.ToolUseID] = []string{name, content}
		if m.intn(3) > 0 {
			m.finish()
		}
	}
}

func (m *model) checkWrite(d Decision, target schemas.Target, live, restores bool) {
	switch {
	case target.Class == ClassProtected && d.Verdict != Deny:
		m.t.Fatalf("%s: %s", target.Path, d.Verdict)
	case target.Class == ClassCode && d.Verdict == Allow && !live && !restores:
		m.t.Fatalf("in mode %q a write of %s was allowed without two live approvals: %s\napproved %v\nfiles %v\nown %v", m.mode, target.Rel, encode(m.t, m.state), m.approved, m.files, m.own)
	case target.Class == ClassCode && m.mode == ModeWork && d.Verdict == Allow && !restores && target.Rel != codeFile && !m.added[target.Rel]:
		m.t.Fatalf("%s was allowed, which the plan does not name and nobody let in: %s", target.Rel, encode(m.t, m.state))
	case target.Class == ClassCode && m.mode == ModeWork && d.Verdict == Allow:
		m.tally.codeAllowed++
	case target.Class == ClassCode && m.mode == ModeWork:
		m.tally.codeRefused++
	}
}

// subagent asks in the place of a sub-agent, whose own log is not kept here.
func (m *model) subagent(req RequestTool) {
	parent := m.state
	req.Actor = Actor{Agent: "a1", Parent: &parent}
	own := Evolve(State{}, schemas.Event{Data: schemas.SessionStarted{Host: "claude", Project: "/p", Parent: "s"}})
	d, err := Decide(own, req)
	if err != nil {
		m.t.Fatal(err)
	}
	exempt := m.state.Orchestrator || req.Settings.Subagents == SubagentsExempt
	t := req.Targets[0]
	if !exempt && t.Class == ClassCode && d.Verdict == Allow && m.mode == ModeWork && !(m.live(GatePlan) && m.live(GateTests)) {
		m.t.Fatalf("a sub-agent was allowed to write %s without two live approvals", t.Rel)
	}
	if t.Class == ClassProtected && d.Verdict != Deny {
		m.t.Fatalf("a sub-agent: %s: %s", t.Path, d.Verdict)
	}
}

func (m *model) settings() Settings {
	s := m.person()
	s.DenyToAsk = m.intn(4) == 0
	s.Subagents = pick(m, []string{"", "", SubagentsExempt, SubagentsInherit})
	return s
}

// person are the settings under which the user acts.
func (m *model) person() Settings {
	s := DefaultSettings()
	s.Approval = m.least
	return s
}

// signed is an approval by a passkey, some of which do not count.
func (m *model) signed(c ApproveGate) ApproveGate {
	if c.Channel == ChannelPasskey && m.intn(6) == 0 {
		c.Unproven = "the signature is of something else"
	}
	return c
}

func (m *model) prompt() {
	text := pick(m, modelPrompts)
	c := SubmitPrompt{Prompt: text, ActID: fmt.Sprintf("act-%d", m.intn(60)+m.clock/30), Origin: pick(m, modelOrigins), Workspace: m.workspace(), Settings: m.person()}
	if text[0] == '/' && m.intn(2) == 0 {
		c.Command, c.Arguments = splitCommand(text)
	}
	if text[0] != '/' || text != m.said { // else it may be the one before, reported once more
		m.ages()
	}
	m.said = text
	if d := m.do(c); d.Verdict != Allow {
		m.t.Fatalf("a prompt was refused: %+v", d)
	}
}

// ages lets go of the tools that were under way before the last prompt or end of a
// turn, and of all where the host tells of no turn's end: what is typed while a tool
// works ends it not.
func (m *model) ages() {
	kept := []RequestTool{}
	for _, r := range m.open {
		if m.stops && !m.aged[r.ToolUseID] {
			m.aged[r.ToolUseID] = true
			kept = append(kept, r)
		}
	}
	m.open = kept
}

func splitCommand(text string) (command, args string) {
	for i := range text {
		if text[i] == ' ' {
			return text[1:i], text[i+1:]
		}
	}
	return text[1:], ""
}

func (m *model) shell() {
	c := Inspect(caseLayout, "/p", pick(m, modelShell), nil, nil)
	req := RequestTool{Tool: "Bash", ToolUseID: fmt.Sprintf("use-%d", m.clock), Shell: c, Workspace: m.workspace(), Settings: m.settings()}
	live := m.mode != ModeWork || m.live(GatePlan) && m.live(GateTests)
	d := m.do(req)
	code := c.Effect == EffectCannotTell || slices.ContainsFunc(c.Targets, func(t schemas.Target) bool { return t.Class == ClassCode })
	if code && !live && d.Verdict == Allow {
		m.t.Fatalf("%q was allowed without two live approvals: %s\n%v\n%v\n%v", c.Text, encode(m.t, m.state), m.approved, m.files, m.own)
	}
	if d.Verdict == Allow && (len(c.Targets) > 0 || c.Effect == EffectCannotTell) {
		m.open = append(m.open, req)
		m.writes[req.ToolUseID] = nil
		for _, t := range c.Targets {
			m.writes[req.ToolUseID] = append(m.writes[req.ToolUseID], t.Rel)
		}
	}
}

// finish lets the oldest open tool do its work and report.
func (m *model) finish() {
	if len(m.open) == 0 {
		return
	}
	req := m.open[0]
	m.open = m.open[1:]
	f := schemas.ToolFinished{Tool: req.Tool, ToolUseID: req.ToolUseID}
	if what := m.writes[req.ToolUseID]; req.Shell == nil {
		name, content := what[0], what[1]
		decided := req.Targets[0]
		if decided.Result == "" || m.intn(20) > 0 { // a few fail and report so
			m.files[name] = content
		} else {
			f.Failed = true
		}
		if decided.Class == ClassTest && !f.Failed && m.mode == ModeWork && m.pendingPhase(req.ToolUseID) == PhaseImplementation {
			if now, ok := m.files[name]; ok {
				m.own[name] = now
			}
		}
		state := schemas.FileState{Path: name}
		if now, ok := m.files[name]; ok {
			state = fileState(name, []byte(now))
		}
		f.Files = append(f.Files, state)
	}
	m.do(FinishTool{ToolFinished: f, Workspace: m.workspace()})
}

func (m *model) pendingPhase(id string) string {
	for _, p := range m.state.Pending {
		if p.ID == id {
			return p.Phase
		}
	}
	return ""
}

// outside changes a file behind the session's back, or puts it back.
func (m *model) outside() {
	name := pick(m, []string{PlanFile, testFile, codeFile})
	gate := GatePlan
	if name == testFile {
		gate = GateTests
	}
	content, approved := m.approved[gate][name]
	switch {
	case approved && m.intn(3) > 0:
		m.files[name] = content
	case m.intn(4) == 0:
		delete(m.files, name)
	case m.intn(3) == 0:
		m.files[name] = pick(m, modelContents)
	}
}

// along does what a cooperative agent and user would do next, so that the later
// phases are reached often.
func (m *model) along() {
	if m.mode != ModeWork {
		m.do(SetMode{Mode: ModeWork, ByUser: true, Orchestrator: m.intn(3) == 0})
		return
	}
	gate := m.state.Waiting(m.workspace())
	name, content := PlanFile, pick(m, []string{goodPlan, otherPlan})
	if gate == GateTests {
		name, content = testFile, pick(m, []string{goodTest, otherTest})
	}
	if gate == GateImplementation {
		m.sees()
	}
	if gate == GatePlan || gate == GateTests {
		req := RequestTool{Tool: "Write", ToolUseID: fmt.Sprintf("use-%d", m.clock), Targets: []schemas.Target{Classify(caseLayout, "/p/"+name)}, Workspace: m.workspace(), Settings: DefaultSettings()}
		if d := m.do(req); d.Verdict == Allow {
			m.open = append(m.open, req)
			m.writes[req.ToolUseID] = []string{name, content}
			for len(m.open) > 0 {
				m.finish()
			}
		}
		if gate == GateTests {
			m.sees()
		}
		w := m.workspace()
		m.do(m.signed(ApproveGate{
			Gate: gate, Channel: pick(m, []string{ChannelTerminal, ChannelDashboard, ChannelPasskey, ChannelPasskey, ChannelPasskey}), ActID: fmt.Sprintf("along-%d", m.clock),
			Fingerprint: m.state.Offer(gate, w).Fingerprint, Workspace: w, Settings: m.person(),
		}))
	}
}

func (m *model) other() {
	switch m.intn(10) {
	case 9:
		m.sees()
	case 8:
		m.stops = true
		if d := m.do(EndTurn{Settings: DefaultSettings()}); d.Verdict != Deny {
			m.ages()
		}
	case 0:
		m.do(AdvancePhase{Gate: pick(m, []string{"", GatePlan, GateTests}), Workspace: m.workspace()})
	case 1:
		m.do(Compact{schemas.ContextCompacted{Stage: pick(m, []string{"before", "after"})}})
	case 2:
		m.do(StartSubagent{schemas.SubagentStarted{AgentID: "a1"}})
	case 3:
		m.do(StopSubagent{schemas.SubagentStopped{AgentID: "a1"}})
	case 4:
		m.do(ShowRules{schemas.RulesShown{Rules: []schemas.ShownRule{{ID: "GO-A-1"}}, Trigger: "prompt", Tokens: 10}})
	case 5:
		m.do(Observe{schemas.HookObserved{Host: "claude", Hook: "Notification"}})
	case 6:
		before := m.mode
		m.do(SetMode{Mode: pick(m, []string{ModeConversation, ModeDebug, ModeReview}), Orchestrator: m.intn(2) == 0})
		if before == ModeWork && m.mode != ModeWork {
			m.t.Fatal("an agent left work mode")
		}
	case 7:
		m.do(StartSession{schemas.SessionStarted{Host: "claude", Project: "/p", Source: pick(m, []string{"resume", "clear", "compact"})}})
	}
}

func (m *model) user() {
	switch m.intn(7) {
	case 6:
		m.do(CloseGates{Reason: "a record is missing"})
	case 5:
		m.least = pick(m, []string{"", AssurancePrompt, AssuranceTerminal, AssurancePasskey, AssurancePasskey, "of another world"})
	case 0:
		m.do(InvalidateGate{Gate: pick(m, []string{GatePlan, GateTests, GateImplementation}), Reason: "not good", Rule: pick(m, []string{"", "GO-A-1", "GO-A-2"})})
	case 1:
		m.do(ReopenPhase{Reason: "a fault"})
	case 2:
		m.do(SetMode{Mode: pick(m, []string{ModeConversation, ModeReview}), ByUser: true})
	case 3:
		m.do(ApproveGate{Gate: GateImplementation, Channel: pick(m, []string{ChannelTerminal, ChannelPasskey}), ActID: fmt.Sprintf("user-%d", m.clock), Fingerprint: m.state.Offer(GateImplementation, m.workspace()).Fingerprint, Workspace: m.workspace(), Settings: m.person()})
	case 4:
		m.do(ApproveGate{Channel: ChannelDashboard, ActID: fmt.Sprintf("user-%d", m.clock), Fingerprint: "seen before", Workspace: m.workspace()})
	}
}

// replay folds the log anew, from the encoded messages, and wants the same
// state, byte by byte.
func (m *model) replay() {
	var s State
	for _, message := range m.log {
		events, err := schemas.Decode(message)
		if err != nil {
			m.t.Fatal(err)
		}
		for _, e := range events {
			s = Evolve(s, e)
		}
	}
	live, replayed := encode(m.t, m.state), encode(m.t, s)
	if live != replayed {
		m.t.Fatalf("the live state and its replay differ:\n%s\n%s", live, replayed)
	}
	var stored State
	if err := json.Unmarshal([]byte(live), &stored); err != nil {
		m.t.Fatal(err)
	}
	if again := encode(m.t, stored); again != live {
		m.t.Fatalf("a state changes by being stored:\n%s\n%s", live, again)
	}
}

// lose folds the log without some of its records, closes the gates for it, and
// wants nothing to pass until the user opens it again: whatever the records were.
func (m *model) lose() {
	first := m.intn(len(m.log))
	last := min(first+pick(m, []int{0, 0, 1, 5}), len(m.log)-1)
	var s State
	fold := func(message schemas.Message) {
		events, err := schemas.Decode(message)
		if err != nil {
			m.t.Fatal(err)
		}
		for _, e := range events {
			s = Evolve(s, e)
		}
	}
	for i, message := range m.log {
		if i < first || i > last {
			fold(message)
		}
	}
	d, err := Decide(s, CloseGates{Reason: "a record is missing"})
	if err != nil || d.Verdict != Allow {
		m.t.Fatalf("%+v %v", d, err)
	}
	for _, p := range d.Record {
		s = Evolve(s, schemas.Event{Data: p})
	}
	if again, _ := Decide(s, CloseGates{Reason: "a record is missing"}); len(again.Record) > 0 {
		m.t.Fatalf("there is still something to close: %s", encode(m.t, s))
	}
	after := session{state: s, files: m.files}
	w := after.workspace()
	for range 3 {
		target := Classify(caseLayout, Resolve(codeFile, "/p", caseLayout.Home, nil))
		if d, err = Decide(s, RequestTool{Tool: "Write", ToolUseID: "after", Targets: []schemas.Target{target}, Workspace: w, Settings: DefaultSettings()}); err != nil || d.Verdict != Deny {
			m.t.Fatalf("after records %d to %d were lost a write of code has the answer %s: %s", first, last, d.Verdict, encode(m.t, s))
		}
		if s.Closed != "" && !strings.Contains(d.Reason, s.Closed) && s.Mode != ModeReview {
			m.t.Fatalf("the refusal does not say why: %s", d.Reason)
		}
		c := pick(m, []Command{
			SubmitPrompt{Prompt: "yes", ActID: "after", Origin: OriginUser, Workspace: w, Settings: DefaultSettings()},
			SubmitPrompt{Prompt: "continue with the plan", ActID: "after", Origin: OriginUser, Workspace: w, Settings: DefaultSettings()},
			SetMode{Mode: ModeWork},
			SetMode{Mode: ModeConversation},
			AdvancePhase{Workspace: w},
			StartSession{schemas.SessionStarted{Host: "claude", Project: "/p", Source: "resume"}},
		})
		if d, err = Decide(s, c); err != nil {
			m.t.Fatal(err)
		}
		for _, p := range d.Record {
			s = Evolve(s, schemas.Event{Data: p})
		}
	}
}

func encode(t interface{ Fatal(...any) }, s State) string {
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Evolve takes events in any order and shape, and never changes the state it
// was given.
func TestEvolveTakesAnything(t *testing.T) {
	payloads := []schemas.Payload{
		nil,
		schemas.SessionStarted{},
		schemas.SessionStarted{Host: "claude", Mode: ModeWork},
		schemas.SessionEnded{},
		schemas.PromptSubmitted{},
		schemas.PromptSubmitted{Prompt: "/writ-approve"},
		schemas.RulesShown{Rules: []schemas.ShownRule{{}, {ID: "X"}}},
		schemas.ToolDecided{},
		schemas.ToolDecided{Verdict: "allow", Targets: []schemas.Target{{Class: ClassTest, Rel: testFile}}, Phase: PhaseImplementation},
		schemas.ToolDecided{Verdict: "deny", Rule: RulePlan},
		schemas.ToolDecided{Verdict: "perhaps"},
		schemas.ToolFinished{},
		schemas.ToolFinished{Files: []schemas.FileState{{Path: testFile, SHA256: "1"}, {Path: PlanFile}}, Tests: []string{"", "a"}},
		schemas.ModeChanged{},
		schemas.ModeChanged{To: ModeWork},
		schemas.ModeChanged{To: ModeWork, Restored: true},
		schemas.ModeChanged{To: "flying"},
		schemas.PhaseChanged{},
		schemas.PhaseChanged{To: PhaseVerification},
		schemas.PhaseChanged{To: "limbo"},
		schemas.GateApproved{},
		schemas.GateApproved{Gate: GatePlan, ActID: "a", NextPhase: PhaseTesting, Files: []schemas.FileState{{Path: PlanFile}}},
		schemas.GateApproved{Gate: GateTests, Files: []schemas.FileState{{Path: testFile}}},
		schemas.GateDrifted{},
		schemas.GateDrifted{Gate: GatePlan, Changes: []schemas.FileChange{{Path: PlanFile}}},
		schemas.GateInvalidated{},
		schemas.GateInvalidated{Gate: GatePlan},
		schemas.GateInvalidated{Gate: GateImplementation},
		schemas.GatesClosed{},
		schemas.GatesClosed{Reason: "records are missing"},
		schemas.PlanReopened{},
		schemas.PlanResumed{},
		schemas.ApprovalRefused{},
		schemas.ApprovalRefused{ActID: "b"},
		schemas.SubagentStarted{},
		schemas.SubagentStopped{},
		schemas.SubagentStopped{AgentID: "x"},
		schemas.ContextCompacted{},
		schemas.ContextCompacted{Stage: "before"},
		schemas.TestsSeen{},
		schemas.TestsSeen{Path: testFile, SHA256: "1", Verdict: schemas.SeenRed},
		schemas.TestsSeen{Path: testFile, Verdict: schemas.SeenPasses},
		schemas.HookObserved{},
		schemas.ObservationRecorded{},
	}
	rapid.Check(t, func(rt *rapid.T) {
		var s State
		for range 60 {
			before := encode(rt, s)
			kept := s
			s = Evolve(s, schemas.Event{Data: rapid.SampledFrom(payloads).Draw(rt, "payload")})
			if encode(rt, kept) != before {
				rt.Fatal("Evolve changed the state it was given")
			}
			if broken := brokenBy(s, false); broken != "" {
				rt.Fatalf("invariant %s", broken)
			}
			w := Workspace{}
			_ = s.Offer(s.Waiting(w), w)
			_, _, _ = s.Watched(), s.ApprovalFiles(), s.LeftFiles()
			if d, err := Decide(s, RequestTool{Tool: "Write", Targets: []schemas.Target{{Path: "/p/.git/config", Rel: ".git/config", Class: ClassProtected}}}); err != nil || d.Verdict != Deny {
				rt.Fatalf("%+v %v", d, err)
			}
		}
	})
}
