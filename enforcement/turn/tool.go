package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine/runner"
	"github.com/writbus/writ/enforcement/confine/worktree"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

func (v *Service) onBeforeTool(ctx context.Context, t turn) (host.Answer, error) {
	completes := v.done.fresh(t)
	if t.gateless() && len(completes) == 0 && t.Task == nil {
		return v.onRead(ctx, t)
	}
	session, parent, err := v.actor(ctx, t)
	if err != nil {
		return host.Answer{}, err
	}
	t.before = &looked{trees: &v.afterwards.before}
	var about prompted
	var confinedAs string
	var meant []schemas.Target // of the call's writes
	unjudged, guarded, closed := false, false, false
	decision, state, err := v.Sessions.Act(ctx, session, t.agent(), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
		about, confinedAs = prompted{}, "" // after a conflict it is decided anew
		request := v.request(ctx, t, s, parent)
		request.Completes, meant = completes, request.Targets[:len(t.Writes)]
		if t.Task != nil {
			request.Task = &enforcement.Task{Type: t.Task.Type, Title: t.Task.Title, Prompt: t.Task.Prompt}
		}
		unjudged = request.Shell != nil && request.Shell.Effect == enforcement.EffectCannotTell || request.Unproven != ""
		guarded, closed = request.Shell != nil && !request.Shell.Plain, runner.ClosesCode(t.bound(s, parent))
		decision, err := enforcement.Decide(s, request)
		if err == nil && v.bounds.confines(t, request.Shell, decision) {
			confinedAs = v.Runner.Rewrite(*t.Shell, t.holds(s, parent, request.Shell), t.Facts.RulesSeeCommand)
		}
		if err != nil || decision.Verdict != enforcement.Allow || !t.Facts.TellsBeforeTools || t.overdue(v.Now()) {
			return decision, err
		}
		about = v.in.forFile(ctx, t, s, request.Targets)
		return v.in.withShown(t, s, decision, "file", about.rules, about.tokens)
	})
	if err != nil {
		return host.Answer{}, err
	}
	var earlier enforcement.Decision
	if t.Shell != nil {
		if earlier, err = v.afterwards.sinceEnded(ctx, t, session, parent); err != nil {
			return host.Answer{}, err
		}
	}
	unseen := ""
	if decision.Verdict != enforcement.Deny {
		var tree *worktree.Tree
		if unjudged {
			var err error
			tree, err = v.afterwards.before.keep(t)
			unseen = v.afterwards.unseen(t.Session, err)
		}
		if guarded {
			v.afterwards.guards.hold(t, closed, t.nestedSettings(tree))
		}
	}
	named := meant
	if t.Shell != nil {
		if named = t.touched(nil); decision.Verdict != enforcement.Deny {
			v.contents.keepBefore(t, named)
		}
	}
	shared := ""
	if decision.Verdict != enforcement.Deny {
		v.landings.keep(t, meant, v.Now())
	}
	if decision.Verdict == enforcement.Allow {
		v.done.keep(t)
		v.tasks.keep(t)
		shared = v.sharesPlan(ctx, t, state, named)
	}
	return host.Answer{
		Verdict: Verdict(decision.Verdict), Reason: decision.Reason, Vouched: t.vouched(decision),
		Context: join(earlier.Context, decision.Context, shared, about.block), Notice: join(earlier.Notice, decision.Notice, shared, unseen), Command: confinedAs,
	}, nil
}

// sharesPlan says that a write goes over the plan of another session that is
// still open, "" where it does not.
func (v *Service) sharesPlan(ctx context.Context, t turn, state enforcement.State, named []schemas.Target) string {
	if state.Mode != enforcement.ModeWork || !slices.ContainsFunc(named, func(to schemas.Target) bool { return to.Rel == enforcement.PlanFile }) {
		return ""
	}
	owner := v.Sessions.Approvable(ctx, t.project, t.Session, state).PlanOf
	if other, err := v.Sessions.Peek(ctx, owner); owner == "" || err != nil || other.Ended || other.Mode != enforcement.ModeWork {
		return ""
	}
	return fmt.Sprintf("writ: plan.md is the plan of session %s, and writing it ends that session's approval. Two pieces of work at once need a work tree each: git worktree add.", excerpt.Runes(owner, 60))
}

