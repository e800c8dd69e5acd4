package enforcement

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/plan"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

func (c RequestTool) decide(s State) Decision {
	st := stanceOf(s, c.Actor, c.Workspace, c.Settings)
	st.edits = c.Edits
	r, target := c.judge(st)
	asked := false
	if r.verdict == Deny && !r.firm && !c.held() && !c.Unasked && c.Settings.DenyToAsk && c.Settings.becomesQuestion(r.rule) && s.streak(r.rule) >= 1 {
		r.verdict, asked = Ask, true
	}
	if r.verdict == Ask && st.under != nil {
		r, asked = st.under.unasked(r), false
	}
	r = c.unanswered(st, r)
	d := Decision{Verdict: r.verdict, Demanded: r.verdict == Allow && c.demanded(st)}
	if r.verdict != Allow {
		d.Rule, d.Gate = r.rule, r.gate
		d.Reason = c.reason(st, r, target, asked)
		if strings.HasPrefix(r.rule, "ENF-GATE-") {
			d.Reason += s.wishes()
		}
	}
	d.Record = append(d.Record, c.decided(st, d))
	if d.Verdict == Allow {
		d.Record = append(d.Record, c.brief()...)
	}
	// A sub-agent's own log holds its own gates, of which it has none.
	if c.Actor.Parent == nil {
		d.Record = append(d.Record, driftEvents(s, st.drift)...)
	}
	return d
}

// becomesQuestion reports whether a second refusal in a row may be the user's to
// decide. Where words do not open a gate, a yes in the host does not pass it by.
func (s Settings) becomesQuestion(rule string) bool {
	return strings.HasPrefix(rule, "ENF-GATE-") && rung(s.Approval) <= rung(AssuranceCommand) || rule == RuleEvidence || rule == RuleReviewOrder
}

// held reports a command that runs under the kernel's limits for the phase, also
// after a yes: what it may write no answer of the user's changes.
func (c RequestTool) held() bool { return c.Shell != nil && c.Confined && !c.Shell.Plain }

// unanswered makes a refusal of a question to which nobody answers, or of which a
// yes would change nothing. A host that asks nobody lets pass what is asked about:
// while code may not be written unasked, that would be its approval.
func (c RequestTool) unanswered(st stance, r ruling) ruling {
	switch {
	case r.verdict != Ask:
	case r.rule == RuleOutside && c.held():
		r.verdict, r.text.next = Deny, "Commands write nothing there, whatever the user answers. Write the file with a tool of the host's own, or have the user run it."
	case c.Unasked && !st.exempt && st.write(schemas.Target{Class: ClassCode}).verdict != Allow:
		r.verdict, r.text.next = Deny, nobodyAsked
	}
	return r
}

// judge finds the worst ruling on what the tool would do, and its target. What
// nobody can tell of a command that runs confined, the kernel decides.
func (c RequestTool) judge(st stance) (ruling, schemas.Target) {
	worst, at := allowed, schemas.Target{}
	consider := func(r ruling, t schemas.Target) {
		if worse(r, worst) {
			worst, at = r, t
		}
	}
	for _, p := range c.private() {
		consider(ruling{rule: RuleProtected, text: textPrivate}, schemas.Target{Path: p})
	}
	if c.Shell != nil {
		consider(st.elsewhere(c.Shell.Elsewhere, c.Unasked), schemas.Target{})
	}
	for _, t := range c.targets() {
		if r := st.write(t); !r.beyond || c.Shell.brings(t) {
			consider(r, t)
		}
	}
	consider(st.queues(c.Queues, c.Settings), schemas.Target{})
	consider(exposes(c.Secrets), secretTarget(c.Secrets))
	consider(st.ordered(c.Task), schemas.Target{})
	consider(st.completes(c.Completes), schemas.Target{Path: first(c.Completes)})
	unknown := c.Code || c.mcpWriter()
	if c.Shell != nil {
		consider(st.writCalls(c.Shell.Writ, c.Settings), schemas.Target{})
		consider(st.git(c.Shell.Git, c.Repository, c.Shell.project), schemas.Target{})
		unknown = unknown || c.Shell.Effect == EffectCannotTell || c.Shell.Doubtful
	}
	if c.unproven(st.State) {
		r := st.unknownEffect()
		r.text = textUnproven(c.Unproven, c.Holds)
		consider(r, schemas.Target{})
	}
	if unknown && !(c.Shell != nil && c.Confined) {
		r := st.unknownEffect()
		if r.verdict == Ask && c.Shell != nil && c.Unbounded != "" {
			r.text.why += " Nothing bounds it: " + excerpt.Runes(c.Unbounded, 160) + "."
		}
		consider(r, schemas.Target{})
	}
	if c.Plan != nil {
		consider(c.presents(st), schemas.Target{Path: PlanFile, Rel: PlanFile})
	}
	if worst.beyond {
		worst.text = textBeyond(st.Work.beyond(c.targets()))
	}
	return worst, at
}

