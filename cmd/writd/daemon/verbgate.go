package daemon

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writd/verbs"
	"github.com/writbus/writ/cmd/writd/verbs/workspace"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/enforcement/host"
)

// agentHost is what the log calls the host of the agents that Writ runs itself.
const agentHost = "writ"

// verbGate asks about what agents of the command language do, as about the tools
// of any other host. In a guarded project a conversation is a session of its own,
// under the id of its run. Where no project is guarded, what is never an agent's
// to write stays so, and nothing is recorded beyond the command itself.
type verbGate struct{ d *Daemon }

// Ask decides.
func (g verbGate) Ask(ctx context.Context, c verbs.Call, a workspace.Act) (workspace.Decision, error) {
	t, guarded, err := g.turn(c, a, host.BeforeTool, bus.NewID())
	if err != nil {
		return workspace.Decision{}, err
	}
	if !guarded {
		return g.unguarded(t, a)
	}
	answer, err := g.d.answerHook(ctx, t)
	if err != nil {
		return workspace.Decision{}, err
	}
	state, _, err := g.d.sessions.state(ctx, t.Session)
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
	t, guarded, err := g.turn(c, a, kind, ticket)
	if err != nil || !guarded {
		return "", err
	}
	t.Error, t.Millis = r.Error, r.Millis
	answer, err := g.d.answerHook(ctx, t)
	return join(answer.Context, answer.Notice), err
}

// turn is an act as a hook would report it. The project is the one around the
// workspace; guarded is false where there is none.
func (g verbGate) turn(c verbs.Call, a workspace.Act, kind host.Kind, id string) (t turn, guarded bool, err error) {
	dir := resolved(c.Workspace)
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
		return turn{}, false, err
	}
	root, guarded := config.FindGuarded(g.d.layout.Root, dir)
	if !guarded {
		root = dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/"
	}
	t = turn{Call: call, payload: call.Input}
	if guarded {
		t.project = g.d.projectAt(root, home)
	} else {
		t.project = project{root: root, layout: enforcement.Layout{
			Project: filepath.ToSlash(root), Home: filepath.ToSlash(resolved(home)), DataDir: filepath.ToSlash(resolved(g.d.layout.Root)), Temp: tempFolders(),
		}}
	}
	return t, guarded, nil
}

// unguarded is the decision where no project has gates: what conversation mode
// allows. What a person was asked about and confirmed, the handler lets pass.
func (g verbGate) unguarded(t turn, a workspace.Act) (workspace.Decision, error) {
	if a.Path != "" {
		return workspace.Decision{Verdict: dialect.Allow}, nil // the handler asks about settings itself
	}
	state := enforcement.State{Mode: enforcement.ModeConversation}
	request := enforcement.RequestTool{
		Tool: t.Tool, ToolUseID: t.ToolUseID, Settings: enforcement.DefaultSettings(), Digest: digest(t.Input), Bytes: len(t.Input),
		Shell: enforcement.Inspect(t.project.layout, filepath.ToSlash(t.Dir), a.Command, nil, readlink),
	}
	decided, err := enforcement.Decide(state, request)
	if err != nil {
		return workspace.Decision{}, err
	}
	d := workspace.Decision{Verdict: verdictOf(verdict(decided.Verdict)), Reason: decided.Reason, Ticket: t.ToolUseID}
	return g.runs(d, t, a, state), nil
}

// runs says how a command is run: under the runner that confines it and ends all
// that it started. Where that is not to be had, what nobody can judge takes a
// person's word, in every mode.
func (g verbGate) runs(d workspace.Decision, t turn, a workspace.Act, s enforcement.State) workspace.Decision {
	if a.Command == "" || d.Verdict == dialect.Deny {
		return d
	}
	if g.d.confined.writ == "" {
		if d.Verdict == dialect.Allow && t.untold() {
			d.Verdict, d.Reason = dialect.Ask, "nobody can tell what this command writes, and commands cannot be confined here ("+g.d.confined.why+")"
		}
		return d
	}
	d.Supervised = true
	d.Env = []string{"WRIT_HOME=" + g.d.layout.Root}
	d.Argv = append([]string{g.d.confined.writ, "confine", "--whole", "--quiet"}, confineOptions(t.project.root, s, false)...)
	d.Argv = append(d.Argv, "--shell", confinedShell(), "-c", a.Command)
	return d
}

// untold reports a command of which nobody can tell what it writes.
func (t turn) untold() bool {
	c := enforcement.Inspect(t.project.layout, filepath.ToSlash(t.Dir), *t.Shell, nil, readlink)
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
