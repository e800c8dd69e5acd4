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
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/observer/metrics"
	"github.com/writbus/writ/schemas"
)

// turn is one hook call on its way through the daemon.
type turn struct {
	host.Call
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
	call, err := host.Parse(r.Header.Get(schemas.HookHeaderAgent), r.Header.Get(schemas.HookHeaderEvent), r.Body)
	if errors.Is(err, host.ErrUnknownHost) {
		return nil, schemas.Faultf(schemas.CodeBadRequest, "there is no adapter for the agent %q", r.Header.Get(schemas.HookHeaderAgent))
	}
	if err != nil {
		return json.Marshal(host.Render(call, trouble(call, err, "The hook's payload was not understood; see writ doctor.")))
	}
	t := turn{Call: call, payload: r.Body}
	if t.Shell != nil && t.Kind != host.BeforeTool {
		// The host reports the command that Writ put in the place of another.
		if inner, ours := d.confined.unwrap(d.layout.Root, *t.Shell); ours {
			t.Shell, t.bounded = &inner, true
		}
	}
	if t.ToolUseID == "" {
		t.ToolUseID = t.unnamed()
	}
	if origin := r.Header.Get(schemas.HookHeaderOrigin); origin != "" && (t.Kind == host.Command || t.Kind == host.Prompt && t.Origin == "") {
		t.Origin = origin // a program can send what is typed as a command, too
	}
	if t.Dir == "" {
		t.Dir = r.Header.Get(schemas.HookHeaderDir)
	}
	root := r.Header.Get(schemas.HookHeaderProject)
	if !filepath.IsAbs(root) {
		return nil, schemas.Faultf(schemas.CodeBadRequest, "the hook names no project: header %s is %q", schemas.HookHeaderProject, root)
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
		return answers{host.Render(t.Call, a), host.Render(t.Call, repeated)}, nil
	})
	if err != nil {
		d.logger.Error("hook", "hook", t.Hook, "session", t.Session, "error", err)
		reply = host.Render(t.Call, trouble(t.Call, err, "Whether it is in the log cannot be told. Run: writ doctor"))
	}
	return json.Marshal(reply)
}

// unnamedCall begins the ids of calls to which the host gave none.
const unnamedCall = "input:"