func (c RequestTool) targets() []schemas.Target {
	if c.Shell == nil {
		return c.Targets
	}
	return append(slices.Clone(c.Targets), c.Shell.Targets...)
}

func (c RequestTool) private() []string {
	if c.Shell == nil {
		return c.Private
	}
	return append(slices.Clone(c.Private), c.Shell.Private...)
}

// mcpWriter reports whether the project declared the tool a writer of unknown
// effect. One that names its targets is judged by them.
func (c RequestTool) mcpWriter() bool {
	return len(c.Targets) == 0 && slices.ContainsFunc(c.Settings.MCPWriters, func(pattern string) bool {
		if ok, err := path.Match(pattern, c.Tool); ok || err != nil && pattern == c.Tool {
			return true
		}
		// Some hosts name a server's tool without the server.
		tool, bare := strings.CutPrefix(c.Tool, "MCP:")
		own := pattern[strings.LastIndex(pattern, "__")+1:]
		ok, _ := path.Match(strings.TrimPrefix(own, "_"), tool)
		return bare && ok
	})
}

// unproven reports whether a tool of a server is not known to do no more than
// read, nor let in by the user.
func (c RequestTool) unproven(s State) bool {
	return c.Unproven != "" && !(c.Holds != "" && (c.Accepted || slices.Contains(s.Accepted, c.Holds)))
}

// accepts is the user's yes to a tool of a server, which shows itself by the tool
// having run; nil where none was asked for, or where it holds for the call alone.
func (c FinishTool) accepts(s State) *schemas.ToolAccepted {
	_, w := s.take(c.ToolFinished)
	if w.ID == "" || w.Allowed || !w.Open || len(w.Targets) > 0 || c.Holds == "" || c.Failed || c.Unasked || c.Actor.Parent != nil || slices.Contains(s.Accepted, c.Holds) {
		return nil
	}
	return &schemas.ToolAccepted{Tool: c.Holds, Channel: ChannelAnswer, ToolUseID: c.ToolUseID}
}

func secretTarget(secrets []Secret) schemas.Target {
	if len(secrets) == 0 {
		return schemas.Target{}
	}
	return schemas.Target{Path: secrets[0].Path, Rel: secrets[0].Path}
}

// presents judges a plan that the host would show to the user for approval: an
// invalid one need not bother them.
func (c RequestTool) presents(st stance) ruling {
	if st.exempt || st.Mode != ModeWork || st.Phase() != PhasePlanning {
		return allowed
	}
	_, problems := plan.Validate(c.Plan, st.loaded, c.Workspace.Known)
	switch {
	case len(problems) == 0:
		return allowed
	case len(bytes.TrimSpace(c.Plan)) == 0:
		return ruling{rule: RulePlan, gate: GatePlan, text: textNoPlan}
	}
	return ruling{rule: RulePlan, gate: GatePlan, text: textInvalidPlan(planProblems(problems))}
}

