package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/writd/config"
	"github.com/writbus/writ/cmd/writd/hosts"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/observer/metrics"
	"github.com/writbus/writ/schemas"
)

// turn is one hook call on its way through the daemon.
type turn struct {
	hosts.Call
	project    project
	payload    []byte
	ran        *schemas.TestsFinished // the run of tests that came before the end of a turn
	ranWorkers []string               // linked sessions that it covers
	was        map[string]string      // git's names of the contents that files had before a command, by path
	bounded    bool                   // the command is, or was, run confined
}

// hook answers a host's hook: it reads the payload, decides, records, and
// writes the host's answer. What goes wrong is answered as a refusal where the
// hook could have refused, and as a notice where not.
func (d *Daemon) hook(ctx context.Context, r bus.Request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, d.settings.HookBudget)
	defer cancel()
	ctx, done := d.traceHook(ctx, r)
	defer done()
	call, err := hosts.Parse(r.Header.Get(schemas.HookHeaderAgent), r.Header.Get(schemas.HookHeaderEvent), r.Body)
	if errors.Is(err, hosts.ErrUnknownHost) {
		return nil, faultf(schemas.CodeBadRequest, "there is no adapter for the agent %q", r.Header.Get(schemas.HookHeaderAgent))
	}
	if err != nil {
		return json.Marshal(hosts.Render(call, trouble(call, err, "The hook's payload was not understood; see writ doctor.")))
	}
	t := turn{Call: call, payload: r.Body}
	if t.Shell != nil && t.Kind != hosts.BeforeTool {
		// The host reports the command that Writ put in the place of another.
		if inner, ours := d.confined.unwrap(d.layout.Root, *t.Shell); ours {
			t.Shell, t.bounded = &inner, true
		}
	}
	if t.ToolUseID == "" {
		t.ToolUseID = t.unnamed()
	}
	if origin := r.Header.Get(schemas.HookHeaderOrigin); origin != "" && (t.Kind == hosts.Command || t.Kind == hosts.Prompt && t.Origin == "") {
		t.Origin = origin // a program can send what is typed as a command, too
	}
	if t.Dir == "" {
		t.Dir = r.Header.Get(schemas.HookHeaderDir)
	}
	root := r.Header.Get(schemas.HookHeaderProject)
	if !filepath.IsAbs(root) {
		return nil, faultf(schemas.CodeBadRequest, "the hook names no project: header %s is %q", schemas.HookHeaderProject, root)
	}
	t.project = d.projectAt(d.firstProject(ctx, t.Session, root), r.Header.Get(schemas.HookHeaderHome))
	if t.wantsRules() {
		d.awaitRules(ctx, d.settings.HookBudget/2)
	}
	if run := d.testsDue(ctx, t, r.Header); run != nil {
		return json.Marshal(schemas.HookReply{Tests: run})
	}
	t.ran, t.ranWorkers = d.reported(t, r.Header)
	reply, err := d.answered.once(t.called(r.Header), func() (answers, error) {
		a, err := d.answerHook(ctx, t)
		if err != nil {
			return answers{}, err
		}
		if t.project.problem != nil {
			a.Notice = strings.TrimSpace(a.Notice + "\nwrit: " + t.project.problem.Error() + ". The strict defaults are in force until it is mended.")
		}
		_, end := d.telemetry.Span(ctx, metrics.SpanReply)
		defer end(nil)
		repeated := a
		repeated.Context, repeated.Notice = "", ""
		return answers{hosts.Render(t.Call, a), hosts.Render(t.Call, repeated)}, nil
	})
	if err != nil {
		d.logger.Error("hook", "hook", t.Hook, "session", t.Session, "error", err)
		reply = hosts.Render(t.Call, trouble(t.Call, err, "Whether it is in the log cannot be told. Run: writ doctor"))
	}
	return json.Marshal(reply)
}

// unnamedCall begins the ids of calls to which the host gave none.
const unnamedCall = "input:"

// unnamed is an id for a call of a host that gives none, the same before and
// after the tool; "" for what is no tool's call.
func (t turn) unnamed() string {
	switch t.Kind {
	case hosts.BeforeTool, hosts.AfterTool, hosts.ToolFailed:
	default:
		return ""
	}
	input := []byte(t.Input)
	if t.Shell != nil {
		input = []byte(*t.Shell)
	}
	return unnamedCall + t.Agent + ":" + t.Tool + ":" + digest(input)
}

