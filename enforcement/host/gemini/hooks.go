// Package gemini reads the hook payloads of Gemini CLI and writes answers in its
// form, and knows what Writ puts into its settings and commands. It does no IO.
package gemini

import (
	"strings"

	"github.com/writbus/writ/enforcement/host/settings"
	"github.com/writbus/writ/enforcement/host/slash"
)

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
	Agent: "gemini", Nested: true, Comments: true, TimeoutKey: "timeout",
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

// Agent is Writ's installation for Gemini CLI.
var Agent = settings.Agent{
	Name: "gemini", Title: "Gemini CLI", Settings: ".gemini/settings.json", Host: Settings, Files: commands,
	Note:   "Gemini CLI runs a project's hooks only in a folder it trusts, and none with --skip-trust: there it guards nothing.",
	Traces: []string{".gemini", "GEMINI.md"}, Programs: []string{"gemini"},
}

func commands(program string) []settings.File {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	return slash.Files(".gemini/commands", ".toml", program, "{{args}}", func(c slash.Command) string {
		return "# " + slash.Mark + "\ndescription = \"" + c.Description + "\"\nprompt = \"" + escape.Replace(c.Text) + "\"\n"
	})
}
