// Package copilot reads the hook payloads of GitHub Copilot's CLI and writes
// answers in its form, and knows the hooks that Writ gives it. It does no IO.
package copilot

import (
	"strings"

	"github.com/writbus/writ/enforcement/host/settings"
)

// timeout is how long Copilot waits for a hook, in seconds. A hook that takes
// longer lets the call pass.
const timeout = 10

type handler struct {
	Type       string  `json:"type"`
	Bash       string  `json:"bash"`
	PowerShell string  `json:"powershell"`
	Dir        string  `json:"cwd"`
	Timeout    float64 `json:"timeoutSec"`
}

// Settings is .github/hooks/writ.json. The events have their camelCase names,
// the only ones the cloud agent knows. No matcher is set: a tool that Copilot
// adds later is seen as well.
var Settings = settings.Host{
	Agent: "copilot", TimeoutKey: "timeoutSec", Base: []settings.Key{{Name: "version", Value: 1}},
	Handler: func(event, program string) any {
		h := handler{
			"command", settings.CommandLine(program, "copilot", event),
			"& " + quoted(program) + " hook copilot " + event, ".", timeout,
		}
		if event == "agentStop" {
			h.Timeout = float64(settings.EndOfTurn)
		}
		return h
	},
	Hooks: []settings.Wanted{
		{Event: "sessionStart"},
		{Event: "sessionEnd"},
		{Event: "userPromptSubmitted"},
		{Event: "preToolUse"},
		{Event: "permissionRequest"},
		{Event: "postToolUse"},
		{Event: "postToolUseFailure"},
		{Event: "subagentStart"},
		{Event: "subagentStop"},
		{Event: "preCompact"},
		{Event: "agentStop"},
	},
}

// quoted is a program's path as a word of PowerShell, which has a variable HOME
// of its own, on every system.
func quoted(program string) string {
	if settings.IsAtHome(program) {
		return settings.Quote(program)
	}
	return "'" + strings.ReplaceAll(program, "'", "''") + "'"
}

// Agent is Writ's installation for Copilot CLI.
var Agent = settings.Agent{
	Name: "copilot", Title: "Copilot CLI", Settings: ".github/hooks/writ.json", Host: Settings, Off: "disableAllHooks",
	Note:   "Copilot CLI runs a project's hooks only in a folder you trust; without a dialog that takes --trust-folder. Elsewhere it guards nothing.",
	Traces: []string{".github/hooks", ".github/copilot", ".github/copilot-instructions.md"}, Programs: []string{"copilot"},
}