// firstProject is the project a session began in, while it is under guard:
// going to a folder with settings of its own does not change the rules.
func (d *Daemon) firstProject(ctx context.Context, session, now string) string {
	state, err := d.sessions.peek(ctx, session)
	if err != nil || state.Project == "" || state.Project == now {
		return now
	}
	if root, guarded := config.FindGuarded(d.layout.Root, state.Project); guarded && root == state.Project {
		return state.Project
	}
	return now
}

// called tells one call from another.
func (t turn) called(header schemas.Header) called {
	c := called{}
	c.began, _ = strconv.ParseInt(header.Get(schemas.HookHeaderBegan), 10, 64)
	id := t.ToolUseID
	switch t.Kind {
	case hosts.Prompt, hosts.Command:
		id = t.PromptID
	case hosts.BeforeTool, hosts.AfterTool, hosts.ToolFailed, hosts.Permission:
	default:
		// A turn's end is reported again with what came of its tests.
		id, c.unnamed = "event:"+digest([]byte(header.Get(schemas.HookHeaderTests))), true
	}
	if id != "" && !strings.HasPrefix(id, unnamedCall) {
		c.key = strings.Join([]string{t.Session, t.Agent, t.Hook, id, digest(t.payload)}, "\x00")
	}
	return c
}

// trouble is the answer to a call that could not be decided.
func trouble(c hosts.Call, err error, next string) hosts.Answer {
	text := fmt.Sprintf("writ: %s: %v. %s", c.Hook, err, next)
	if c.Kind == hosts.BeforeTool {
		return hosts.Answer{Verdict: hosts.Refuse, Reason: text}
	}
	return hosts.Answer{Notice: text}
}

func (d *Daemon) answerHook(ctx context.Context, t turn) (hosts.Answer, error) {
	if err := schemas.Session(t.Session).Check(); err != nil {
		return hosts.Answer{}, err
	}
	if err := d.ensureStarted(ctx, t); err != nil {
		return hosts.Answer{}, err
	}
	switch t.Kind {
	case hosts.SessionStart:
		return d.onSessionStart(ctx, t)
	case hosts.SessionEnd:
		d.noteTranscript(t)
		return d.onSessionEnd(ctx, t)
	case hosts.Prompt, hosts.Command:
		return d.onPrompt(ctx, t)
	case hosts.BeforeTool:
		return d.onBeforeTool(ctx, t)
	case hosts.Permission:
		return d.onPermission(ctx, t)
	case hosts.AfterTool, hosts.ToolFailed:
		return d.onAfterTool(ctx, t)
	case hosts.SubagentStart:
		return d.onSubagentStart(ctx, t)
	case hosts.SubagentStop:
		return d.plain(ctx, t, "host", enforcement.StopSubagent{SubagentStopped: schemas.SubagentStopped{AgentID: orUnknown(t.Agent), Message: t.Message}})
	case hosts.Stop:
		d.noteTranscript(t)
		return d.onStop(ctx, t)
	case hosts.BeforeCompact:
		d.noteTranscript(t)
		return d.plain(ctx, t, "host", enforcement.Compact{ContextCompacted: schemas.ContextCompacted{Stage: "before", Trigger: t.Reason}})
	case hosts.Instructions:
		return d.onInstructions(ctx, t)
	case hosts.AfterCompact:
		return d.plain(ctx, t, "host", enforcement.Compact{ContextCompacted: schemas.ContextCompacted{Stage: "after", Trigger: t.Reason}})
	default:
		return d.plain(ctx, t, "host", enforcement.Observe{HookObserved: t.observed()})
	}
}

func orUnknown(id string) string {
	if id == "" {
		return "unknown"
	}
	return id
}

func (t turn) observed() schemas.HookObserved {
	return schemas.HookObserved{Host: t.Host, Hook: t.Hook, Fields: hosts.Fields(t.payload), Digest: digest(t.payload), Bytes: len(t.payload)}
}

// plain takes a command whose outcome needs nothing but the record.
func (d *Daemon) plain(ctx context.Context, t turn, actor string, c enforcement.Command) (hosts.Answer, error) {
	decision, _, err := d.sessions.act(ctx, t.Session, t.meta(actor), func(s enforcement.State) (enforcement.Decision, error) {
		return enforcement.Decide(s, c)
	})
	return hosts.Answer{Context: decision.Context, Notice: decision.Notice}, err
}

