// Package codex knows what Writ puts into Codex CLI's hooks.json.
package codex

import "github.com/writbus/writ/cmd/writ/cli/settings"

const (
	// timeout is how long Codex waits for a hook, in seconds.
	timeout = 10
	// endTimeout is the longest it grants the end of a session, in seconds.
	endTimeout = 3
)

type handler struct {
	Type    string  `json:"type"`
	Command string  `json:"command"`
	Timeout float64 `json:"timeout"`
}

// Settings is .codex/hooks.json. No matcher is set: a tool that Codex adds
// later is seen as well.
var Settings = settings.Host{
	Agent: "codex", Nested: true, TimeoutKey: "timeout",
	Handler: func(event, program string) any {
		h := handler{"command", settings.CommandLine(program, "codex", event), timeout}
		switch event {
		case "SessionEnd":
			h.Timeout = endTimeout
		case "Stop":
			h.Timeout = float64(settings.EndOfTurn)
		}
		return h
	},
	Hooks: []settings.Wanted{
		{Event: "SessionStart"},
		{Event: "SessionEnd"},
		{Event: "UserPromptSubmit"},
		{Event: "PreToolUse"},
		{Event: "PermissionRequest"},
		{Event: "PostToolUse"},
		{Event: "SubagentStart"},
		{Event: "SubagentStop"},
		{Event: "PreCompact"},
		{Event: "PostCompact"},
		{Event: "Stop"},
	},
}
