package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/host/hosts"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// maxReason bounds a refusal's text, in characters; agents lose the thread of
// longer ones.
const maxReason = 600

// maxCause bounds the part of it that comes from a lower layer: that writd is
// missing comes with the line that installs it.
const maxCause = 270

// EventPreToolUse is Claude Code's event before a tool runs.
const EventPreToolUse = "PreToolUse"

// writers are the tools of Claude Code that can change files; tools of MCP
// servers may.
var writers = []string{"Write", "Edit", "MultiEdit", "NotebookEdit", "Bash", "PowerShell", "Monitor"}

func (c hookCall) writes() bool {
	return slices.Contains(writers, c.Tool) || strings.HasPrefix(c.Tool, "mcp__")
}

// gates says whether the call is one that must not pass unjudged. A payload
// too broken to name its tool is judged by its event, and one that names
// nothing at all is refused: hooks are installed for little that is harmless.
func (c hookCall) gates() bool {
	switch {
	case c.Event == EventPreToolUse:
		return c.Tool == "" || c.writes()
	case c.Event == "":
		return true
	}
	return false
}

// unguarded is the answer in a project without Writ: nothing, except for hosts
// that take nothing for a failure.
func (h *hook) unguarded(call hookCall) schemas.HookReply {
	if h.agent == agentClaude {
		return schemas.HookReply{}
	}
	return hosts.Render(h.parsed(call), host.Answer{})
}

// agentClaude is the host whose payloads the client itself knows enough of.
const agentClaude = "claude"

// parsed is a call as far as its payload can be read.
func (h *hook) parsed(call hookCall) host.Call {
	parsed, _ := hosts.Parse(h.agent, call.Event, call.payload)
	return parsed
}

// gates says whether a call of any host must not pass unjudged.
func (h *hook) gates(call hookCall) bool {
	if h.agent == agentClaude {
		return call.gates()
	}
	parsed, err := hosts.Parse(h.agent, call.Event, call.payload)
	switch {
	case parsed.Kind == host.BeforeTool:
		return err != nil || !parsed.Harmless()
	case parsed.Hook == "":
		return true
	}
	return false
}

// failing is the answer when the daemon gave none.
func (h *hook) failing(call hookCall, cause error) schemas.HookReply {
	root := h.project.Load()
	if root == nil {
		return h.unguarded(call)
	}
	why := client.Shorten(h.causeOf(cause), maxCause)
	if !h.gates(call) {
		return h.warning(call, fmt.Sprintf("Writ did not see %s: %s. Run `writ doctor` in a terminal.", call.subject(), why))
	}
	open, err := h.failsOpen(*root)
	if open {
		return h.warning(call, fmt.Sprintf("Writ could NOT judge %s and let it pass, because .writ/config.yaml says `fail: open`: %s. "+
			"Run `writ doctor` in a terminal.", call.subject(), why))
	}
	if err != nil {
		why += "; and its settings cannot be read: " + client.Shorten(client.OneLine(err.Error()), maxCause/2)
	}
	return h.refusal(call, client.Shorten(fmt.Sprintf("Writ refused %s, since it could not judge it: %s. "+
		"Nothing was written. Ask the user to run `writ doctor` in a terminal; it says what to repair. "+
		"(`fail: open` in .writ/config.yaml, accepted by the user, lets writes pass while the daemon is down.)",
		call.subject(), why), maxReason))
}

// refusal is a refusal in the form of the hook's host.
func (h *hook) refusal(call hookCall, reason string) schemas.HookReply {
	if h.agent == agentClaude {
		return refusal(reason)
	}
	parsed := h.parsed(call)
	if parsed.Kind != host.BeforeTool {
		// Nothing can be read of the payload: it is refused as a tool's call.
		parsed.Kind, parsed.Hook = host.BeforeTool, toolEvents[h.agent]
	}
	return hosts.Render(parsed, host.Answer{Verdict: host.Refuse, Reason: reason})
}

// toolEvents are the events before a tool, by the names of each host.
var toolEvents = map[string]string{
	"cursor": "preToolUse", "codex": EventPreToolUse, "gemini": "BeforeTool", "copilot": "preToolUse", "opencode": "tool.execute.before",
}

// warning lets the action pass and tells the user, where the host lets it.
func (h *hook) warning(call hookCall, text string) schemas.HookReply {
	if h.agent == agentClaude {
		return warning(text)
	}
	return hosts.Render(h.parsed(call), host.Answer{Notice: text})
}

// failsOpen says whether the user lets writes pass that nobody judged, and accepted
// that while the daemon ran: the file may be anybody's. The
// project the session was started in has to agree: a settings file in a folder
// an agent made for itself decides nothing.
func (h *hook) failsOpen(root string) (bool, error) {
	roots := []string{root}
	if started, found := h.app.FindProject(h.app.Env.Getenv("CLAUDE_PROJECT_DIR")); found && started != root {
		roots = append(roots, started)
	}
	for _, root := range roots {
		settings, err := config.LoadProject(root)
		if err != nil || settings.Fail != "open" {
			return false, err
		}
		if dataDir, err := h.app.Env.DataDir(); err != nil || !config.MayOpen(dataDir, root) {
			return false, err
		}
	}
	return true, nil
}

func (c hookCall) subject() string {
	switch {
	case c.Tool != "" && c.Path != "":
		return c.Tool + " " + client.Shorten(c.Path, 120)
	case c.Tool != "":
		return c.Tool
	case c.Event != "":
		return client.Shorten(c.Event, 60)
	}
	return "this action"
}

// causeOf says for a person what went wrong, without the layers it passed.
func (h *hook) causeOf(err error) string {
	var service *bus.ServiceError
	late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, bus.ErrUnavailable)
	if dataDir, unknown := h.app.Env.DataDir(); late && unknown == nil {
		if said := client.Starting(dataDir); said != "" {
			return "the daemon still starts: " + said
		}
	}
	switch {
	case errors.As(err, &service):
		return "the daemon answered: " + client.OneLine(service.Text)
	case errors.Is(err, launch.ErrNoBinary), errors.Is(err, launch.ErrDied):
		return "the daemon could not be started: " + strings.TrimPrefix(client.OneLine(err.Error()), "launch: ")
	case errors.Is(err, bus.ErrTooLarge):
		return "the payload is larger than the daemon accepts"
	case late:
		return "the daemon did not answer in time"
	}
	return excerpt.Plain(client.OneLine(err.Error()))
}

// refusal is Claude Code's JSON on stdout, the reason on stderr, and exit code
// 2: each host honours at least one of them.
func refusal(reason string) schemas.HookReply {
	return schemas.HookReply{
		Stdout: compactJSON(map[string]any{"hookSpecificOutput": map[string]any{
			"hookEventName":            EventPreToolUse,
			"permissionDecision":       "deny",
			"permissionDecisionReason": reason,
		}}),
		Stderr: reason + "\n",
		Exit:   2,
	}
}

// warning lets the action pass and tells the user.
func warning(text string) schemas.HookReply {
	return schemas.HookReply{Stdout: compactJSON(map[string]any{"systemMessage": text})}
}

// compactJSON is one line, without HTML's escapes.
func compactJSON(value any) string {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic("cli: a value of this package does not marshal: " + err.Error())
	}
	return buf.String()
}

// AgentNames lists the agents whose hooks are known, for a sentence.
func AgentNames() string {
	last := len(hosts.Names) - 1
	return strings.Join(hosts.Names[:last], ", ") + " and " + hosts.Names[last]
}