func (t turn) meta(actor string) meta { return meta{actor: actor, correlation: t.PromptID} }

// ensureStarted registers a session that Writ meets in the middle: the project
// was put under guard while a conversation was open, or the host gave no start.
func (d *Daemon) ensureStarted(ctx context.Context, t turn) error {
	if t.Kind == hosts.SessionStart {
		return nil
	}
	state, _, err := d.sessions.state(ctx, t.Session)
	if err != nil || state.Host != "" {
		return err
	}
	_, _, err = d.sessions.act(ctx, t.Session, t.meta("host"), func(s enforcement.State) (enforcement.Decision, error) {
		if s.Host != "" {
			return enforcement.Decision{}, nil
		}
		return enforcement.Decide(s, enforcement.StartSession{SessionStarted: t.started("met")})
	})
	return err
}

func (t turn) started(source string) schemas.SessionStarted {
	return schemas.SessionStarted{
		Host: t.Host, Source: source, Project: t.project.root, Dir: t.Dir, Model: t.Model,
		Transcript: t.Transcript, AgentType: t.AgentType,
		Mode: t.project.settings.Mode, Subagents: t.project.settings.Subagents,
	}
}

func (d *Daemon) onSessionStart(ctx context.Context, t turn) (hosts.Answer, error) {
	band := d.corpus.index().Mandatory()
	var again string
	decision, state, err := d.sessions.act(ctx, t.Session, t.meta("host"), func(s enforcement.State) (enforcement.Decision, error) {
		again = ""
		if t.Source == "compact" {
			again = d.resume(s)
		}
		start, err := enforcement.Decide(s, enforcement.StartSession{SessionStarted: t.started(t.Source)})
		if err != nil || instructed(s, band) {
			return start, err
		}
		return d.withShown(s, start, "session", mandatoryShown(band), band.Tokens)
	})
	if err != nil {
		return hosts.Answer{}, err
	}
	if instructed(state, band) {
		band.Text = ""
	}
	return hosts.Answer{
		Context: join(greeting, orPosition(decision.Context, state), again, band.Text),
		Notice:  decision.Notice,
	}, nil
}

func (d *Daemon) onPrompt(ctx context.Context, t turn) (hosts.Answer, error) {
	var shown prompted
	var again string
	act := t.PromptID
	if act == "" {
		act = newID()
	}
	decision, state, err := d.sessions.act(ctx, t.Session, t.meta(promptActor(t)), func(s enforcement.State) (enforcement.Decision, error) {
		decision, err := enforcement.Decide(s, enforcement.SubmitPrompt{
			Prompt: strings.ToValidUTF8(t.Prompt, "�"), ActID: "prompt:" + act, PromptID: t.PromptID, Origin: t.Origin,
			Command: t.Command, Arguments: t.Args, Expands: hosts.ExpandsCommands(t.Host), Agent: t.Agent,
			Workspace: d.approvable(ctx, t.project, t.Session, s), Settings: t.project.policy(),
		})
		if err != nil || t.Kind == hosts.Command {
			return decision, err
		}
		again = d.resume(s)
		shown = d.rulesFor(ctx, t, s, decision, len(again))
		return d.withShown(s, decision, "prompt", shown.rules, shown.tokens)
	})
	if err != nil {
		return hosts.Answer{}, err
	}
	own := orPosition(decision.Context, state)
	var remembered string
	if t.Kind == hosts.Prompt && !approves(decision) {
		remembered = d.memories(ctx, t, injectedChars-len(own)-len(again)-len(shown.band)-len(shown.block))
	}
	var files string
	if t.Kind == hosts.Prompt && !approves(decision) && t.Agent == "" {
		files = d.artifactsFor(ctx, t, injectedChars-len(own)-len(again)-len(shown.band)-len(shown.block)-len(remembered))
	}
	return hosts.Answer{Context: join(own, again, shown.band, shown.block, remembered, files), Notice: decision.Notice}, nil
}

func promptActor(t turn) string {
	if t.Origin == "" || t.Origin == "user" {
		return "user"
	}
	return "host"
}

