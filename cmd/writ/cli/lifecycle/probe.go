package lifecycle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/host/hosts"
	"github.com/writbus/writ/enforcement/host/install"
	"github.com/writbus/writ/enforcement/host/settings"
	"github.com/writbus/writ/schemas"
)

// probeBudget bounds one probe of a hook: the hook's own budget, and the time
// a loaded machine takes to start a process.
const probeBudget = 10 * time.Second

// project checks an installation and drives its hooks.
func (e *examination) project(ctx context.Context, dir string) {
	root, found := config.FindProject(dir)
	if !found {
		e.warn("project", "Writ guards nothing at or above "+dir, "`writ init` installs it in a project.")
		return
	}
	project, err := config.LoadProject(root)
	if err != nil {
		e.fail("project", client.OneLine(err.Error()), "Until it is repaired the strictest settings hold.")
	} else {
		mode := "no mode to begin with"
		if project.Mode != "" {
			mode = "mode " + project.Mode
		}
		e.ok("project", fmt.Sprintf("%s, %s, fails %s", root, mode, project.Fail))
	}
	if project.Fail == "open" {
		e.warn("fail mode", "fail: open lets writes pass while the daemon is down", "Remove it from "+filepath.Join(root, config.ProjectFile)+" unless you want that.")
	}
	none := true
	for _, agent := range hosts.Agents {
		hooks, path, err := install.Hooks(root, agent)
		if err != nil && !mentionsWrit(path) {
			continue // not Writ's to judge
		}
		if err != nil {
			none = false
			e.fail("hooks", path+": "+client.OneLine(err.Error()), agent.Title+" ignores a file it cannot read: repair it.")
			continue
		}
		if len(hooks) > 0 {
			none = false
			e.hooks(ctx, root, project, agent, hooks, path)
		}
	}
	if none {
		e.fail("hooks", "there are none of Writ's in "+root, "`writ init` installs them.")
	}
}

func mentionsWrit(path string) bool {
	text, err := os.ReadFile(path)
	return err != nil || bytes.Contains(text, []byte("writ"))
}

// hooks checks the hooks of one agent.
func (e *examination) hooks(ctx context.Context, root string, project config.Project, agent settings.Agent, hooks []settings.Hook, path string) {
	again := "`writ init --agent " + agent.Name + "`"
	var missing, outdated []string
	off := false
	if agent.Settings != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			e.fail("hooks", path+": "+err.Error(), again+" installs the hooks.")
			return
		}
		missing, _ = agent.Host.Missing(text)
		outdated, _ = agent.Host.Outdated(text)
		off = agent.Off != "" && settings.Disabled(text, agent.Off)
	}
	switch {
	case off:
		e.fail("hooks", fmt.Sprintf("%q is true in %s", agent.Off, path), "Remove it: no hook runs.")
	case len(missing) > 0:
		e.fail("hooks", agent.Title+": missing for "+strings.Join(missing, ", "), again+" adds them.")
	case len(outdated) > 0:
		e.warn("hooks", agent.Title+": called for other tools than this version judges, at "+strings.Join(outdated, ", "), again+" brings them up to date.")
	case namesThisMachine(hooks):
		e.warn("hooks", agent.Title+": those in "+path+" name a path of this machine, so the file cannot be committed", again+" has them name a link in the home folder.")
	default:
		e.ok("hooks", agent.Title+": "+client.Plural(len(hooks), "hook", "hooks")+" in "+path)
	}
	e.drive(ctx, root, project, agent, hooks)
}

// namesThisMachine says whether hooks run writ by a path that holds here alone.
func namesThisMachine(hooks []settings.Hook) bool {
	return runtime.GOOS != "windows" && slices.ContainsFunc(hooks, func(h settings.Hook) bool {
		return !strings.Contains(h.Command, settings.AtHome) && strings.ContainsRune(h.Command, '/')
	})
}

// drive runs the configured command lines with made-up payloads.
func (e *examination) drive(ctx context.Context, root string, project config.Project, agent settings.Agent, hooks []settings.Hook) {
	id, err := uuid.NewV7()
	if err != nil {
		e.fail("probe", err.Error(), "")
		return
	}
	session := schemas.ProbeSession + id.String()
	for _, p := range hosts.Probes(agent.Name, session, root) {
		judge := judgement(mustPass)
		if p.Writes {
			judge = mustRefuse(project, p.Exit)
		}
		for _, h := range hooks {
			if h.Event == p.Event {
				e.probe(ctx, root, agent, h, p, judge)
			}
		}
	}
}

