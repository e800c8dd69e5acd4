// Package codex reads the hook payloads of Codex CLI and writes answers in its
// form, and knows what Writ puts into its hooks.json. It does no IO.
package codex

import "github.com/writbus/writ/enforcement/host/settings"

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

// Agent is Writ's installation for Codex CLI.
var Agent = settings.Agent{
	Name: "codex", Title: "Codex CLI", Settings: ".codex/hooks.json", Host: Settings,
	Note:   "Codex CLI runs a project's hooks only once you trust the project, and each hook: type /hooks in Codex. Until then it guards nothing.",
	Traces: []string{".codex"}, Programs: []string{"codex"},
}
