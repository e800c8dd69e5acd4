package enforcement

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/plan"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/digest"
	"github.com/writbus/writ/schemas/excerpt"
)

// Channels by which a user's act arrives (persisted; never change).
const (
	ChannelCommand   = "command"          // a typed command that no model can invoke
	ChannelDialog    = "dialog"           // the host's own plan dialog
	ChannelPrompt    = "prompt"           // a prompt of which the host says that the user typed it
	ChannelUnsourced = "prompt_unsourced" // a prompt of which the host does not say who typed it
	ChannelDashboard = "dashboard"
	ChannelTerminal  = "terminal"
	ChannelPasskey   = "passkey" // a passkey's signature over what is approved, in the dashboard
	ChannelAnswer    = "answer"  // a yes to the host's question about a tool; it approves no gate
	ChannelAgent     = "agent"   // refused, always
)

// Offer is what stands for approval.
type Offer struct {
	Gate        string
	Files       []schemas.FileState
	Fingerprint string   // of Files
	Problems    []string // why it cannot be approved; empty: it can
	Empty       bool     // there is nothing to approve
	Changed     []string // tests that this session changed since their approval
	Seen        []SeenTests

	capabilities []string
	planned      []string
	gone         []string // of the plan's files, those that are to go
}

// lets names the files that a plan lets be written.
func (o Offer) lets() string { return listed(append(slices.Clone(o.planned), o.gone...)) }

// Hash is the SHA-256 of a content as FileState carries it.
func Hash(content []byte) string { return digest.Hex(content) }

// Fingerprint identifies a set of files with their contents, whatever their
// order.
func Fingerprint(files []schemas.FileState) string { return schemas.Fingerprint(files) }

// Waiting names the gate that waits for the user's approval, "" for none. A
// drifted gate waits before the others: nothing goes on without it.
func (s State) Waiting(w Workspace) string {
	if s.Mode != ModeWork {
		return ""
	}
	if gate := firstDrifted(s.Drifted(w)); gate != "" {
		return gate
	}
	switch {
	case !s.Approved(GatePlan):
		return GatePlan
	case !s.Approved(GateTests):
		return GateTests
	case s.Work.Phase == PhaseImplementation:
		return GateImplementation
	}
	return ""
}

// Awaits is the fingerprint of what the user may approve as it stands, "" for
// nothing.
func Awaits(s State, w Workspace) string {
	gate := s.Waiting(w)
	if gate == "" || gate == GateImplementation {
		return ""
	}
	if o := s.Offer(gate, w); len(o.Problems) == 0 && !fromBefore(s, o) {
		return o.Fingerprint
	}
	return ""
}

// fromBefore reports whether what is offered is the plan that a new wish put aside. Who
// is shown it whole, at a terminal or in the dashboard, may approve it all the same.
func fromBefore(s State, o Offer) bool {
	return o.Gate == GatePlan && s.Work.Aside != nil && slices.Equal(o.Files, s.Work.Aside.Gates[GatePlan].Files)
}

// Offer shows what an approval of the gate would approve now.
func (s State) Offer(gate string, w Workspace) Offer {
	var o Offer
	switch gate {
	case GatePlan:
		o = s.offerPlan(w)
	case GateTests:
		o = s.offerTests(w)
	case GateImplementation:
		o = s.offerImplementation(w)
	default:
		return Offer{Gate: gate, Empty: true, Problems: []string{fmt.Sprintf("there is no gate %q; the gates are plan, tests and implementation", gate)}}
	}
	if s.Mode != ModeWork {
		o.Problems = []string{"the session is not in work mode, so no gate waits"}
	}
	o.Gate, o.Fingerprint = gate, Fingerprint(o.Files)
	return o
}

func (s State) offerPlan(w Workspace) Offer {
	if w.Plan == nil {
		return Offer{Empty: true, Problems: []string{"there is no plan.md at the project root, " + s.Project}}
	}
	p, problems := plan.Validate(w.Plan, s.loaded, w.Known)
	o := Offer{Files: []schemas.FileState{fileState(PlanFile, w.Plan)}, Problems: planProblems(problems)}
	if w.PlanOf != "" && s.Draft != o.Files[0].SHA256 {
		o.Problems = append(o.Problems, fmt.Sprintf("plan.md is the plan of another session, %s; this session has to write its own", excerpt.Runes(w.PlanOf, 60)))
	}
	for _, c := range p.Capabilities {
		o.capabilities = append(o.capabilities, c.Text)
	}
	for _, f := range p.Files {
		if slices.Contains(p.Gone, f) {
			o.gone = insert(o.gone, f+"/")
		} else {
			o.planned = append(o.planned, f)
		}
	}
	return o
}

func (s State) offerTests(w Workspace) Offer {
	var o Offer
	tests := 0
	for _, name := range slices.Sorted(maps.Keys(w.Tests)) {
		o.Files = append(o.Files, fileState(name, w.Tests[name]))
		if !isTestFile(name) {
			continue
		}
		tests++
		if problem := testProblem(name, w.Tests[name]); problem != "" {
			o.Problems = append(o.Problems, problem)
			continue
		}
		o.shows(s, name, w)
	}
	if tests == 0 {
		o.Empty = true
		o.Problems = append(o.Problems, "no test file was written in this session")
	}
	if !s.Approved(GatePlan) {
		o.Problems = append(o.Problems, "the plan is not approved")
	}
	if len(s.Drifted(w)[GatePlan]) > 0 {
		o.Problems = append(o.Problems, "plan.md was changed after its approval")
	}
	return o
}

