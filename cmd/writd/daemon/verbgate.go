package daemon

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine/runner"
	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/enforcement/turn"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/observer/agent/verbs/workspace"
)

// agentHost is what the log calls the host of the agents that Writ runs itself.
const agentHost = "writ"

// verbGate asks about what agents of the command language do, as about the tools
// of any other host. In a guarded project a conversation is a session of its own,
// under the id of its run. Where no project is guarded, what is never an agent's
// to write stays so, and nothing is recorded beyond the command itself.
type verbGate struct{ d *Daemon }

// verbAct is an act as a hook would report it, in its project.
type verbAct struct {
	host.Call
	project project.Project
}

// Ask decides.
func (g verbGate) Ask(ctx context.Context, c verbs.Call, a workspace.Act) (workspace.Decision, error) {
	t, guarded, err := g.act(c, a, host.BeforeTool, bus.NewID())
	if err != nil {
		return workspace.Decision{}, err
	}
	if !guarded {
		return g.unguarded(t, a)
	}
	answer, err := g.d.turn.Take(ctx, t.Call, t.project)
	if err != nil {
		return workspace.Decision{}, err
	}
	state, _, err := g.d.sessions.State(ctx, t.Session)
	if err != nil {
		return workspace.Decision{}, err
	}
	d := workspace.Decision{Verdict: verdictOf(answer.Verdict), Reason: answer.Reason, Context: answer.Context, Ticket: t.ToolUseID}
	return g.runs(d, t, a, state), nil
}

// Done records what became of it.
func (g verbGate) Done(ctx context.Context, c verbs.Call, a workspace.Act, ticket string, r workspace.Report) (string, error) {
	kind := host.AfterTool
	if r.Failed {
		kind = host.ToolFailed
	}
	t, guarded, err := g.act(c, a, kind, ticket)
	if err != nil || !guarded {
		return "", err
	}
	t.Error, t.Millis = r.Error, r.Millis
	answer, err := g.d.turn.Take(ctx, t.Call, t.project)
	return join(answer.Context, answer.Notice), err
}

// act is one as a hook would report it. The project is the one around the
// workspace; guarded is false where there is none.
func (g verbGate) act(c verbs.Call, a workspace.Act, kind host.Kind, id string) (t verbAct, guarded bool, err error) {
	dir := project.Resolved(c.Workspace)
	call := host.Call{Host: agentHost, Kind: kind, Session: c.Run, AgentType: c.Agent, Dir: dir, ToolUseID: id, PromptID: c.Run}
	call.Hook = map[host.Kind]string{host.BeforeTool: "PreToolUse", host.AfterTool: "PostToolUse", host.ToolFailed: "PostToolUseFailure"}[kind]
	input := map[string]string{"command": a.Command}
	if a.Path != "" {
		content := string(a.Content)
		call.Tool, call.Writes = "Write", []host.Write{{Path: a.Path, Content: &content}}
		input = map[string]string{"file_path": a.Path, "content": content}
	} else {
		call.Tool, call.Shell = "Bash", &a.Command
	}
	if call.Input, err = json.Marshal(input); err != nil {
		return verbAct{}, false, err
	}
	root, guarded := config.FindGuarded(g.d.layout.Root, dir)
	if !guarded {
		root = dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/"
	}
	if guarded {
		return verbAct{call, g.d.projects.At(root, home)}, true, nil
	}
	return verbAct{call, projectOptions(g.d.layout.Root, nil).Bare(root, home)}, false, nil
}

// unguarded is the decision where no project has gates: what conversation mode
// allows. What a person was asked about and confirmed, the handler lets pass.
func (g verbGate) unguarded(t verbAct, a workspace.Act) (workspace.Decision, error) {
	if a.Path != "" {
		return workspace.Decision{Verdict: dialect.Allow}, nil // the handler asks about settings itself
	}
	state := enforcement.State{Mode: enforcement.ModeConversation}
	request := enforcement.RequestTool{
		Tool: t.Tool, ToolUseID: t.ToolUseID, Settings: enforcement.DefaultSettings(), Digest: project.Digest(t.Input), Bytes: len(t.Input),
		Shell: enforcement.Inspect(t.project.Layout, filepath.ToSlash(t.Dir), a.Command, nil, project.Readlink),
	}
	decided, err := enforcement.Decide(state, request)
	if err != nil {
		return workspace.Decision{}, err
	}
	d := workspace.Decision{Verdict: verdictOf(turn.Verdict(decided.Verdict)), Reason: decided.Reason, Ticket: t.ToolUseID}
	return g.runs(d, t, a, state), nil
}

// runs says how a command is run: under the runner that confines it and ends all
// that it started. Where that is not to be had, what nobody can judge takes a
// person's word, in every mode.
func (g verbGate) runs(d workspace.Decision, t verbAct, a workspace.Act, s enforcement.State) workspace.Decision {
	if a.Command == "" || d.Verdict == dialect.Deny {
		return d
	}
	if g.d.runner.Writ == "" {
		if d.Verdict == dialect.Allow && t.unjudged() {
			d.Verdict, d.Reason = dialect.Ask, "nobody can tell what this command writes, and commands cannot be confined here ("+g.d.runner.Why+")"
		}
		return d
	}
	d.Supervised = true
	d.Env = []string{"WRIT_HOME=" + g.d.layout.Root}
	d.Argv = append([]string{g.d.runner.Writ, "confine", "--whole", "--quiet"}, runner.Options(t.project.Root, s, false)...)
	d.Argv = append(d.Argv, "--shell", runner.Shell(), "-c", a.Command)
	return d
}

// unjudged reports a command of which nobody can tell what it writes.
func (t verbAct) unjudged() bool {
	c := enforcement.Inspect(t.project.Layout, filepath.ToSlash(t.Dir), *t.Shell, nil, project.Readlink)
	return c.Effect == enforcement.EffectCannotTell
}

func verdictOf(v host.Verdict) dialect.Verdict {
	switch v {
	case host.Pass:
		return dialect.Allow
	case host.AskUser:
		return dialect.Ask
	case host.Refuse:
	}
	return dialect.Deny
}
