package daemon

import (
	"context"
	"path/filepath"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/schemas"
)

func (d *Daemon) onBeforeTool(ctx context.Context, t turn) (host.Answer, error) {
	completes := d.done.fresh(t)
	if t.gateless() && len(completes) == 0 && t.Task == nil {
		return d.onRead(ctx, t)
	}
	session, parent, err := d.actor(ctx, t)
	if err != nil {
		return host.Answer{}, err
	}
	var about prompted
	var confinedAs string
	untold := false
	decision, _, err := d.sessions.act(ctx, session, t.meta(t.agent()), func(s enforcement.State) (enforcement.Decision, error) {
		request := d.request(ctx, t, s, parent)
		request.Completes = completes
		if t.Task != nil {
			request.Task = &enforcement.Task{Type: t.Task.Type, Title: t.Task.Title, Prompt: t.Task.Prompt}
		}
		untold = request.Shell != nil && request.Shell.Effect == enforcement.EffectCannotTell
		decision, err := enforcement.Decide(s, request)
		if confinedAs = ""; err == nil && d.confines(t, request.Shell, decision.Verdict) {
			confinedAs = d.confined.rewrite(t, d.layout.Root, s, parent != nil)
		}
		if err != nil || decision.Verdict != enforcement.Allow || !host.TellsBeforeTools(t.Host) {
			return decision, err
		}
		about = d.rulesForFile(ctx, t, s, request.Targets)
		return d.withShown(s, decision, "file", about.rules, about.tokens)
	})
	if err != nil {
		return host.Answer{}, err
	}
	var earlier enforcement.Decision
	if t.Shell != nil {
		if earlier, err = d.sinceEnded(ctx, t, session, parent); err != nil {
			return host.Answer{}, err
		}
	}
	if untold && decision.Verdict != enforcement.Deny {
		d.trees.before(t)
	}
	if t.Shell != nil && decision.Verdict != enforcement.Deny {
		d.keepBefore(t, t.touched(nil))
	}
	if decision.Verdict == enforcement.Allow {
		d.done.keep(t)
		d.tasks.keep(t)
	}
	return host.Answer{
		Verdict: verdict(decision.Verdict), Reason: decision.Reason,
		Context: join(earlier.Context, decision.Context, about.block), Notice: join(earlier.Notice, decision.Notice), Command: confinedAs,
	}, nil
}

// gateless says that a tool neither writes nor runs anything that a gate is
// about, and reads nothing of Writ's own: it is recorded and passes.
func (t turn) gateless() bool { return len(t.private()) == 0 && t.Harmless() }

// private lists what a tool would read of Writ's own data.
func (t turn) private() []string {
	var paths []string
	for _, p := range t.Reads {
		if at := t.project.target(p, t.Dir); t.project.layout.InData(at.Path) || t.Tool == "Grep" && t.project.layout.AroundData(at.Path) {
			paths = append(paths, at.Path)
		}
	}
	return paths
}

// request is the tool call as policy sees it.
func (d *Daemon) request(ctx context.Context, t turn, s enforcement.State, parent *enforcement.State) enforcement.RequestTool {
	watching, watchingID := s, t.Session
	if parent != nil {
		watching = *parent
	}
	targets := t.project.targets(t.Call)
	request := enforcement.RequestTool{
		Tool: t.Tool, ToolUseID: t.ToolUseID, Targets: targets,
		Actor:     enforcement.Actor{Agent: t.Agent, Parent: parent},
		Workspace: d.workspace(ctx, t.project, watchingID, watching), Settings: t.project.policy(),
		Private: t.private(), Secrets: d.secrets(t, targets), Code: t.Code, Digest: digest(t.Input), Bytes: len(t.Input),
	}
	if t.Shell != nil {
		dir := t.Dir
		if dir == "" {
			dir = t.project.root
		}
		request.Confined, request.Unbounded = d.bounds(t)
		if t.Tool == "PowerShell" {
			request.Shell = enforcement.InspectPowerShell(t.project.layout, filepath.ToSlash(dir), *t.Shell, readlink)
		} else {
			request.Shell = enforcement.Inspect(t.project.layout, filepath.ToSlash(dir), *t.Shell, nil, readlink)
		}
		if request.Shell.NeedsRepository() {
			request.Repository = t.project.repository()
		}
	}
	if t.Tool == "ExitPlanMode" {
		request.Plan = []byte(t.Plan)
	}
	return request
}

func verdict(v enforcement.Verdict) host.Verdict {
	switch v {
	case enforcement.Allow:
		return host.Pass
	case enforcement.Ask:
		return host.AskUser
	case enforcement.Deny:
	}
	return host.Refuse
}

// actor says in whose log a tool call belongs. A sub-agent that inherits its
// parent's gates acts in the parent's; a worker that is exempt from them has
// its own, linked to the parent.
func (d *Daemon) actor(ctx context.Context, t turn) (session string, parent *enforcement.State, err error) {
	if t.Agent == "" {
		return t.Session, nil, nil
	}
	state, _, err := d.sessions.state(ctx, t.Session)
	if err != nil {
		return "", nil, err
	}
	exempt := t.project.settings.Subagents == enforcement.SubagentsExempt ||
		state.Orchestrator && t.project.settings.Subagents != enforcement.SubagentsInherit
	if !exempt {
		return t.Session, nil, nil
	}
	child := t.Session + "/" + t.Agent
	d.sessions.link(t.Session, child)
	return child, &state, schemas.Session(child).Check()
}

