package cli

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
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/writbus/writ/cmd/writ/cli/claude"
	"github.com/writbus/writ/cmd/writd/config"
	"github.com/writbus/writ/schemas"
)

// probeBudget bounds one probe of a hook: the hook's own budget, and the time
// a loaded machine takes to start a process.
const probeBudget = 5 * time.Second

// project checks an installation and drives its hooks.
func (e *examination) project(ctx context.Context, dir string) {
	root, found := config.FindProject(dir)
	if !found {
		e.warn("project", "Writ guards nothing at or above "+dir, "`writ init` installs it in a project.")
		return
	}
	settings, err := config.LoadProject(root)
	if err != nil {
		e.fail("project", oneLine(err.Error()), "Until it is repaired the strictest settings hold.")
	} else {
		e.ok("project", fmt.Sprintf("%s, mode %s, fails %s", root, dash(settings.Mode), settings.Fail))
	}
	if settings.Fail == "open" {
		e.warn("fail mode", "fail: open lets writes pass while the daemon is down", "Remove it from "+filepath.Join(root, config.ProjectFile)+" unless you want that.")
	}
	path := filepath.Join(root, ".claude", "settings.json")
	text, err := os.ReadFile(path)
	if err != nil {
		e.fail("hooks", path+" cannot be read: "+err.Error(), "`writ init` installs the hooks.")
		return
	}
	hooks, err := claude.Installed(text)
	if err != nil {
		e.fail("hooks", path+": "+oneLine(err.Error()), "Claude Code ignores a file it cannot read: repair it.")
		return
	}
	missing, _ := claude.Missing(text)
	switch {
	case len(hooks) == 0:
		e.fail("hooks", "there are none of Writ's in "+path, "`writ init` installs them.")
		return
	case claude.Disabled(text):
		e.fail("hooks", "\"disableAllHooks\" is true in "+path, "Remove it: no hook runs.")
	case len(missing) > 0:
		e.fail("hooks", "missing for "+strings.Join(missing, ", "), "`writ init` adds them.")
	default:
		e.ok("hooks", plural(len(hooks), "hook", "hooks")+" in "+path)
	}
	e.drive(ctx, root, settings, hooks)
}

// drive runs the configured command lines with made-up payloads.
func (e *examination) drive(ctx context.Context, root string, settings config.Project, hooks []claude.Hook) {
	id, err := uuid.NewV7()
	if err != nil {
		e.fail("probe", err.Error(), "")
		return
	}
	session := "writ-doctor-" + id.String()
	for _, h := range hooks {
		switch h.Event {
		case eventPreToolUse:
			e.probe(ctx, root, h, "write probe", toolPayload(session, root, "Write", map[string]any{
				"file_path": filepath.Join(root, "writ-doctor-probe.go"), "content": "package probe\n",
			}), mustRefuse(settings))
			e.probe(ctx, root, h, "read probe", toolPayload(session, root, "Read", map[string]any{
				"file_path": filepath.Join(root, "README.md"),
			}), mustPass)
		case "SessionEnd":
			e.probe(ctx, root, h, "session probe", map[string]any{
				"session_id": session, "cwd": root, "hook_event_name": h.Event, "reason": "other",
			}, mustPass)
		}
	}
}

func toolPayload(session, root, tool string, input map[string]any) map[string]any {
	return map[string]any{
		"session_id": session, "cwd": root, "hook_event_name": eventPreToolUse, "permission_mode": "default",
		"tool_name": tool, "tool_input": input, "tool_use_id": "toolu_" + session + "_" + tool,
	}
}

// judgement looks at a hook's answer, and returns what is wrong with it.
type judgement func(reply schemas.HookReply) (detail string, err error)

func mustRefuse(settings config.Project) judgement {
	return func(reply schemas.HookReply) (string, error) {
		if settings.Mode == "conversation" || settings.Mode == "debug" {
			return "answered (mode " + settings.Mode + " does not refuse it)", nil
		}
		reason, denied := denial(reply)
		switch {
		case !denied || reply.Exit != 2:
			return "", fmt.Errorf("a write in a session without approval passed (exit code %d)", reply.Exit)
		case strings.Contains(reason, "could not judge"):
			return "", errors.New(reason)
		}
		return "refused, as it must be: " + shorten(oneLine(reason), 100), nil
	}
}

func mustPass(reply schemas.HookReply) (string, error) {
	if reason, denied := denial(reply); denied || reply.Exit != 0 {
		return "", fmt.Errorf("it was refused: %s", shorten(oneLine(reason+" "+reply.Stderr), 200))
	}
	var out struct {
		Message string `json:"systemMessage"`
	}
	if json.Unmarshal([]byte(reply.Stdout), &out) == nil && strings.HasPrefix(out.Message, "Writ did not see") {
		return "", errors.New(out.Message)
	}
	return "passed, as it must", nil
}

// denial reads Claude Code's form of a refusal.
func denial(reply schemas.HookReply) (reason string, denied bool) {
	var out struct {
		Specific struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	_ = json.Unmarshal([]byte(reply.Stdout), &out)
	return out.Specific.Reason, out.Specific.Decision == "deny"
}

func (e *examination) probe(ctx context.Context, root string, h claude.Hook, check string, payload any, judge judgement) {
	began := time.Now()
	reply, err := e.app.runHookLine(ctx, root, h, payload)
	if err == nil {
		var detail string
		if detail, err = judge(reply); err == nil {
			e.ok(check, fmt.Sprintf("%s %s (%s)", h.Event, detail, time.Since(began).Round(100*time.Microsecond)))
			return
		}
	}
	e.fail(check, h.Event+": "+oneLine(err.Error()), "Check the command line in .claude/settings.json; `writ init` writes it anew.")
}

// runHookLine runs a hook as Claude Code would: its command line, the payload
// on standard input, the project in the environment.
func (a *app) runHookLine(ctx context.Context, root string, h claude.Hook, payload any) (schemas.HookReply, error) {
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
	cmd.Env = append(hostVars(a.env.Vars), "CLAUDE_PROJECT_DIR="+root)
	err = cmd.Run()
	reply := schemas.HookReply{Stdout: out.String(), Stderr: problems.String(), Exit: cmd.ProcessState.ExitCode()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return reply, fmt.Errorf("it did not answer within %s", probeBudget)
	case err != nil && !errors.As(err, &exit):
		return reply, err
	case reply.Exit != 0 && reply.Exit != 2:
		return reply, fmt.Errorf("it ended with code %d, which lets every action pass: %s", reply.Exit, shorten(oneLine(reply.Stderr), 200))
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