// written turns the writes of a call into targets with the content they would
// leave.
func written(t turn) []schemas.Target {
	var all []schemas.Target
	for _, w := range t.Writes {
		target := t.project.Target(w.Path, t.Dir)
		target.Result = resultOf(w, target.Path)
		all = append(all, target)
	}
	return all
}

// resultOf is the SHA-256 of what a write would leave, "" where it cannot be
// told.
func resultOf(w host.Write, path string) string {
	if w.Content != nil && !w.Opaque {
		return enforcement.Hash([]byte(*w.Content))
	}
	before, err := project.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if after, known := contentAfter(w, before, err == nil); known {
		return enforcement.Hash(after)
	}
	return ""
}

// gateless says that a tool neither writes nor runs anything that a gate is
// about, and reads nothing of Writ's own: it is recorded and passes.
func (t turn) gateless() bool { return len(t.private()) == 0 && t.Harmless() }

// private lists what a tool would read of Writ's own data.
func (t turn) private() []string {
	var paths []string
	for _, p := range t.Reads {
		if at := t.project.Target(p, t.Dir); t.project.Layout.InData(at.Path) || t.Tool == "Grep" && t.project.Layout.AroundData(at.Path) {
			paths = append(paths, at.Path)
		}
	}
	return paths
}

// unproven says why a server's tool is not known to do no more than read within
// the project, and what a yes to it holds for. One to words it is given holds for
// no path that leads out.
func (t turn) unproven() (why, holds string) {
	if t.Unproven != "" && !strings.Contains(t.Holds, "=") || t.Elsewhere || !t.FromServer {
		return t.Unproven, t.Holds
	}
	for _, p := range t.Reads {
		if at := t.project.Target(p, t.Dir); at.Class == enforcement.ClassOutside || t.project.Layout.AroundData(at.Path) {
			if _, err := os.Lstat(at.Path); err == nil {
				return "it is given a path outside the project", ""
			}
		}
	}
	return t.Unproven, t.Holds
}

// request is the tool call as policy sees it.
func (v *Service) request(ctx context.Context, t turn, s enforcement.State, parent *enforcement.State) enforcement.RequestTool {
	watching, watchingID := s, t.Session
	if parent != nil {
		watching = *parent
	}
	targets := written(t)
	var edits map[string]enforcement.Edit
	if s.Mode == enforcement.ModeSmall && parent == nil {
		edits = v.contents.edits(t, targets, s.Small)
	}
	judged := targets
	for i, w := range t.Writes {
		for _, also := range t.project.Readings(w.Path, t.Dir, targets[i]) {
			also.Result = targets[i].Result
			judged = append(judged[:len(judged):len(judged)], also)
		}
	}
	request := enforcement.RequestTool{
		Tool: t.Tool, ToolUseID: t.ToolUseID, Targets: judged, Edits: edits,
		Actor:     enforcement.Actor{Agent: t.Agent, Parent: parent},
		Workspace: v.Sessions.Workspace(ctx, t.project, watchingID, watching), Settings: t.project.Settings.Policy,
		Private: t.private(), Secrets: v.contents.secrets(t, targets), Code: t.Code, Queues: t.Queues, Digest: enforcement.Hash(t.Input), Bytes: len(t.Input),
		Unasked: !t.asksItsUser(), Releases: v.Rules.Releases(ctx),
	}
	request.Unproven, request.Holds = t.unproven()
	if t.Shell != nil {
		dir := cmp.Or(t.Dir, t.project.Root)
		request.Confined, request.Unbounded = v.bounds.can(t)
		command := *t.shell()
		request.Shell = &command
		if t.Tool != "PowerShell" {
			open := !runner.ClosesCode(watching, parent != nil)
			request.Shell.Plain = request.Shell.Plain && !t.runsOwn(dir, v.Runner.Writ) && !v.afterwards.left.mayLay(t, open)
			// The program that is named by its whole path is surely the one meant.
			if rest, own := strings.CutPrefix(*t.Shell, v.Runner.Writ+" "); own && v.Runner.Writ != "" && request.Shell.Effect == enforcement.EffectReads {
				request.Shell.Plain = enforcement.PlainWrit(rest)
			}
		}
		request.Shell.Targets = t.named(request.Shell.Targets)
		if request.Confined && request.Shell.Effect == enforcement.EffectCannotTell && runner.ClosesCode(t.bound(watching, parent)) {
			request.Unbounded = t.secondName()
			request.Confined = request.Unbounded == ""
		}
		if t.FromServer && !request.Shell.Plain && request.Unproven == "" {
			request.Unproven = "it is given a command that its shell may read in another way"
		}
		if request.Shell.NeedsRepository() {
			request.Repository = repository(t.project.Root)
		}
	}
	if request.Holds != "" {
		request.Accepted = v.Sessions.Accepted(t.project.Root, request.Holds)
	}
	if t.Tool == "ExitPlanMode" {
		request.Plan = []byte(t.Plan)
	}
	return request
}