// unnamed is an id for a call of a host that gives none, the same before and
// after the tool; "" for what is no tool's call.
func (t turn) unnamed() string {
	switch t.Kind {
	case host.BeforeTool, host.AfterTool, host.ToolFailed:
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
	case host.Prompt, host.Command:
		id = t.PromptID
	case host.BeforeTool, host.AfterTool, host.ToolFailed, host.Permission:
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
func trouble(c host.Call, err error, next string) host.Answer {
	text := fmt.Sprintf("writ: %s: %v. %s", c.Hook, err, next)
	if c.Kind == host.BeforeTool {
		return host.Answer{Verdict: host.Refuse, Reason: text}
	}
	return host.Answer{Notice: text}
}

func (d *Daemon) answerHook(ctx context.Context, t turn) (host.Answer, error) {
	if err := schemas.Session(t.Session).Check(); err != nil {
		return host.Answer{}, err
	}
	if err := d.ensureStarted(ctx, t); err != nil {
		return host.Answer{}, err
	}
	switch t.Kind {
	case host.SessionStart:
		return d.onSessionStart(ctx, t)
	case host.SessionEnd:
		d.noteTranscript(t)
		return d.onSessionEnd(ctx, t)
	case host.Prompt, host.Command:
		return d.onPrompt(ctx, t)
	case host.BeforeTool:
		return d.onBeforeTool(ctx, t)
	case host.Permission:
		return d.onPermission(ctx, t)
	case host.AfterTool, host.ToolFailed:
		return d.onAfterTool(ctx, t)
	case host.SubagentStart:
		return d.onSubagentStart(ctx, t)
	case host.SubagentStop:
		return d.plain(ctx, t, enforcement.StopSubagent{SubagentStopped: schemas.SubagentStopped{AgentID: orUnknown(t.Agent), Message: t.Message}})
	case host.Stop:
		d.noteTranscript(t)
		return d.onStop(ctx, t)
	case host.BeforeCompact:
		d.noteTranscript(t)
		return d.plain(ctx, t, enforcement.Compact{ContextCompacted: schemas.ContextCompacted{Stage: "before", Trigger: t.Reason}})
	case host.Instructions:
		return d.onInstructions(ctx, t)
	case host.AfterCompact:
		return d.plain(ctx, t, enforcement.Compact{ContextCompacted: schemas.ContextCompacted{Stage: "after", Trigger: t.Reason}})
	default:
		return d.plain(ctx, t, enforcement.Observe{HookObserved: t.observed()})
	}
}

func orUnknown(id string) string {
	if id == "" {
		return "unknown"
	}
	return id
}

func (t turn) observed() schemas.HookObserved {
	return schemas.HookObserved{Host: t.Host, Hook: t.Hook, Fields: host.Fields(t.payload), Digest: digest(t.payload), Bytes: len(t.payload)}
}

// plain takes a command whose outcome needs nothing but the record.
func (d *Daemon) plain(ctx context.Context, t turn, c enforcement.Command) (host.Answer, error) {
	decision, _, err := d.sessions.act(ctx, t.Session, t.meta(t.agent()), func(s enforcement.State) (enforcement.Decision, error) {
		return enforcement.Decide(s, c)
	})
	return host.Answer{Context: decision.Context, Notice: decision.Notice}, err
}

// agent is who calls: the host's agent, or the sub-agent that it names. The
// session is that of the events.
func (t turn) agent() schemas.Actor { return schemas.Agent(t.Host, "", t.Agent) }

func (t turn) meta(actor schemas.Actor) meta { return meta{actor: actor, correlation: t.PromptID} }

// ensureStarted registers a session that Writ meets in the middle: the project
// was put under guard while a conversation was open, or the host gave no start.
func (d *Daemon) ensureStarted(ctx context.Context, t turn) error {
	if t.Kind == host.SessionStart {
		return nil
	}
	state, _, err := d.sessions.state(ctx, t.Session)
	if err != nil || state.Host != "" {
		return err
	}
	_, _, err = d.sessions.act(ctx, t.Session, t.meta(t.agent()), func(s enforcement.State) (enforcement.Decision, error) {
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

func (d *Daemon) onSessionStart(ctx context.Context, t turn) (host.Answer, error) {
	band := d.corpus.Current().Mandatory()
	var again string
	decision, state, err := d.sessions.act(ctx, t.Session, t.meta(t.agent()), func(s enforcement.State) (enforcement.Decision, error) {
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
		return host.Answer{}, err
	}
	if instructed(state, band) {
		band.Text = ""
	}
	return host.Answer{
		Context: join(greeting, orPosition(decision.Context, state), again, band.Text),
		Notice:  decision.Notice,
	}, nil
}

func (d *Daemon) onPrompt(ctx context.Context, t turn) (host.Answer, error) {
	var shown prompted
	var again string
	act := t.PromptID
	if act == "" {
		act = bus.NewID()
	}
	decision, state, err := d.sessions.act(ctx, t.Session, t.meta(promptActor(t)), func(s enforcement.State) (enforcement.Decision, error) {
		decision, err := enforcement.Decide(s, enforcement.SubmitPrompt{
			Prompt: strings.ToValidUTF8(t.Prompt, "�"), ActID: "prompt:" + act, PromptID: t.PromptID, Origin: t.Origin,
			Command: t.Command, Arguments: t.Args, Expands: host.ExpandsCommands(t.Host), Agent: t.Agent,
			Workspace: d.approvable(ctx, t.project, t.Session, s), Settings: t.project.policy(),
		})
		if err != nil || t.Kind == host.Command {
			return decision, err
		}
		again = d.resume(s)
		shown = d.rulesFor(ctx, t, s, decision, len(again))
		return d.withShown(s, decision, "prompt", shown.rules, shown.tokens)
	})
	if err != nil {
		return host.Answer{}, err
	}
	own := orPosition(decision.Context, state)
	var remembered string
	if t.Kind == host.Prompt && !approves(decision) {
		remembered = d.memories(ctx, t, injectedChars-len(own)-len(again)-len(shown.band)-len(shown.block))
	}
	var files string
	if t.Kind == host.Prompt && !approves(decision) && t.Agent == "" {
		files = d.artifactsFor(ctx, t, injectedChars-len(own)-len(again)-len(shown.band)-len(shown.block)-len(remembered))
	}
	return host.Answer{Context: join(own, again, shown.band, shown.block, remembered, files), Notice: decision.Notice}, nil
}

// promptActor is the person whom the host names as the prompt's author, and
// where it names nobody.
func promptActor(t turn) schemas.Actor {
	switch t.Origin {
	case "":
		return enforcement.Person(enforcement.ChannelUnsourced)
	case enforcement.OriginUser:
		return enforcement.Person(enforcement.ChannelPrompt)
	default:
		return t.agent()
	}
}

func clipText(s string, most int) string {
	runes := []rune(strings.ToValidUTF8(s, "�"))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}
