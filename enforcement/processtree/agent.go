package processtree

import (
	"path/filepath"
	"slices"
	"strings"
)

// agentVars are set by hosts in the shells their agents run.
var agentVars = []string{
	"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CODEX_SANDBOX",
	"CURSOR_AGENT", "GEMINI_CLI", "OPENCODE", "WRIT_SESSION", "CODEX_THREAD_ID", "CODEX_SESSION_ID", "COPILOT_CLI", "COPILOT_AGENT_SESSION_ID", "GEMINI_SESSION_ID", "GEMINI_CLI_SESSION_ID",
}

// agentPrograms are the programs of hosts that run agents.
var agentPrograms = []string{
	"claude", "codex", "cursor-agent", "gemini", "copilot", "opencode", "cline", "aider", "goose", "amp", "windsurf",
}

// Agent names what shows that an agent runs this process, "" for nothing: a
// variable that its host sets, or the host among the processes above.
func Agent(getenv func(name string) string) string {
	for _, name := range agentVars {
		if getenv(name) != "" {
			return name + " is set"
		}
	}
	for _, process := range Of() {
		if program := process.agent(); program != "" {
			return "below the program " + program
		}
	}
	return ""
}

// agent is the host that the process is, "" for none.
func (p Process) agent() string {
	if program := agentProgram([]string{p.Name}); program != "" {
		return program
	}
	return agentProgram(p.Args)
}

// agentProgram finds a host among the first words of a command line: the
// program itself, or the script an interpreter runs.
func agentProgram(args []string) string {
	for i, arg := range args {
		if i > 0 && strings.HasPrefix(arg, "-") {
			continue
		}
		name := strings.ToLower(filepath.Base(filepath.ToSlash(arg)))
		for _, extension := range []string{".exe", ".js", ".mjs", ".cjs", ".py"} {
			name = strings.TrimSuffix(name, extension)
		}
		if slices.Contains(agentPrograms, name) {
			return name
		}
		if isInterpreter := slices.Contains([]string{"node", "bun", "deno", "python", "python3", "env"}, name); !isInterpreter {
			return packageOf(arg)
		}
	}
	return ""
}

// packageOf recognises hosts that are installed as a package whose script has
// a common name, such as …/node_modules/@anthropic-ai/claude-code/cli.js.
func packageOf(script string) string {
	for _, name := range []string{"@anthropic-ai/claude-code", "@openai/codex", "@google/gemini-cli", "@github/copilot", "opencode-ai"} {
		if strings.Contains(filepath.ToSlash(script), "/"+name+"/") {
			return name
		}
	}
	return ""
}