func (d *Daemon) onBeforeTool(ctx context.Context, t turn) (hosts.Answer, error) {
	completes := d.done.fresh(t)
	if t.gateless() && len(completes) == 0 && t.Task == nil {
		return d.onRead(ctx, t)
	}
	session, parent, err := d.actor(ctx, t)
	if err != nil {
		return hosts.Answer{}, err
	}
	var about prompted
	var confinedAs string
	untold := false
	decision, _, err := d.sessions.act(ctx, session, t.meta("agent"), func(s enforcement.State) (enforcement.Decision, error) {
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
		if err != nil || decision.Verdict != enforcement.Allow || !hosts.TellsBeforeTools(t.Host) {
			return decision, err
		}
		about = d.rulesForFile(ctx, t, s, request.Targets)
		return d.withShown(s, decision, "file", about.rules, about.tokens)
	})
	if err != nil {
		return hosts.Answer{}, err
	}
	var earlier enforcement.Decision
	if t.Shell != nil {
		if earlier, err = d.sinceEnded(ctx, t, session, parent); err != nil {
			return hosts.Answer{}, err
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
	return hosts.Answer{
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

func verdict(v enforcement.Verdict) hosts.Verdict {
	switch v {
	case enforcement.Allow:
		return hosts.Pass
	case enforcement.Ask:
		return hosts.AskUser
	case enforcement.Deny:
	}
	return hosts.Refuse
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
func (d *Daemon) onPermission(ctx context.Context, t turn) (hosts.Answer, error) {
	if t.gateless() {
		return hosts.Answer{}, nil
	}
	session, parent, err := d.actor(ctx, t)
	if err != nil {
		return hosts.Answer{}, err
	}
	state, _, err := d.sessions.state(ctx, session)
	if err != nil {
		return hosts.Answer{}, err
	}
	request := d.request(ctx, t, state, parent)
	request.Settings.DenyToAsk = false
	decision, err := enforcement.Decide(state, request)
	if err != nil || decision.Verdict != enforcement.Deny || state.Streak.Count > 1 && t.project.settings.DenyToAsk {
		return hosts.Answer{}, err
	}
	return hosts.Answer{Verdict: hosts.Refuse, Reason: decision.Reason}, nil
}

func (d *Daemon) onAfterTool(ctx context.Context, t turn) (hosts.Answer, error) {
	if t.gateless() {
		return d.plain(ctx, t, "agent", enforcement.Observe{HookObserved: t.observed()})
	}
	if t.Tool == "ExitPlanMode" && t.Kind == hosts.AfterTool && t.asksItsUser() {
		return d.onPlanDialog(ctx, t)
	}
	session, parent, err := d.actor(ctx, t)
	if err != nil {
		return hosts.Answer{}, err
	}
	finished := schemas.ToolFinished{
		Tool: t.Tool, ToolUseID: t.ToolUseID, Failed: t.Kind == hosts.ToolFailed,
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
	decision, _, err := d.sessions.act(ctx, session, t.meta("agent"), func(s enforcement.State) (enforcement.Decision, error) {
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
		return hosts.Answer{}, err
	}
	behind, err := d.checkTree(ctx, t, session, parent, changes)
	if can, _ := d.bounds(t); can && !t.bounded && len(behind.Record) > 0 {
		d.heedless.note(t.Session)
	}
	answer := hosts.Answer{Context: join(decision.Context, behind.Context), Notice: join(decision.Notice, behind.Notice)}
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
func (d *Daemon) onPlanDialog(ctx context.Context, t turn) (hosts.Answer, error) {
	act := t.ToolUseID
	if act == "" {
		act = newID()
	}
	decision, state, err := d.sessions.act(ctx, t.Session, t.meta("user"), func(s enforcement.State) (enforcement.Decision, error) {
		return enforcement.Decide(s, enforcement.ApproveGate{
			Gate: enforcement.GatePlan, Channel: "dialog", ActID: "tool:" + act, Presented: []byte(t.Plan), Agent: t.Agent,
			Workspace: d.approvable(ctx, t.project, t.Session, s), Settings: t.project.policy(),
		})
	})
	if err != nil {
		return hosts.Answer{}, err
	}
	return hosts.Answer{Context: orPosition(decision.Context, state), Notice: decision.Notice}, nil
}

func clipText(s string, most int) string {
	runes := []rune(strings.ToValidUTF8(s, "�"))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}