// shell is what the call's command reads as, links at the time included.
func (t turn) shell() *enforcement.ShellCommand {
	if t.command == nil {
		return t.inspect()
	}
	return t.command()
}

func (t turn) inspect() *enforcement.ShellCommand {
	dir := filepath.ToSlash(cmp.Or(t.Dir, t.project.Root))
	if t.Tool == "PowerShell" {
		return enforcement.InspectPowerShell(t.project.Layout, dir, *t.Shell, project.Readlink)
	}
	return enforcement.Inspect(t.project.Layout, dir, *t.Shell, nil, project.Readlink)
}

// Verdict is what a host is told of a verdict of the gates.
func Verdict(v enforcement.Verdict) host.Verdict {
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
func (v *Service) actor(ctx context.Context, t turn) (session string, parent *enforcement.State, err error) {
	if t.Agent == "" {
		return t.Session, nil, nil
	}
	state, _, err := v.Sessions.State(ctx, t.Session)
	if err != nil {
		return "", nil, err
	}
	exempt := t.project.Settings.Policy.Subagents == enforcement.SubagentsExempt ||
		state.Orchestrator && t.project.Settings.Policy.Subagents != enforcement.SubagentsInherit
	if !exempt {
		return t.Session, nil, nil
	}
	child := t.Session + "/" + t.Agent
	v.Sessions.Link(t.Session, child)
	return child, &state, schemas.Session(child).Check()
}

// vouched says that the host need not ask about what was decided: the gates asked
// for it, by a tool of the host's own, and the host is not in a mode in which its
// user wants nothing written.
func (t turn) vouched(d enforcement.Decision) bool {
	return d.Demanded && !t.FromServer && t.Permissions != readOnlyMode
}

// readOnlyMode is the hosts' name for planning without writing.
const readOnlyMode = "plan"

// onPermission keeps the host's own question in line with the gate: what the
// gate refuses is refused there too, and what it asked for is allowed. It was
// recorded when it was decided.
func (v *Service) onPermission(ctx context.Context, t turn) (host.Answer, error) {
	if t.gateless() {
		return host.Answer{}, nil
	}
	session, parent, err := v.actor(ctx, t)
	if err != nil {
		return host.Answer{}, err
	}
	state, _, err := v.Sessions.State(ctx, session)
	if err != nil {
		return host.Answer{}, err
	}
	request := v.request(ctx, t, state, parent)
	request.Settings.DenyToAsk = false
	decision, err := enforcement.Decide(state, request)
	if err == nil && decision.Verdict == enforcement.Allow {
		return host.Answer{Vouched: t.vouched(decision)}, nil
	}
	if err != nil || decision.Verdict != enforcement.Deny || state.Streak.Count > 1 && t.project.Settings.Policy.DenyToAsk {
		return host.Answer{}, err
	}
	return host.Answer{Verdict: host.Refuse, Reason: decision.Reason}, nil
}

func (v *Service) onAfterTool(ctx context.Context, t turn) (host.Answer, error) {
	if err := v.noteRead(ctx, t); err != nil {
		return host.Answer{}, err
	}
	if t.gateless() {
		return v.plain(ctx, t, enforcement.Observe{HookObserved: t.observed()})
	}
	if t.Tool == "ExitPlanMode" && t.Kind == host.AfterTool && t.asksItsUser() {
		return v.onPlanDialog(ctx, t)
	}
	session, parent, err := v.actor(ctx, t)
	if err != nil {
		return host.Answer{}, err
	}
	finished := schemas.ToolFinished{
		Tool: t.Tool, ToolUseID: t.ToolUseID, Failed: t.Kind == host.ToolFailed,
		Error: excerpt.Runes(t.Error, 500), Millis: t.Millis, Agent: t.Agent,
	}
	astray, err := v.astray(ctx, t, session, parent)
	if err != nil {
		return host.Answer{}, err
	}
	t.restored = v.afterwards.guards.ended(t)
	changes, was, blind := v.afterwards.changes(&t)
	t.was = was
	wrote := []string{}
	for _, target := range t.touched(changes) {
		wrote = append(wrote, target.Path)
		name := cmp.Or(target.Rel, target.Path)
		state, _ := t.project.FileState(name)
		finished.Files = append(finished.Files, state)
		if target.Class == enforcement.ClassTest {
			finished.Tests = append(finished.Tests, name)
		}
	}
	v.Files.Wrote(wrote)
	v.afterwards.left.wrote(t.Session, pathsOf(finished.Files))
	command, certain := t.ended()
	decision, _, err := v.Sessions.Act(ctx, session, t.agent(), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
		watching := s
		if parent != nil {
			watching = *parent
		}
		_, holds := t.unproven()
		return enforcement.Decide(s, enforcement.FinishTool{
			ToolFinished: finished, Actor: enforcement.Actor{Agent: t.Agent, Parent: parent},
			Command: command, Uncertain: !certain, Unasked: !t.asksItsUser(), Holds: holds, TestCommand: t.project.Settings.TestCommand,
			Workspace: v.Sessions.Workspace(ctx, t.project, t.Session, watching),
		})
	})
	// What the command changed is recorded, or owed, also where its end was not.
	behind, failed := v.afterwards.check(ctx, t, session, parent, changes)
	if err = errors.Join(err, failed); err != nil {
		return host.Answer{}, err
	}
	if can, _ := v.bounds.can(t); can && !t.bounded && len(behind.Record) > 0 && !t.actsElsewhere() {
		v.bounds.note(t.Session)
	}
	held := ""
	if t.bounded && finished.Failed {
		if state, _, err := v.Sessions.State(ctx, session); err == nil {
			as, worker := t.bound(state, parent)
			held = runner.Explain(as, worker, t.Error)
		}
	}
	answer := host.Answer{Context: join(astray.Context, decision.Context, behind.Context, held), Notice: join(astray.Notice, decision.Notice, behind.Notice, v.afterwards.unseen(t.Session, blind))}
	if finished.Failed {
		return answer, nil
	}
	told, err := v.contents.check(ctx, t, session, changes)
	answer.Context = join(append([]string{answer.Context}, told...)...)
	if err != nil {
		return answer, err
	}
	surfaced, err := v.rulesAfter(ctx, t, session, changes)
	if err != nil {
		return answer, err
	}
	unready, err := v.unreadyPlan(ctx, t, session, finished.Files)
	answer.Context = join(answer.Context, surfaced, unready)
	return answer, err
}

