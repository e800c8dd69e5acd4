package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/host/hosts"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/schemas"
)

// turn is one hook call on its way through the daemon.
type turn struct {
	host.Call
	project  project.Project
	payload  []byte
	asker    string                           // names the process that asks, also when it asks again, "" where it is not known
	*tested                                   // the run of tests that came before the end of a turn, nil for none
	was      map[string]string                // git's names of the contents that files had before a command, by path
	command  func() *enforcement.ShellCommand // what the shell's command reads as, found out once
	path     []string                         // where the host's shell looks for programs, as far as is known
	bounded  bool                             // the command is, or was, run confined
	restored []enforcement.Restored           // protected files that the command changed
	before   *looked                          // the work tree before a command, as far as it was looked at
	until    time.Time                        // when the hook's process stops waiting for the answer, zero where that is not known
}

// Handle answers a host's hook: it reads the payload, decides, records, and
// writes the host's answer. What goes wrong is answered as a refusal where the
// hook could have refused, and as a notice where not.
func (v *Service) Handle(ctx context.Context, r bus.Request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, v.Budget)
	defer cancel()
	ctx, done := v.traceHook(ctx, r)
	defer done()
	release, full := v.admission.Hold(len(r.Body))
	if full != nil {
		return nil, full
	}
	defer release()
	call, err := hosts.Parse(r.Header.Get(schemas.HookHeaderAgent), r.Header.Get(schemas.HookHeaderEvent), r.Body)
	if errors.Is(err, host.ErrUnknownHost) {
		return nil, schemas.Faultf(schemas.CodeBadRequest, "there is no adapter for the agent %q", r.Header.Get(schemas.HookHeaderAgent))
	}
	if err != nil {
		return json.Marshal(hosts.Render(call, trouble(call, err, "The hook's payload was not understood; see writ doctor.")))
	}
	leave, err := v.admission.Enter(ctx, call.Session)
	if errors.Is(err, context.Canceled) {
		return nil, errStopping
	}
	if err != nil {
		return json.Marshal(hosts.Render(call, trouble(call, err, "It is not in the log. Let fewer calls of tools run at once, and try again.")))
	}
	defer leave()
	t := turn{Call: call, payload: r.Body, path: filepath.SplitList(r.Header.Get(schemas.HookHeaderPath))}
	t.until = moment(r.Header, schemas.HookHeaderUntil)
	if t.Shell != nil && t.Kind != host.BeforeTool {
		// The host reports the command that Writ put in the place of another.
		if inner, ours := v.Runner.Unwrap(*t.Shell); ours {
			t.Shell, t.bounded = &inner, true
		}
	}
	if t.ToolUseID == "" {
		t.ToolUseID = t.unnamed()
	}
	cut := false
	if t.Kind == host.Prompt {
		t.Prompt, cut = host.ShortenPrompt(t.Prompt)
	}
	if origin := r.Header.Get(schemas.HookHeaderOrigin); origin != "" && (t.Kind == host.Command || t.Kind == host.Prompt && (t.Origin == "" || t.Origin == enforcement.OriginUser)) {
		t.Origin = origin // a program can send what is typed as a command, too
	}
	if t.Dir == "" {
		t.Dir = r.Header.Get(schemas.HookHeaderDir)
	}
	if began := r.Header.Get(schemas.HookHeaderBegan); began != "" {
		t.asker = "hook-" + enforcement.Hash([]byte(strings.Join([]string{t.Session, t.Agent, t.Hook, began, string(t.payload)}, "\x00")))
	}
	root := r.Header.Get(schemas.HookHeaderProject)
	if !filepath.IsAbs(root) {
		return nil, schemas.Faultf(schemas.CodeBadRequest, "the hook names no project: header %s is %q", schemas.HookHeaderProject, root)
	}
	t.project = v.Projects.At(v.firstProject(ctx, t.Session, root), r.Header.Get(schemas.HookHeaderHome))
	without := t.wantsRules() && !v.Rules.Await(ctx, v.Budget/2)
	if run := v.runs.due(ctx, t, r.Header); run != nil {
		return json.Marshal(schemas.HookReply{Tests: run})
	}
	t.tested = v.runs.reported(ctx, t, r.Header)
	reply, err := v.answered.once(t.called(r.Header), func() (answers, error) {
		a, err := v.answer(ctx, t)
		if err != nil {
			return answers{}, err
		}
		if t.project.Problem != nil {
			a.Notice = strings.TrimSpace(a.Notice + "\nwrit: " + t.project.Problem.Error() + ". The strict defaults are in force until it is mended.")
		}
		if without && (t.Kind == host.Prompt || t.Kind == host.SessionStart) {
			a.Notice = strings.TrimSpace(a.Notice + "\nwrit: the rules are still being brought in, so until then some may be missing.")
		}
		if cut {
			a.Notice = strings.TrimSpace(a.Notice + fmt.Sprintf("\nwrit: the prompt is longer than %d KiB. What is left of it was recorded, and acts for nobody; put long texts into a file.", host.MaxPrompt>>10))
		}
		_, end := v.Meter.Span(ctx, spanReply)
		defer end(nil)
		repeated := a
		repeated.Context, repeated.Notice = "", ""
		return answers{hosts.Render(t.Call, a), hosts.Render(t.Call, repeated), t.Kind == host.Prompt && t.overdue(v.Now())}, nil
	})
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil, errStopping
	}
	if err != nil {
		v.Logger.Error("hook", "hook", t.Hook, "session", t.Session, "error", err)
		reply = hosts.Render(t.Call, trouble(t.Call, err, afterFailure(err)))
	}
	return json.Marshal(reply)
}