func (c RequestTool) reason(st stance, r ruling, t schemas.Target, asked bool) string {
	subject := t.Rel
	switch subject {
	case "":
		subject = t.Path
	case ".":
		subject = "the whole project"
	}
	if subject == "" && c.Shell != nil {
		subject = "the command"
		if r.verdict == Ask && c.Shell.Why != "" {
			subject += " (" + excerpt.Runes(c.Shell.Why, 120) + ")"
		}
	}
	subject = cmp.Or(subject, c.Tool)
	if r.rule == RulePlan && c.Shell != nil && t.Path != "" {
		r.text.next += " What a build makes may go to $TMPDIR."
	}
	r.text.next = c.Settings.approvable(r.text.next)
	text := r.text.render(r.rule, subject, r.verdict)
	if asked {
		text += " Asked because it was refused before; a yes lets this one through and approves no gate."
	}
	return text
}

// decided is the record of request and verdict together.
func (c RequestTool) decided(st stance, d Decision) schemas.ToolDecided {
	e := schemas.ToolDecided{
		Tool: c.Tool, ToolUseID: c.ToolUseID, Targets: c.targets(),
		Verdict: d.Verdict.String(), Rule: d.Rule, Gate: d.Gate, Reason: excerpt.Runes(d.Reason, MaxReason),
		Mode: st.Mode, Phase: st.Phase(), Agent: c.Actor.Agent, Digest: c.Digest, Bytes: c.Bytes,
		Releases: c.Releases,
	}
	if st.under != nil {
		e.Policy = st.under.Text
	}
	switch {
	case c.Shell != nil:
		e.Command, e.Effect = c.Shell.Text, c.Shell.Effect
	case c.Code || c.mcpWriter() || c.Unproven != "":
		e.Effect = EffectCannotTell
	}
	if d.Verdict != Deny {
		e.Queued = acting(c.Queues, c.Settings)
	}
	return e
}

// driftEvents records what became of the approved files since the last record:
// a drift, another drift, or none any more (no changes).
func driftEvents(s State, drift map[string][]schemas.FileChange) []schemas.Payload {
	var events []schemas.Payload
	for _, name := range watchedGates {
		if g, ok := s.Work.Gates[name]; ok && s.Mode == ModeWork && !slices.Equal(g.Drift, drift[name]) {
			// No changes is an empty list in the log, not a null.
			events = append(events, schemas.GateDrifted{Gate: name, Changes: append([]schemas.FileChange{}, drift[name]...)})
		}
	}
	return events
}

// workspace is the caller's, or where it read none, the approved files with
// what the tool reports laid over them.
func (c FinishTool) workspace(s State) Workspace {
	if c.Workspace.Files != nil {
		return c.Workspace
	}
	w := c.Workspace
	w.Files = map[string]schemas.FileState{}
	for _, gate := range watchedGates {
		for _, f := range s.Work.Gates[gate].Files {
			w.Files[f.Path] = f
		}
	}
	for _, f := range c.Files {
		w.Files[f.Path] = f
	}
	return w
}

func (c FinishTool) decide(s State) Decision {
	d := Decision{Verdict: Allow, Record: []schemas.Payload{c.ToolFinished}}
	after := Evolve(s, schemas.Event{Data: c.ToolFinished})
	if yes := c.answered(s); yes != nil {
		d.Record = append(d.Record, *yes)
	}
	if yes := c.accepts(s); yes != nil {
		d.Record = append(d.Record, *yes)
	}
	if e := c.evidence(after); e != nil {
		d.Record = append(d.Record, *e)
	}
	if c.Actor.Parent != nil {
		return d
	}
	drift := after.Drifted(c.workspace(after))
	d.Record = append(d.Record, driftEvents(after, drift)...)
	if gate := firstDrifted(drift); gate != "" {
		text := textDrift(gate, drift[gate])
		d.Context = fmt.Sprintf("%s: %s %s", RuleDrift, text.why, text.next)
	}
	return d
}