func (s State) offerImplementation(w Workspace) Offer {
	o := Offer{Empty: s.Work.Phase != PhaseImplementation}
	if o.Empty {
		o.Problems = append(o.Problems, "work is not in implementation")
	}
	for _, gate := range watchedGates {
		if !s.Approved(gate) {
			o.Problems = append(o.Problems, "no live approval of the "+gate)
		}
		for _, f := range s.Work.Gates[gate].Files {
			now := w.Files[f.Path]
			o.Files = append(o.Files, schemas.FileState{Path: f.Path, SHA256: now.SHA256, Bytes: now.Bytes})
			if now.SHA256 != f.SHA256 && gate == GateTests {
				o.Changed = append(o.Changed, f.Path)
			}
		}
	}
	if len(s.Drifted(w)) > 0 {
		o.Problems = append(o.Problems, "approved files were changed from outside")
	}
	o.Problems = append(o.Problems, s.Work.ungreen(w)...)
	return o
}

func fileState(name string, content []byte) schemas.FileState {
	return schemas.FileState{Path: name, SHA256: Hash(content), Bytes: int64(len(content))}
}

// planProblems says what is wrong with a plan; sections that are missing stand in
// one line.
func planProblems(problems []plan.Problem) []string {
	var out, missing []string
	for _, p := range problems {
		if p.Code == plan.MissingSection {
			missing = append(missing, "`## "+p.Section+"`")
		}
	}
	if len(missing) > 1 {
		out = append(out, fmt.Sprintf("%s: the sections %s and %s are missing. Add each as a level-two heading with exactly this text, with content below it.",
			PlanFile, strings.Join(missing[:len(missing)-1], ", "), missing[len(missing)-1]))
		problems = slices.DeleteFunc(slices.Clone(problems), func(p plan.Problem) bool { return p.Code == plan.MissingSection })
	}
	for _, p := range problems {
		where := PlanFile
		if p.Line > 0 {
			where = fmt.Sprintf("%s:%d", PlanFile, p.Line)
		}
		out = append(out, where+": "+p.Text)
	}
	return out
}

// loaded tells whether a rule was shown to this session.
func (s State) loaded(id string) bool {
	_, found := slices.BinarySearch(s.Shown, id)
	return found
}

// userAct is an act of the user that asks for an approval.
type userAct struct {
	id      string
	channel string
	gate    string
	least   string // the assurance that the settings ask for
	signed  *schemas.Signed
	persons []string // whose approvals count where two are needed
}

// approve opens a gate for an act of the user, or refuses and says why. Either
// way the act counts once.
func (s State) approve(a userAct, w Workspace, o Offer) Decision {
	d := Decision{Offer: &o, Gate: a.gate, Problems: o.Problems}
	waiting := s.Waiting(w)
	switch {
	case s.Acts[a.id] != "":
		d.Reason = "this act of approval was used before; approve once more to approve " + a.gate + "."
		return d
	case TooWeak(a.channel, a.least) != "":
		return tooWeak(s, d, a)
	case len(o.Problems) > 0:
	case a.gate != waiting && s.Approved(a.gate):
		d.Problems = []string{"the " + a.gate + " is approved already"}
	case a.gate != waiting:
		d.Problems = []string{"the " + waiting + " has to be approved first"}
	}
	if len(d.Problems) > 0 {
		return s.refuse(d, a)
	}
	var with []schemas.Signed
	if a.least == TwoPersons {
		alone, others, done := a.alone(s, d, o)
		if done {
			return alone
		}
		with = others
	}
	next := s.after(a.gate)
	d.Verdict, d.Gate = Allow, ""
	d.Record = []schemas.Payload{schemas.GateApproved{
		Gate: a.gate, Fingerprint: o.Fingerprint, Files: o.Files,
		Channel: a.channel, Assurance: assurances[a.channel], ActID: a.id, NextPhase: next,
		Capabilities: o.capabilities, PlannedFiles: o.planned, Signed: a.signed, With: with,
	}}
	if len(o.gone) > 0 {
		d.Record = append(d.Record, schemas.PlanExtended{Files: o.gone, Channel: a.channel, ActID: a.id})
	}
	d.Context = approvedContext(a.gate, o, next)
	d.Notice = fmt.Sprintf("Approved: %s (%s). Phase: %s.", a.gate, shortHash(o.Fingerprint), next)
	for _, one := range o.Seen {
		d.Notice += "\n- " + one.Text
	}
	return d
}