// unreadyPlan tells an agent that just wrote its plan why it cannot be approved as
// it is, before the user tries; "" where it can.
func (v *Service) unreadyPlan(ctx context.Context, t turn, session string, wrote []schemas.FileState) (string, error) {
	if !slices.ContainsFunc(wrote, func(f schemas.FileState) bool { return f.Path == enforcement.PlanFile && f.SHA256 != "" }) {
		return "", nil
	}
	state, err := v.Sessions.Peek(ctx, session)
	if err != nil || state.Mode != enforcement.ModeWork {
		return "", err
	}
	problems := state.Offer(enforcement.GatePlan, v.Sessions.Approvable(ctx, t.project, session, state)).Problems
	if len(problems) == 0 {
		return "", nil
	}
	return "writ: plan.md cannot be approved as it is:\n- " + strings.Join(problems, "\n- "), nil
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
func (v *Service) onPlanDialog(ctx context.Context, t turn) (host.Answer, error) {
	act := t.ToolUseID
	if act == "" {
		act = bus.NewID()
	}
	decision, state, err := v.Sessions.Act(ctx, t.Session, enforcement.Person(enforcement.ChannelDialog), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
		return enforcement.Decide(s, enforcement.ApproveGate{
			Gate: enforcement.GatePlan, Channel: "dialog", ActID: "tool:" + act, Presented: []byte(t.Plan), Agent: t.Agent,
			Workspace: v.Sessions.Approvable(ctx, t.project, t.Session, s), Settings: t.project.Settings.Policy,
		})
	})
	if err != nil {
		return host.Answer{}, err
	}
	return host.Answer{Context: cmp.Or(decision.Context, state.Position()), Notice: decision.Notice}, nil
}