// errUnjudged is a hook's answer that no daemon gave.
var errUnjudged = errors.New("no daemon answered")

// judgement looks at a hook's answer, and returns what is wrong with it.
type judgement func(reply schemas.HookReply) (detail string, err error)

func mustRefuse(project config.Project, exit int) judgement {
	return func(reply schemas.HookReply) (string, error) {
		if slices.Contains([]string{"conversation", "debug", "small"}, project.Mode) {
			return "answered (mode " + project.Mode + " does not refuse it)", nil
		}
		reason, denied := host.Refusal(reply)
		switch {
		case !denied || reply.Exit != exit:
			return "", fmt.Errorf("a write in a session without approval passed (exit code %d)", reply.Exit)
		case strings.Contains(reason, "could not judge"):
			return "", fmt.Errorf("%w: %s", errUnjudged, reason)
		}
		return "refused, as it must be: " + client.Shorten(client.OneLine(reason), 100), nil
	}
}

func mustPass(reply schemas.HookReply) (string, error) {
	if reason, denied := host.Refusal(reply); denied || reply.Exit != 0 {
		return "", fmt.Errorf("it was refused: %s", client.Shorten(client.OneLine(reason+" "+reply.Stderr), 200))
	}
	for _, said := range host.Remarks(reply) {
		if strings.HasPrefix(said, "Writ did not see") {
			return "", fmt.Errorf("%w: %s", errUnjudged, said)
		}
	}
	return "passed, as it must", nil
}

func (e *examination) probe(ctx context.Context, root string, agent settings.Agent, h settings.Hook, p host.Probe, judge judgement) {
	began := time.Now()
	reply, err := e.app.runHookLine(ctx, root, h, p.Payload)
	if err == nil {
		var detail string
		if detail, err = judge(reply); err == nil {
			e.ok(p.Check, fmt.Sprintf("%s %s %s (%s)", agent.Title, h.Event, detail, time.Since(began).Round(100*time.Microsecond)))
			return
		}
	}
	todo := "Check the command line in " + agent.HookFile() + "; `writ init --agent " + agent.Name + "` writes it anew."
	if errors.Is(err, errUnjudged) {
		todo = "The hook runs; it is the daemon that has to be repaired."
	}
	e.fail(p.Check, agent.Title+" "+h.Event+": "+client.OneLine(err.Error()), todo)
}

// runHookLine runs a hook as its host would: its command line, the payload
// on standard input, the project in the environment.
func (a *app) runHookLine(ctx context.Context, root string, h settings.Hook, payload any) (schemas.HookReply, error) {
	ctx, cancel := context.WithTimeout(ctx, probeBudget)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.Command, h.Args...)
	if len(h.Args) == 0 {
		shell, flag := "sh", "-c"
		if runtime.GOOS == "windows" {
			shell, flag = "cmd", "/c"
		}
		cmd = exec.CommandContext(ctx, shell, flag, h.Command)
	}
	body, err := json.Marshal(payload)
	if err != nil {
		return schemas.HookReply{}, err
	}
	var out, problems bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = root, bytes.NewReader(body), &out, &problems
	cmd.Env = append(hostVars(a.Env.Vars), "CLAUDE_PROJECT_DIR="+root)
	err = cmd.Run()
	reply := schemas.HookReply{Stdout: out.String(), Stderr: problems.String(), Exit: cmd.ProcessState.ExitCode()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return reply, fmt.Errorf("it did not answer within %s", probeBudget)
	case err != nil && !errors.As(err, &exit):
		return reply, err
	case reply.Exit != 0 && reply.Exit != 2:
		return reply, fmt.Errorf("it ended with code %d, which lets every action pass: %s", reply.Exit, client.Shorten(client.OneLine(reply.Stderr), 200))
	}
	return reply, nil
}

// hostVars is the environment without what another session of a host left in
// it.
func hostVars(vars []string) []string {
	var kept []string
	for _, v := range vars {
		if !strings.HasPrefix(v, "CLAUDE") {
			kept = append(kept, v)
		}
	}
	return kept
}