// errStopping has a hook ask the next daemon, which knows what was decided.
var errStopping = schemas.Faultf(schemas.CodeNotReady, "the daemon is stopping")

// afterFailure says what became of a hook's events, and what to do, where the
// error does not.
func afterFailure(err error) string {
	full := errors.Is(err, bus.ErrDiskFull) || errors.Is(err, bus.ErrStorage)
	if full && !errors.Is(err, bus.ErrUnavailable) {
		return "It is not in the log."
	}
	return "Whether it is in the log cannot be told. Run: writ doctor"
}

// wantsRules says that a hook brings rules into the conversation, or holds what
// was done against them. None of these decides about a write.
func (t turn) wantsRules() bool {
	switch t.Kind {
	case host.SessionStart, host.Prompt, host.Command, host.SubagentStart, host.Instructions, host.Stop:
		return true
	case host.AfterTool:
		return !t.gateless() // what was written is checked
	default:
		return false
	}
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
	return unnamedCall + t.Agent + ":" + t.Tool + ":" + enforcement.Hash(input)
}

// firstProject is the project a session began in, while it is under guard:
// going to a folder with settings of its own does not change the rules.
func (v *Service) firstProject(ctx context.Context, session, now string) string {
	state, err := v.Sessions.Peek(ctx, session)
	if err != nil || state.Project == "" || state.Project == now {
		return now
	}
	if root, guarded := v.Guarded(state.Project); guarded && root == state.Project {
		return state.Project
	}
	return now
}

// overdue says that the hook's process waits no longer.
func (t turn) overdue(now time.Time) bool { return !t.until.IsZero() && now.After(t.until) }

