package hosts

import (
	"bytes"

	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/host/claude"
	"github.com/writbus/writ/enforcement/host/codex"
	"github.com/writbus/writ/enforcement/host/copilot"
	"github.com/writbus/writ/enforcement/host/cursor"
	"github.com/writbus/writ/enforcement/host/gemini"
	"github.com/writbus/writ/enforcement/host/opencode"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// Names are the hosts that have an adapter, as `writ hook` calls them.
var Names = []string{"claude", "cursor", "codex", "gemini", "copilot", "opencode"}

// adapter is what the package of a host offers.
type adapter struct {
	parse  func(event string, payload []byte) (host.Call, error)
	render func(host.Call, host.Answer) schemas.HookReply
	probes func(session, root string) []host.Probe
	queues host.Queues
}

var adapters = map[string]adapter{
	"claude":   {parseClaude, claude.Render, claude.Probes, claude.Queues},
	"codex":    {codex.Parse, codex.Render, codex.Probes, codex.Queues},
	"copilot":  {copilot.Parse, copilot.Render, copilot.Probes, copilot.Queues},
	"cursor":   {parseCursor, cursor.Render, cursor.Probes, cursor.Queues},
	"gemini":   {gemini.Parse, gemini.Render, gemini.Probes, gemini.Queues},
	"opencode": {opencode.Parse, opencode.Render, opencode.Probes, opencode.Queues},
}

// Parse reads a payload of a host. event is the event name the hook was
// configured for; the payload's own name wins. Cursor and Copilot run Claude
// Code's hooks as well, with payloads of their own: those say whose they are.
func Parse(agent, event string, payload []byte) (host.Call, error) {
	known, found := adapters[agent]
	if !found {
		return host.Call{}, host.ErrUnknownHost
	}
	c, err := known.parse(event, bytes.TrimPrefix(payload, []byte("\xef\xbb\xbf")))
	if err == nil {
		c.ReadTasks()
		c.ReadQueue(adapters[c.Host].queues)
	}
	return c, err
}

func parseClaude(event string, payload []byte) (host.Call, error) {
	return claude.Parse(event, payload, func(sender string) (host.Call, error) {
		if sender == "cursor" {
			return cursor.Parse(event, payload, true)
		}
		return copilot.Parse(event, payload)
	})
}

func parseCursor(event string, payload []byte) (host.Call, error) {
	return cursor.Parse(event, payload, false)
}

// ShortenPrompt cuts the prompt of a payload that has one as host.ShortenPrompt does,
// before it is sent on.
func ShortenPrompt(agent, event string, payload []byte) []byte {
	if len(payload) <= host.MaxPrompt {
		return payload
	}
	if c, err := Parse(agent, event, payload); err != nil || c.Kind != host.Prompt {
		return payload
	}
	return host.ShortenPrompts(payload)
}

// Origin is who submits a host's prompts where the environment of its hooks
// names an entry point that is not known to be a person's, "" where it does not.
func Origin(agent string, getenv func(string) string) string {
	if agent == "claude" {
		return claude.Origin(getenv)
	}
	return ""
}

// Render writes an answer for the host of a call. What the user is shown holds nothing
// that a terminal obeys: hosts print it as it is.
func Render(c host.Call, a host.Answer) schemas.HookReply {
	a.Reason, a.Notice = excerpt.Visible(a.Reason, "\t\n"), excerpt.Visible(a.Notice, "\t\n")
	return of(c.Host).render(c, a)
}

// Probes are the probes for an agent's hooks, in the shape of its payloads.
func Probes(agent, session, root string) []host.Probe { return of(agent).probes(session, root) }

// of is the adapter of a host; Claude Code's form is that of hosts nobody knows.
func of(agent string) adapter {
	if known, found := adapters[agent]; found {
		return known
	}
	return adapters["claude"]
}
