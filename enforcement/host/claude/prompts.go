package claude

import "github.com/writbus/writ/enforcement/host"

// entryPoint is the variable in which Claude Code names the entry point it was
// started by.
const entryPoint = "CLAUDE_CODE_ENTRYPOINT"

// personal are the entry points at which a person types. Others are a program's:
// "sdk-cli" for -p, "sdk-ts", "sdk-py", "mcp", "claude-code-github-action".
var personal = map[string]bool{"cli": true, "claude-vscode": true, "claude-desktop": true}

// Origin is who submits prompts, where the environment names an entry point that
// is not known to be a person's: the entry point.
func Origin(getenv func(string) string) string {
	if name := getenv(entryPoint); name != "" && !personal[name] {
		return name
	}
	return ""
}

// Queues are the tools by which Claude Code's agent starts later turns, or turns
// of another agent, with a text of its own.
var Queues = host.Queues{
	"CronCreate": {"prompt"}, "ScheduleWakeup": {"prompt"}, "RemoteTrigger": nil, "Workflow": nil,
	"SendMessage": {"message", "content"}, "Skill": {"skill", "command", "args"}, "SlashCommand": {"command"},
	"Agent": {"prompt"}, "Task": {"prompt"},
}
