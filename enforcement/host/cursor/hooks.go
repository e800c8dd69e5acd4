// Package cursor reads the hook payloads of Cursor and writes answers in its form,
// and knows what Writ puts into its hooks.json and commands. It does no IO.
package cursor

import (
	"github.com/writbus/writ/enforcement/host/settings"
	"github.com/writbus/writ/enforcement/host/slash"
)

// timeout is how long Cursor waits for a hook, in seconds.
const timeout = 10

// loops bounds how often in a row Cursor lets a hook send its agent back to
// work; it is the host's own default.
const loops = 5

type handler struct {
	Type       string  `json:"type"`
	Command    string  `json:"command"`
	Timeout    float64 `json:"timeout"`
	FailClosed bool    `json:"failClosed,omitempty"`
	LoopLimit  int     `json:"loop_limit,omitempty"`
}

// gates are the events that must not pass when the hook fails. Shell commands
// and MCP calls are judged at their own events, where Cursor asks its user.
var gates = map[string]bool{"preToolUse": true, "beforeShellExecution": true, "beforeMCPExecution": true}

// Settings is .cursor/hooks.json. No matcher is set: a tool that Cursor adds
// later is seen as well.
var Settings = settings.Host{
	Agent: "cursor", TimeoutKey: "timeout", Base: []settings.Key{{Name: "version", Value: 1}},
	Handler: func(event, program string) any {
		h := handler{Type: "command", Command: settings.CommandLine(program, "cursor", event), Timeout: timeout, FailClosed: gates[event]}
		if event == "stop" {
			h.LoopLimit, h.Timeout = loops, float64(settings.EndOfTurn)
		}
		return h
	},
	Hooks: []settings.Wanted{
		{Event: "sessionStart"},
		{Event: "sessionEnd"},
		{Event: "beforeSubmitPrompt"},
		{Event: "preToolUse"},
		{Event: "beforeShellExecution"},
		{Event: "beforeMCPExecution"},
		{Event: "postToolUse"},
		{Event: "postToolUseFailure"},
		{Event: "afterShellExecution"},
		{Event: "afterMCPExecution"},
		{Event: "subagentStart"},
		{Event: "subagentStop"},
		{Event: "preCompact"},
		{Event: "stop"},
	},
}

// Agent is Writ's installation for Cursor.
var Agent = settings.Agent{
	Name: "cursor", Title: "Cursor", Settings: ".cursor/hooks.json", Host: Settings, Files: commands,
	Note:   "Cursor runs a project's hooks once its folder is trusted.",
	Traces: []string{".cursor", ".cursorrules"}, Programs: []string{"cursor", "cursor-agent"},
}

// commands have no front matter; what the user typed after the name comes after
// the text, and a line beside a typed command would be taken for its argument.
func commands(program string) []settings.File {
	return slash.Files(".cursor/commands", ".md", program, "what follows this command", func(c slash.Command) string {
		if c.Typed {
			return ""
		}
		return "<!-- " + slash.Mark + " -->\n" + c.Text + "\n"
	})
}