// moment is a header's time, zero where it has none.
func moment(header schemas.Header, name string) time.Time {
	n, err := strconv.ParseInt(header.Get(name), 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(0, n)
}

// called tells one call from another.
func (t turn) called(header schemas.Header) called {
	c := called{}
	c.began, _ = strconv.ParseInt(header.Get(schemas.HookHeaderBegan), 10, 64)
	id := t.ToolUseID
	switch t.Kind {
	case host.Prompt, host.Command:
		if id = t.PromptID; id == "" && enforcement.MayAct(t.Prompt, t.project.Settings.Policy) {
			id, c.unnamed = "prompt:", true // one answer of the user's counts once
		}
	case host.BeforeTool, host.AfterTool, host.ToolFailed, host.Permission:
	default:
		// A turn's end is reported again with what came of its tests.
		id, c.unnamed = "event:"+enforcement.Hash([]byte(header.Get(schemas.HookHeaderTests))), true
	}
	if id != "" && !strings.HasPrefix(id, unnamedCall) {
		c.key = strings.Join([]string{t.Session, t.Agent, t.Hook, id, enforcement.Hash(t.payload)}, "\x00")
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

// answer is what the host is told.
func (v *Service) answer(ctx context.Context, t turn) (host.Answer, error) {
	if err := schemas.Session(t.Session).Check(); err != nil {
		return host.Answer{}, err
	}
	if err := v.ensureStarted(ctx, t); err != nil {
		return host.Answer{}, err
	}
	t.command = sync.OnceValue(t.inspect)
	switch t.Kind {
	case host.SessionStart:
		return v.onSessionStart(ctx, t)
	case host.SessionEnd:
		v.heard(t)
		if _, err := v.afterwards.sinceEnded(ctx, t, t.Session, nil); err != nil {
			return host.Answer{}, err
		}
		return v.onSessionEnd(ctx, t)
	case host.Prompt, host.Command:
		return v.onPrompt(ctx, t)
	case host.BeforeTool:
		return v.onBeforeTool(ctx, t)
	case host.Permission:
		return v.onPermission(ctx, t)
	case host.AfterTool, host.ToolFailed:
		return v.onAfterTool(ctx, t)
	case host.SubagentStart:
		return v.onSubagentStart(ctx, t)
	case host.SubagentStop:
		return v.plain(ctx, t, enforcement.StopSubagent{SubagentStopped: schemas.SubagentStopped{AgentID: orUnknown(t.Agent), Message: t.Message}})
	case host.Stop:
		v.heard(t)
		return v.onStop(ctx, t)
	case host.BeforeCompact:
		v.heard(t)
		return v.plain(ctx, t, enforcement.Compact{ContextCompacted: schemas.ContextCompacted{Stage: "before", Trigger: t.Reason}})
	case host.Instructions:
		return v.onInstructions(ctx, t)
	case host.AfterCompact:
		return v.plain(ctx, t, enforcement.Compact{ContextCompacted: schemas.ContextCompacted{Stage: "after", Trigger: t.Reason}})
	default:
		return v.plain(ctx, t, enforcement.Observe{HookObserved: t.observed()})
	}
}

// heard lets what was said since the last time be observed.
func (v *Service) heard(t turn) {
	if t.Transcript != "" && t.project.Settings.Memory {
		v.Memories.Heard(t.Session, t.project.Root, t.Transcript)
	}
}

func orUnknown(id string) string {
	if id == "" {
		return "unknown"
	}
	return id
}

func (t turn) observed() schemas.HookObserved {
	return schemas.HookObserved{Host: t.Host, Hook: t.Hook, Fields: host.Fields(t.payload), Digest: enforcement.Hash(t.payload), Bytes: len(t.payload)}
}

// plain takes a command whose outcome needs nothing but the record.
func (v *Service) plain(ctx context.Context, t turn, c enforcement.Command) (host.Answer, error) {
	decision, _, err := v.Sessions.Act(ctx, t.Session, t.agent(), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
		return enforcement.Decide(s, c)
	})
	return host.Answer{Context: decision.Context, Notice: decision.Notice}, err
}

// agent is who calls: the host's agent, or the sub-agent that it names. The
// session is that of the events.
func (t turn) agent() schemas.Actor { return schemas.Agent(t.Host, "", t.Agent) }

// ensureStarted registers a session that Writ meets in the middle: the project
// was put under guard while a conversation was open, or the host gave no start.
func (v *Service) ensureStarted(ctx context.Context, t turn) error {
	if t.Kind == host.SessionStart {
		return nil
	}
	state, _, err := v.Sessions.State(ctx, t.Session)
	if err != nil || state.Host != "" {
		return err
	}
	started := v.startedIn(ctx, t, "met")
	_, _, err = v.Sessions.Act(ctx, t.Session, t.agent(), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
		if s.Host != "" {
			return enforcement.Decision{}, nil
		}
		return enforcement.Decide(s, enforcement.StartSession{SessionStarted: started})
	})
	return err
}

func (t turn) started(source string) schemas.SessionStarted {
	return schemas.SessionStarted{
		Host: t.Host, Source: source, Project: t.project.Root, Dir: t.Dir, Model: t.Model,
		Transcript: t.Transcript, AgentType: t.AgentType,
		Mode: t.project.Settings.Mode, Subagents: t.project.Settings.Policy.Subagents,
	}
}

// startedIn says of a main session which repository it is in, too. Sub-agents work
// where their parents do.
func (v *Service) startedIn(ctx context.Context, t turn, source string) schemas.SessionStarted {
	started := t.started(source)
	if r := v.Repository(ctx, t.project.Root); r != (schemas.Repository{}) {
		started.Repository = &r
	}
	return started
}

func (v *Service) onSessionStart(ctx context.Context, t turn) (host.Answer, error) {
	v.Files.Began(t.project.Root, t.project.Settings.Files)
	band := v.Rules.Current().Mandatory()
	started := v.startedIn(ctx, t, t.Source)
	forgot := t.Source == "resume" && t.Facts.ForgetsHooks
	var again, text string
	decision, state, err := v.Sessions.Act(ctx, t.Session, t.agent(), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
		again = ""
		if t.Source == "compact" {
			again = v.in.resume(s)
		}
		start, err := enforcement.Decide(s, enforcement.StartSession{SessionStarted: started})
		if text = band.Text; instructed(s, band) || t.Source == "resume" && !forgot && Band(v.Rules.Current(), s) == "" {
			text = ""
		}
		if forgot && s.Host != "" { // what was shown is as lost as by a compaction
			start.Record = append(start.Record, schemas.ContextCompacted{Stage: "before", Trigger: t.Source})
		}
		if err != nil || text == "" {
			return start, err
		}
		return v.in.withShown(t, s, start, "session", mandatoryShown(band), band.Tokens)
	})
	if err != nil {
		return host.Answer{}, err
	}
	where := cmp.Or(decision.Context, state.Position())
	if under := t.project.Settings.Policy.Under; under != nil {
		where = under.Guidance()
	}
	v.greeted.keep(t.Session, where)
	return host.Answer{
		Context: join(greeting, where, again, text),
		Notice:  decision.Notice,
	}, nil
}

