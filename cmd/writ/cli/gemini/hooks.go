// Package gemini knows what Writ puts into Gemini CLI's settings.
package gemini

import "github.com/writbus/writ/cmd/writ/cli/settings"

// timeout is how long Gemini CLI waits for a hook, in milliseconds.
const timeout = 10_000

type handler struct {
	Name    string  `json:"name"`
	Type    string  `json:"type"`
	Command string  `json:"command"`
	Timeout float64 `json:"timeout"`
}

// Settings is .gemini/settings.json. No tool is matched: one that Gemini CLI
// adds later is seen as well. An automatic PreCompress comes before every
// request to the model, and says nothing.
var Settings = settings.Host{
	Agent: "gemini", Nested: true, TimeoutKey: "timeout",
	Handler: func(event, program string) any {
		h := handler{"writ", "command", settings.CommandLine(program, "gemini", event), timeout}
		if event == "AfterAgent" {
			h.Timeout = float64(settings.EndOfTurn) * 1000
		}
		return h
	},
	Hooks: []settings.Wanted{
		{Event: "SessionStart"},
		{Event: "SessionEnd"},
		{Event: "BeforeAgent"},
		{Event: "AfterAgent"},
		{Event: "BeforeTool"},
		{Event: "AfterTool"},
		{Event: "PreCompress", Matcher: "manual"},
	},
}
