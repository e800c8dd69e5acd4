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
)

// Names are the hosts that have an adapter, as `writ hook` calls them.
var Names = []string{"claude", "cursor", "codex", "gemini", "copilot", "opencode"}

var queues = map[string]host.Queues{"claude": claude.Queues, "codex": codex.Queues, "copilot": copilot.Queues, "cursor": cursor.Queues, "gemini": gemini.Queues, "opencode": opencode.Queues}

// Parse reads a payload of a host. event is the event name the hook was
// configured for; the payload's own name wins. Cursor and Copilot run Claude
// Code's hooks as well, with payloads of their own: those say whose they are.
func Parse(agent, event string, payload []byte) (host.Call, error) {
	c, err := parse(agent, event, bytes.TrimPrefix(payload, []byte("\xef\xbb\xbf")))
	if err == nil {
		c.ReadTasks()
		c.ReadQueue(queues[c.Host])
	}
	return c, err
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

func parse(agent, event string, payload []byte) (host.Call, error) {
	switch agent {
	case "claude":
		return claude.Parse(event, payload, func(sender string) (host.Call, error) {
			if sender == "cursor" {
				return cursor.Parse(event, payload, true)
			}
			return copilot.Parse(event, payload)
		})
	case "cursor":
		return cursor.Parse(event, payload, false)
	case "codex":
		return codex.Parse(event, payload)
	case "gemini":
		return gemini.Parse(event, payload)
	case "copilot":
		return copilot.Parse(event, payload)
	case "opencode":
		return opencode.Parse(event, payload)
	}
	return host.Call{}, host.ErrUnknownHost
}

// Origin is who submits a host's prompts where the environment of its hooks
// names an entry point that is not known to be a person's, "" where it does not.
func Origin(agent string, getenv func(string) string) string {
	if agent == "claude" {
		return claude.Origin(getenv)
	}
	return ""
}

// Render writes an answer for the host of a call.
func Render(c host.Call, a host.Answer) schemas.HookReply {
	switch c.Host {
	case "cursor":
		return cursor.Render(c, a)
	case "codex":
		return codex.Render(c, a)
	case "gemini":
		return gemini.Render(c, a)
	case "copilot":
		return copilot.Render(c, a)
	case "opencode":
		return opencode.Render(c, a)
	}
	return claude.Render(c, a)
}

// Probes are the probes for an agent's hooks, in the shape of its payloads.
func Probes(agent, session, root string) []host.Probe {
	switch agent {
	case "cursor":
		return cursor.Probes(session, root)
	case "codex":
		return codex.Probes(session, root)
	case "gemini":
		return gemini.Probes(session, root)
	case "copilot":
		return copilot.Probes(session, root)
	case "opencode":
		return opencode.Probes(session, root)
	}
	return claude.Probes(session, root)
}