func (v *Service) onPrompt(ctx context.Context, t turn) (host.Answer, error) {
	var shown prompted
	var again string
	earlier, err := v.afterwards.sinceEnded(ctx, t, t.Session, nil)
	if err != nil {
		return host.Answer{}, err
	}
	act := cmp.Or(t.PromptID, t.asker, bus.NewID())
	if t.Kind == host.Prompt { // the host may give one id to all that is typed in a turn
		act += ":" + enforcement.Hash([]byte(t.Prompt))
	}
	var handed, unread bool
	if enforcement.MayAct(t.Prompt, t.project.Settings.Policy) {
		if handed, err = v.Sessions.HandedIn(ctx, t.project.Root, t.Prompt); err != nil {
			v.Logger.Warn("look for a prompt among what tools handed in", "session", t.Session, "error", err)
			unread = true
		}
	}
	decision, state, err := v.Sessions.Act(ctx, t.Session, promptActor(t), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
		decision, err := enforcement.Decide(s, enforcement.SubmitPrompt{
			Prompt: strings.ToValidUTF8(t.Prompt, "�"), ActID: "prompt:" + act, PromptID: t.PromptID, Origin: t.Origin,
			Command: t.Command, Arguments: t.Args, Expands: t.Facts.ExpandsCommands, Agent: t.Agent, Handed: handed, Unread: unread, Late: t.overdue(v.Now()), Shown: v.shown.of(t.Session),
			Workspace: v.Sessions.Approvable(ctx, t.project, t.Session, s), Settings: t.project.Settings.Policy,
		})
		if err != nil || t.Kind == host.Command || t.overdue(v.Now()) {
			return decision, err // what nobody waits for is recorded, and shows nothing
		}
		again = v.in.resume(s)
		shown = v.in.forPrompt(ctx, t, s, decision, len(again))
		return v.in.withShown(t, s, decision, "prompt", shown.rules, shown.tokens)
	}, t.asker)
	if err != nil {
		return host.Answer{}, err
	}
	if t.overdue(v.Now()) { // nobody reads the answer: what is untold stays so
		return host.Answer{Notice: join(earlier.Notice, decision.Notice)}, nil
	}
	if o := decision.Offer; o != nil && !approves(decision) && len(o.Problems) == 0 {
		v.shown.keep(t.Session, o.Fingerprint)
	} else if o != nil {
		v.shown.keep(t.Session, "")
	}
	own := decision.Context
	if own == "" && (t.Kind != host.Prompt || v.greeted.of(t.Session) != state.Guidance()) { // else it was just told
		own = state.Position()
	}
	v.greeted.keep(t.Session, "")
	untold := v.untold.of(t.Session)
	v.untold.keep(t.Session, "")
	var remembered, files string
	if t.Kind == host.Prompt && !approves(decision) && t.Agent == "" {
		room := injectedChars - len(own) - len(again) - len(shown.band) - len(shown.block)
		if t.project.Settings.Memory {
			remembered = v.Memories.ForPrompt(ctx, t.Session, t.project.Root, t.Prompt, room)
		}
		if t.project.Settings.Files {
			files = v.Files.ForPrompt(ctx, t.Session, t.AgentType, t.project.Root, t.Prompt, room-len(remembered))
		}
	}
	return host.Answer{Context: join(own, earlier.Context, again, shown.band, shown.block, remembered, files), Notice: join(earlier.Notice, untold, decision.Notice, v.waiting.ask(t))}, nil
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
