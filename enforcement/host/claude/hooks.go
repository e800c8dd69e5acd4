package claude

import "github.com/writbus/writ/enforcement/host/settings"

// timeout is how long Claude Code waits for a hook, in seconds. Writ answers
// in two; the rest is for a machine under load, and SessionEnd's budget follows
// the largest timeout there is.
const timeout = 10

// Tools are matched by what they are not, so that one nobody has heard of yet is
// judged too. Named are those of Claude Code that touch no file and run nothing –
// a hook for each of their calls would only cost time – and, where nothing is to
// be compared, those that read.
const (
	harmless = `Glob|WebFetch|WebSearch|AskUserQuestion|EnterPlanMode|ToolSearch|` +
		`BashOutput|KillShell|KillBash|TodoRead|TaskGet|TaskList|TaskOutput|TaskStop|ListMcpResourcesTool|ReadMcpResourceTool`
	reading = `Read|Grep|Task|Agent|TodoWrite|TaskCreate|TaskUpdate|Skill|SlashCommand|SendMessage`

	toolsBefore    = `^(?!(` + harmless + `)$).*$`
	toolsAfter     = `^(?!(` + harmless + `|` + reading + `)$).*$`
	toolsThatWrite = `^(?!(` + harmless + `|` + reading + `|ExitPlanMode)$).*$`
	ownCommands    = `^(writ:)?writ-(approve|mode|status|query)$` // the plugin's carry its name
)

// Settings is .claude/settings.json.
var Settings = settings.Host{
	Agent: "claude", Nested: true, TimeoutKey: "timeout",
	Line: settings.Line{Key: "statusLine", Subcommand: "statusline"},
	Handler: func(event, program string) any {
		// Without arguments of its own a command is for a shell.
		h := handler{Type: "command", Command: program, Args: []string{"hook", "claude", event}, Timeout: timeout}
		if settings.IsAtHome(program) {
			h.Command, h.Args = settings.CommandLine(program, "claude", event), nil
		}
		if event == "Stop" {
			h.Timeout = float64(settings.EndOfTurn)
		}
		return h
	},
	Hooks: []settings.Wanted{
		{Event: "SessionStart"},
		{Event: "UserPromptSubmit"},
		{Event: "UserPromptExpansion", Matcher: ownCommands},
		{Event: "PreToolUse", Matcher: toolsBefore},
		{Event: "PermissionRequest", Matcher: toolsThatWrite},
		{Event: "PostToolUse", Matcher: toolsAfter},
		{Event: "PostToolUseFailure", Matcher: toolsThatWrite},
		{Event: "SubagentStart"},
		{Event: "SubagentStop"},
		{Event: "Stop"},
		{Event: "PreCompact"},
		{Event: "PostCompact"},
		{Event: "SessionEnd"},
		{Event: "CwdChanged"},
		{Event: "InstructionsLoaded"},
		{Event: "Notification"},
	},
}

type handler struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	Timeout float64  `json:"timeout"`
}

// Hook is a hook found in settings.
type Hook = settings.Hook

// Installed lists Writ's hooks in settings, in their order.
func Installed(text []byte) ([]Hook, error) { return Settings.Installed(text) }

// Disabled says whether settings switch all hooks off.
func Disabled(text []byte) bool { return settings.Disabled(text, "disableAllHooks") }

// Agent is Writ's installation for Claude Code.
var Agent = settings.Agent{
	Name: "claude", Title: "Claude Code", Settings: ".claude/settings.json", Host: Settings, Off: "disableAllHooks",
	Files: files, Traces: []string{".claude", "CLAUDE.md"}, Programs: []string{"claude"},
}

func files(program string) []settings.File {
	var files []settings.File
	for _, c := range Commands(program) {
		files = append(files, settings.File{Path: ".claude/commands/" + c.Name, Content: c.Content, Own: ownCommand})
	}
	return files
}