// onPermission keeps the host's own question in line with the gate: what the
// gate refuses is refused there too. It was recorded when it was decided.
func (d *Daemon) onPermission(ctx context.Context, t turn) (host.Answer, error) {
	if t.gateless() {
		return host.Answer{}, nil
	}
	session, parent, err := d.actor(ctx, t)
	if err != nil {
		return host.Answer{}, err
	}
	state, _, err := d.sessions.state(ctx, session)
	if err != nil {
		return host.Answer{}, err
	}
	request := d.request(ctx, t, state, parent)
	request.Settings.DenyToAsk = false
	decision, err := enforcement.Decide(state, request)
	if err != nil || decision.Verdict != enforcement.Deny || state.Streak.Count > 1 && t.project.settings.DenyToAsk {
		return host.Answer{}, err
	}
	return host.Answer{Verdict: host.Refuse, Reason: decision.Reason}, nil
}

func (d *Daemon) onAfterTool(ctx context.Context, t turn) (host.Answer, error) {
	if t.gateless() {
		return d.plain(ctx, t, enforcement.Observe{HookObserved: t.observed()})
	}
	if t.Tool == "ExitPlanMode" && t.Kind == host.AfterTool && t.asksItsUser() {
		return d.onPlanDialog(ctx, t)
	}
	session, parent, err := d.actor(ctx, t)
	if err != nil {
		return host.Answer{}, err
	}
	finished := schemas.ToolFinished{
		Tool: t.Tool, ToolUseID: t.ToolUseID, Failed: t.Kind == host.ToolFailed,
		Error: clipText(t.Error, 500), Millis: t.Millis, Agent: t.Agent,
	}
	changes, was := d.treeChanges(t)
	t.was = was
	for _, target := range t.touched(changes) {
		name := target.Rel
		if name == "" {
			name = target.Path
		}
		state, _ := t.project.fileState(name)
		finished.Files = append(finished.Files, state)
		if target.Class == enforcement.ClassTest {
			finished.Tests = append(finished.Tests, name)
		}
	}
	d.left.wrote(t.Session, pathsOf(finished.Files))
	command, certain := t.ended()
	decision, _, err := d.sessions.act(ctx, session, t.meta(t.agent()), func(s enforcement.State) (enforcement.Decision, error) {
		watching := s
		if parent != nil {
			watching = *parent
		}
		return enforcement.Decide(s, enforcement.FinishTool{
			ToolFinished: finished, Actor: enforcement.Actor{Agent: t.Agent, Parent: parent},
			Command: command, Uncertain: !certain, TestCommand: t.project.settings.TestCommand,
			Workspace: d.workspace(ctx, t.project, t.Session, watching),
		})
	})
	if err != nil {
		return host.Answer{}, err
	}
	behind, err := d.checkTree(ctx, t, session, parent, changes)
	if can, _ := d.bounds(t); can && !t.bounded && len(behind.Record) > 0 {
		d.heedless.note(t.Session)
	}
	answer := host.Answer{Context: join(decision.Context, behind.Context), Notice: join(decision.Notice, behind.Notice)}
	if err != nil || finished.Failed {
		return answer, err
	}
	told, err := d.checkContent(ctx, t, session, changes)
	answer.Context = join(append([]string{answer.Context}, told...)...)
	if err != nil {
		return answer, err
	}
	surfaced, err := d.rulesAfter(ctx, t, session, changes)
	answer.Context = join(answer.Context, surfaced)
	return answer, err
}

// asksItsUser says that the host showed its dialog to somebody: some of its
// modes accept every plan by themselves.
func (t turn) asksItsUser() bool {
	switch t.Permissions {
	case "bypassPermissions", "dontAsk", "auto":
		return false
	}
	return true
}

// onPlanDialog takes the host's own plan dialog, which the user accepted, as
// an approval of the very plan that it showed.
func (d *Daemon) onPlanDialog(ctx context.Context, t turn) (host.Answer, error) {
	act := t.ToolUseID
	if act == "" {
		act = bus.NewID()
	}
	decision, state, err := d.sessions.act(ctx, t.Session, t.meta(enforcement.Person(enforcement.ChannelDialog)), func(s enforcement.State) (enforcement.Decision, error) {
		return enforcement.Decide(s, enforcement.ApproveGate{
			Gate: enforcement.GatePlan, Channel: "dialog", ActID: "tool:" + act, Presented: []byte(t.Plan), Agent: t.Agent,
			Workspace: d.approvable(ctx, t.project, t.Session, s), Settings: t.project.policy(),
		})
	})
	if err != nil {
		return host.Answer{}, err
	}
	return host.Answer{Context: orPosition(decision.Context, state), Notice: decision.Notice}, nil
}
