package enforcement

import (
	"fmt"
	"strings"

	"github.com/writbus/writ/enforcement/phrase"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// Names of Writ's slash commands, without the slash.
const (
	CommandApprove = "writ-approve"
	CommandMode    = "writ-mode"
)

// OriginUser is the host's word for a prompt that the user typed.
const OriginUser = "user"

func (c SubmitPrompt) decide(s State) Decision {
	d := c.act(s)
	d.Verdict = Allow
	if wishes := s.wishes(); wishes != "" && d.Context == "" {
		d.Context = strings.TrimSpace(wishes)
	}
	if text := textClosed(s); text != "" && d.Notice == "" {
		d.Notice = "writ: " + text + ". Approve the plan again, or choose a mode"
	}
	if s.Late && s.Failing && len(s.PendingTests) == 0 {
		d.Context = joinLines(d.Context, fmt.Sprintf("Writ: the tests of the last turn ended after it, and fail: `%s`. Mend what they found, or tell the user why they fail.\n%s", excerpt.Runes(s.Evidence.Command, 120), s.Evidence.Output))
		d.Notice = joinLines(d.Notice, "writ: the tests of the last turn fail; the agent was told.")
	}
	if c.Late && !s.repeats(c.PromptID, strings.TrimSpace(c.Prompt), c.Command != "") {
		c.PromptID = "" // who answers once more in the same turn repeats nothing
	}
	d.Record = append([]schemas.Payload{schemas.PromptSubmitted{
		Prompt: c.Prompt, PromptID: c.PromptID, Origin: c.Origin, Command: c.Command,
	}}, d.Record...)
	return d
}

// act finds the user's act in a prompt and does it. The prompt itself always
// goes through.
func (c SubmitPrompt) act(s State) Decision {
	if s.Parent != "" || s.Acts[c.ActID] != "" {
		return Decision{}
	}
	expanded := c.Expands && c.Command != "" && !s.LastPrompt.Command
	if !expanded && s.repeats(c.PromptID, strings.TrimSpace(c.Prompt), c.Command != "") {
		return Decision{}
	}
	if c.Late {
		c.ActID += ":late"
	}
	name, args := c.slash()
	if c.Expands && c.Command == "" && (name == CommandMode || name == CommandApprove) {
		return Decision{}
	}
	switch name {
	case CommandMode:
		return c.mode(s, args)
	case CommandApprove:
		return c.command(s, args)
	}
	if c.Command != "" || foreignCommand.MatchString(strings.TrimSpace(c.Prompt)) {
		return Decision{}
	}
	return c.wording(s)
}

// slash is the slash command of a prompt and its arguments, "" where it is none.
func (c SubmitPrompt) slash() (name string, args []string) {
	if c.Command != "" {
		return ownName(c.Command), strings.Fields(c.Arguments)
	}
	words := strings.Fields(c.Prompt)
	if len(words) == 0 || !strings.HasPrefix(words[0], "/") {
		return "", nil
	}
	return ownName(words[0]), words[1:]
}

// pluginPrefix begins the commands of Writ's plugin. Those of another plugin are
// not Writ's, whatever they are called.
const pluginPrefix = "writ:"

func ownName(command string) string {
	command = strings.ToLower(strings.TrimPrefix(command, "/"))
	return strings.TrimPrefix(command, pluginPrefix)
}

// foreignCommand begins a prompt that is a command of the host or of somebody
// else: what follows is its arguments.
var foreignCommand = lazyregexp.New(`^/[A-Za-z][\w:.-]*(?:\s|$)`)

// channel is the way by which the prompt came, and why it cannot be the user's
// act, if it cannot.
func (c SubmitPrompt) channel(s State) (channel, refusal string) {
	switch {
	case c.Handed, HandedIn(s, c.Prompt):
		return ChannelPrompt, "an agent's tool handed in the same text before"
	case c.Unread:
		return ChannelPrompt, "what agents' tools handed in before cannot be read at this moment: answer once more, or run `writ approve` at a terminal"
	case c.Late:
		return ChannelPrompt, "it was read after its hook had stopped waiting, when the user had been told that nobody saw it: answer once more"
	case c.Agent != "":
		return ChannelPrompt, "the prompt is a sub-agent's, not the user's"
	case c.Origin != "" && c.Origin != OriginUser:
		return ChannelPrompt, fmt.Sprintf("the prompt came from %q, not from the user", excerpt.Runes(c.Origin, 40))
	case c.Command != "":
		return ChannelCommand, ""
	case c.Origin == OriginUser:
		return ChannelPrompt, ""
	case c.Settings.AllowUnsourcedPrompts:
		return ChannelUnsourced, ""
	}
	return ChannelUnsourced, "the host does not say who typed the prompt, and this project wants to know"
}

// command handles /writ-approve [GATE].
func (c SubmitPrompt) command(s State, args []string) Decision {
	gate := s.Waiting(c.Workspace)
	if len(args) > 0 {
		gate = strings.ToLower(args[0])
		if files := s.Work.added("add " + strings.Join(args, " ") + " to plan"); len(files) > 0 {
			return c.extend(s, files)
		}
	}
	if len(args) > 1 {
		if c.Command == "" {
			return Decision{} // it talks about the command
		}
		return Decision{Notice: "Not approved: `/writ-approve` takes one gate: plan, tests or implementation."}
	}
	if gate == "" {
		return Decision{Notice: textNothingWaits}
	}
	return c.approve(s, gate, s.Offer(gate, c.Workspace))
}

// wording handles a prompt that is an act in the user's own words.
func (c SubmitPrompt) wording(s State) Decision {
	if files := s.Work.added(c.Prompt); files != nil {
		return c.extend(s, files)
	}
	if s.Work.Aside != nil && resumption.MatchString(strings.TrimSpace(c.Prompt)) {
		return c.resume(s)
	}
	d := c.approval(s)
	if len(d.Record) == 0 && d.Notice == "" {
		d = c.wish(s)
	}
	return d
}

const textNothingWaits = "Nothing waits for an approval."

// approval handles a prompt that approves in the user's own words.
func (c SubmitPrompt) approval(s State) Decision {
	gate := s.Waiting(c.Workspace)
	if gate == "" {
		if j := judgeWording(phrase.Read(c.Prompt), GatePlan, c.Settings.Phrases); j.Approves && j.Reason == phrase.Explicit && (s.Mode == ModeWork || s.Mode == "") {
			return Decision{Notice: textNothingWaits}
		}
		return Decision{}
	}
	j := judgeWording(phrase.Read(c.Prompt), gate, c.Settings.Phrases)
	o := s.Offer(gate, c.Workspace)
	switch {
	case j.Approves && j.Reason == phrase.BareGoAhead && (!s.awaits(gate, o) || s.Work.Declined[gate] != ""):
		return Decision{}
	case j.Approves && j.Reason == phrase.BareGoAhead && !c.seen(s, gate, o):
		return Decision{Notice: textNotShown(o, c.Settings)}
	case j.Approves:
		return c.approve(s, gate, o)
	case missed(j) != "" && len(o.Problems) == 0 && gate != GateImplementation:
		plainly := c.Settings.howToApprove(gate)
		if rung(c.Settings.Approval) <= rung(AssurancePrompt) {
			plainly = "If you approve, answer `approved` and nothing else. " + plainly
		}
		return Decision{Notice: fmt.Sprintf("Not taken as an approval of the %s: %s. %s", gate, missed(j), plainly)}
	}
	return Decision{}
}

// awaits reports whether a bare go-ahead can only mean the gate: something
// valid waits, and of a drift the user was told. It never means approvals that a
// damaged log took.
func (s State) awaits(gate string, o Offer) bool {
	if len(o.Problems) > 0 || gate == GateImplementation || s.Closed != "" {
		return false
	}
	g, reapproval := s.Work.Gates[gate]
	return !reapproval || len(g.Drift) > 0
}

// seen reports whether the user was shown what waits: this session wrote it, or a
// turn ended with it. Else a bare go-ahead is about something else.
func (c SubmitPrompt) seen(s State, gate string, o Offer) bool {
	return gate != GatePlan || c.Shown == o.Fingerprint || s.Work.Drafted && s.Draft == o.Files[0].SHA256
}

// textNotShown tells of a plan that a go-ahead does not approve.
func textNotShown(o Offer, set Settings) string {
	return fmt.Sprintf("writ: plan.md stands there, and this session has neither written nor shown it, so this does not approve it. It allows writing %s. If that is what you want, approve it %s; `writ approve` shows it whole.",
		o.lets(), set.approvable(wordsForPlan))
}

func (c SubmitPrompt) approve(s State, gate string, o Offer) Decision {
	channel, refusal := c.channel(s)
	a := userAct{id: c.ActID, channel: channel, gate: gate, least: c.Settings.Approval}
	if refusal != "" {
		return s.refuse(Decision{Offer: &o, Gate: gate, Problems: []string{refusal}}, a)
	}
	if fromBefore(s, o) && TooWeak(channel, a.least) == "" {
		return s.refuse(Decision{Offer: &o, Gate: gate, Problems: []string{"plan.md is still the plan of the work before, and the wish is new: the agent has to write one for it, or the user answers `continue with the plan`"}}, a)
	}
	// Who answers has seen what stood there as a turn ended: an agent may go on, woken
	// by what it left running, while the user types. A plan that they approved elsewhere
	// since is no view of the tests.
	seen := c.Shown != "" && (gate == GatePlan || c.Shown != s.Work.Gates[GatePlan].Fingerprint)
	if waits := Awaits(s, c.Workspace); seen && c.Shown != waits && waits == o.Fingerprint && TooWeak(channel, a.least) == "" {
		return refuseUnseen(s, a, o)
	}
	return s.approve(a, c.Workspace, o)
}

// refuseUnseen refuses to approve what changed after the user was shown it.
func refuseUnseen(s State, a userAct, o Offer) Decision {
	var names []string
	for _, f := range o.Files {
		names = insert(names, f.Path)
	}
	why := fileList(names) + " changed after you were shown what waits"
	if a.gate == GatePlan {
		why += "; it now allows writing " + o.lets()
	}
	d := s.refuse(Decision{Offer: &o, Gate: a.gate, Problems: []string{why}}, a)
	d.Context = fmt.Sprintf("The user wanted to approve the %s, which changed after they were shown it. Show what stands there now and wait for their answer.", a.gate)
	d.Notice += "\nIf that is what you want, answer once more; `writ approve` shows it whole."
	return d
}

// missed tells a user why what came near an approval is none; empty if nothing did.
func missed(j phrase.Judgement) string {
	switch {
	case j.Reason == phrase.Question:
		return "it asks"
	case j.Reason == phrase.Beside && j.Left != "":
		return fmt.Sprintf("“%s” stands beside it and may change it", excerpt.Runes(j.Left, 60))
	case j.Reason == phrase.Beside:
		return "something beside it casts a doubt on it"
	case j.Reason == phrase.NamesOtherGate:
		return "it names another gate"
	case j.Reason == phrase.Quoted:
		return "it stands in what reads as a quotation or a document"
	case j.Reason == phrase.TooLong:
		return "the prompt is too long to be sure of every word of it"
	}
	return ""
}

// implementationPhrases approve the gate that the plan and the tests lie behind.
var implementationPhrases = []string{
	"implementation approved", "the implementation is approved", "approve the implementation",
	"I approve the implementation", "I approve this implementation", "the code is approved", "code approved",
}

// judgeWording asks whether a prompt approves the gate. For the implementation
// it must name it, or approve without naming anything; a bare go-ahead is what
// people say all the time while code is being written.
func judgeWording(prompt phrase.Reading, gate string, phrases phrase.Phrases) phrase.Judgement {
	if gate != GateImplementation {
		return prompt.Judge(phrase.Gate(gate), phrases)
	}
	asPlan := prompt.Judge(phrase.Plan, phrases)
	asTests := prompt.Judge(phrase.Tests, phrases)
	if asPlan.Approves || asTests.Approves {
		asPlan.Approves = asPlan.Approves && asTests.Approves && asPlan.Reason == phrase.Explicit
		return asPlan
	}
	return prompt.Judge(phrase.Tests, phrase.Phrases{Approve: implementationPhrases})
}

// mode handles /writ-mode MODE [--orchestrator] [--repro PATH…].
func (c SubmitPrompt) mode(s State, args []string) Decision {
	set := SetMode{ByUser: true, Settings: c.Settings}
	if len(args) == 0 {
		return Decision{Notice: fmt.Sprintf("writ: %s. Another one is `/writ-mode work`, small, debug, review or conversation.", inMode(s))}
	}
	set.Mode = strings.ToLower(args[0])
	for i, a := range args[1:] {
		switch {
		case a == "--orchestrator":
			set.Orchestrator = true
		case a == "--repro":
			set.Repro = args[i+2:]
		}
	}
	channel, refusal := c.channel(s)
	if refusal != "" {
		return s.refuse(Decision{Problems: []string{refusal}}, userAct{id: c.ActID, channel: channel, gate: "mode"})
	}
	if weak := TooWeakToLoosen(channel, c.Settings.Approval); weak != "" && set.refusal(s) != "" {
		return s.refuse(Decision{Problems: []string{weak + ": `writ mode set " + excerpt.Runes(set.Mode, 20) + "`"}}, userAct{id: c.ActID, channel: channel, gate: "mode"})
	}
	d := set.decide(s)
	if d.Verdict != Allow {
		d.Notice = "writ: " + d.Reason
		return d
	}
	d.Notice = fmt.Sprintf("writ: %s.", inMode(Evolve(s, schemas.Event{Data: d.Record[0]})))
	return d
}
