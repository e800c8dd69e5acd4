package gatekeeper

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/schemas/digest"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine/runner"
	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/observer/agent/verbs/workspace"
)

// Host is what the log calls the host of the agents that Writ runs itself.
const Host = "writ"

// Turn answers what a hook reports.
type Turn interface {
	Take(ctx context.Context, c host.Call, p project.Project) (host.Answer, error)
}

// Sessions knows what became of sessions.
type Sessions interface {
	State(ctx context.Context, id string) (enforcement.State, uint64, error)
}

// Projects reads guarded projects.
type Projects interface {
	At(root, home string) project.Project
}

// Options are what a gate works with. All are required.
type Options struct {
	Turn     Turn
	Sessions Sessions
	Projects Projects
	// Guarded finds the guarded project around a folder.
	Guarded func(dir string) (root string, guarded bool)
	Runner  runner.Runner
	DataDir string
}

// Gate asks about what agents of the command language do, as about the tools of
// any other host. In a guarded project a conversation is a session of its own,
// under the id of its run. Where no project is guarded, what is never an agent's
// to write stays so, and nothing is recorded beyond the command itself.
type Gate struct{ Options }

// act is one as a hook would report it, in its project.
type act struct {
	host.Call
	project project.Project
}

// Ask decides.
func (g *Gate) Ask(ctx context.Context, c verbs.Call, a workspace.Act) (workspace.Decision, error) {
	t, guarded, err := g.reported(c, a, host.BeforeTool, bus.NewID())
	if err != nil {
		return workspace.Decision{}, err
	}
	if !guarded {
		return g.unguarded(t, a)
	}
	answer, err := g.Turn.Take(ctx, t.Call, t.project)
	if err != nil {
		return workspace.Decision{}, err
	}
	state, _, err := g.Sessions.State(ctx, t.Session)
	if err != nil {
		return workspace.Decision{}, err
	}
	d := workspace.Decision{Verdict: verdictOf(answer.Verdict), Reason: answer.Reason, Context: answer.Context, Ticket: t.ToolUseID}
	return g.runs(d, t, a, state), nil
}

// Done records what became of it.
func (g *Gate) Done(ctx context.Context, c verbs.Call, a workspace.Act, ticket string, r workspace.Report) (string, error) {
	kind := host.AfterTool
	if r.Failed {
		kind = host.ToolFailed
	}
	t, guarded, err := g.reported(c, a, kind, ticket)
	if err != nil || !guarded {
		return "", err
	}
	t.Error, t.Millis = r.Error, r.Millis
	answer, err := g.Turn.Take(ctx, t.Call, t.project)
	return strings.TrimSpace(strings.TrimSpace(answer.Context) + "\n\n" + strings.TrimSpace(answer.Notice)), err
}

// reported is an act as a hook would report it. The project is the one around the
// workspace; guarded is false where there is none.
func (g *Gate) reported(c verbs.Call, a workspace.Act, kind host.Kind, id string) (t act, guarded bool, err error) {
	dir := project.Resolved(c.Workspace)
	call := host.Call{Host: Host, Kind: kind, Session: c.Run, AgentType: c.Agent, Dir: dir, ToolUseID: id, PromptID: c.Run}
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
		return act{}, false, err
	}
	root, guarded := g.Guarded(dir)
	if !guarded {
		root = dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/"
	}
	if guarded {
		return act{call, g.Projects.At(root, home)}, true, nil
	}
	return act{call, project.Options{DataDir: g.DataDir}.Bare(root, home)}, false, nil
}

// unguarded is the decision where no project has gates: what conversation mode
// allows. What a person was asked about and confirmed, the handler lets pass.
func (g *Gate) unguarded(t act, a workspace.Act) (workspace.Decision, error) {
	if a.Path != "" {
		return workspace.Decision{Verdict: dialect.Allow}, nil // the handler asks about settings itself
	}
	state := enforcement.State{Mode: enforcement.ModeConversation}
	request := enforcement.RequestTool{
		Tool: t.Tool, ToolUseID: t.ToolUseID, Settings: enforcement.DefaultSettings(), Digest: digest.Hex(t.Input), Bytes: len(t.Input),
		Shell: enforcement.Inspect(t.project.Layout, filepath.ToSlash(t.Dir), a.Command, nil, project.Readlink),
	}
	decided, err := enforcement.Decide(state, request)
	if err != nil {
		return workspace.Decision{}, err
	}
	d := workspace.Decision{Verdict: decidedVerdict(decided.Verdict), Reason: decided.Reason, Ticket: t.ToolUseID}
	return g.runs(d, t, a, state), nil
}

// runs says how a command is run: under the runner that confines it and ends all
// that it started. Where that is not to be had, what nobody can judge takes a
// person's word, in every mode.
func (g *Gate) runs(d workspace.Decision, t act, a workspace.Act, s enforcement.State) workspace.Decision {
	if a.Command == "" || d.Verdict == dialect.Deny {
		return d
	}
	if absent := g.Runner.Absent(); absent != "" {
		if d.Verdict == dialect.Allow && t.unjudged() {
			d.Verdict, d.Reason = dialect.Ask, "nobody can tell what this command writes, and commands cannot be confined here ("+absent+")"
		}
		return d
	}
	d.Supervised = true
	d.Env = []string{"WRIT_HOME=" + g.DataDir}
	d.Argv = append([]string{g.Runner.Writ, "confine", "--whole", "--quiet"}, runner.Options(t.project.Root, s, false)...)
	d.Argv = append(d.Argv, "--shell", runner.Shell(), "-c", a.Command)
	return d
}

// unjudged reports a command of which nobody can tell what it writes.
func (t act) unjudged() bool {
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

func decidedVerdict(v enforcement.Verdict) dialect.Verdict {
	switch v {
	case enforcement.Allow:
		return dialect.Allow
	case enforcement.Ask:
		return dialect.Ask
	case enforcement.Deny:
	}
	return dialect.Deny
}