func (s State) refuse(d Decision, a userAct) Decision {
	d.Verdict = Deny
	d.Record = []schemas.Payload{schemas.ApprovalRefused{
		Gate: a.gate, Channel: a.channel, Reason: d.Problems[0], Problems: d.Problems, ActID: a.id,
	}}
	list := strings.Join(d.Problems, "\n- ")
	d.Reason = fmt.Sprintf("The %s is not approved%s.", a.gate, because(d.Problems))
	d.Context = fmt.Sprintf("The user wanted to approve the %s, but it cannot be approved yet:\n- %s\nMend this, show it and wait for the user.", a.gate, list)
	d.Notice = fmt.Sprintf("Not approved: %s\n- %s", a.gate, list)
	return d
}

// tooWeak refuses an act of the user that is not sure enough to open a gate. There
// is nothing for the agent to mend.
func tooWeak(s State, d Decision, a userAct) Decision {
	d.Problems = []string{TooWeak(a.channel, a.least)}
	d = s.refuse(d, a)
	d.Context = fmt.Sprintf("The user wanted to approve the %s in a way that does not count here. Show what waits and stop; they approve it outside the conversation.", a.gate)
	return d
}

// sentence joins problems so that a full stop can follow.
func sentence(problems []string) string {
	return strings.TrimSuffix(strings.Join(problems, "; "), ".")
}

// because names the one problem of an act; several are listed beside its reason.
func because(problems []string) string {
	if len(problems) > 1 {
		return ""
	}
	return ": " + sentence(problems)
}

// after is the phase in which work goes on when the gate is open.
func (s State) after(gate string) string {
	open := func(g string) bool { return g == gate || s.Approved(g) }
	switch {
	case gate == GateImplementation:
		return PhaseVerification
	case !open(GatePlan):
		return PhasePlanning
	case !open(GateTests):
		return PhaseTesting
	case s.Work.Phase == PhaseVerification:
		return PhaseVerification
	}
	return PhaseImplementation
}

func approvedContext(gate string, o Offer, next string) string {
	text := fmt.Sprintf("The user approved the %s (%s). Phase: %s. %s", gate, shortHash(o.Fingerprint), next, mayWrite(next))
	if len(o.Changed) > 0 {
		text += " Tests changed since their approval, approved with it: " + strings.Join(o.Changed, ", ") + "."
	}
	return text
}

// mayWrite tells an agent what a phase is for.
func mayWrite(phase string) string {
	switch phase {
	case PhasePlanning:
		return "Write plan.md (## Files, ## Analysis, ## Rules Applied, ## Capabilities), and nothing else until the user approves it."
	case PhaseTesting:
		return "Write test files with assertions that can fail; code waits until the user approves the tests."
	case PhaseImplementation:
		return "Write the files that the plan names; another one is asked for. plan.md stays as approved. Run the tests after changes."
	case PhaseVerification:
		return "Check every capability of the plan, and write it ticked into capabilities.md; a fix in code needs implementation reopened by the user."
	}
	return ""
}

func shortHash(h string) string {
	if len(h) > 12 {
		return h[:12]
	}
	return h
}

func (c ApproveGate) decide(s State) Decision {
	gate := c.Gate
	if gate == "" {
		gate = s.Waiting(c.Workspace)
	}
	a := userAct{id: c.ActID, channel: c.Channel, gate: gate, least: c.Settings.Approval, signed: c.Signed, persons: c.Persons}
	if gate == "" {
		return s.refuse(Decision{Problems: []string{"no gate waits for an approval"}}, a)
	}
	o := s.Offer(gate, c.Workspace)
	d := Decision{Offer: &o, Gate: gate, Problems: o.Problems}
	switch {
	case s.Parent != "":
		d.Problems = []string{"a sub-agent's session has no gates of its own; approve in its parent's"}
		return s.refuse(d, a)
	case c.Agent != "":
		d.Problems = []string{"a sub-agent's dialog is not shown to the user"}
		return s.refuse(d, a)
	case c.Channel == ChannelDialog:
		if gate != GatePlan || !bytes.Equal(bytes.TrimSpace(c.Presented), bytes.TrimSpace(c.Workspace.Plan)) {
			d.Problems = []string{"the dialog showed another plan than plan.md"}
			return s.refuse(d, a)
		}
	case c.Channel == ChannelPasskey:
		if c.Unproven != "" {
			d.Problems = []string{c.Unproven}
			return s.refuse(d, a)
		}
	case c.Channel != ChannelTerminal && c.Channel != ChannelDashboard:
		d.Problems = []string{fmt.Sprintf("%q is not a way to approve; a passkey, the terminal, the dashboard and the host's plan dialog are", c.Channel)}
		return s.refuse(d, a)
	}
	switch {
	case c.Channel == ChannelDialog: // it shows the plan itself
	case c.Fingerprint == "":
		d.Verdict = Ask
		d.Reason = fmt.Sprintf("The %s (%s) waits for approval.", gate, shortHash(o.Fingerprint))
		if len(o.Problems) > 0 {
			d.Verdict = Deny
			d.Reason = fmt.Sprintf("The %s cannot be approved%s.", gate, because(o.Problems))
		}
		return d
	case c.Fingerprint != o.Fingerprint:
		d.Problems = []string{"the files changed since they were shown; look again and approve what stands there now"}
		return s.refuse(d, a)
	}
	return s.approve(a, c.Workspace, o)
}
