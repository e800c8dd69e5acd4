package client

import (
	"bufio"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/cmd/writ/cli/ancestry"
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

// IsPerson returns why whoever runs this command cannot be taken for the user:
// there is no terminal, or an agent is around it.
//
// It keeps agents from approving their own work by the plain command. What it
// cannot see, such as a terminal that an agent made and then drove from
// outside, the policy for agents' commands and the confinement of their
// processes, which cannot read the admin credential, have to stop.
func (a *Client) IsPerson() error {
	if found := a.AgentAround(); found != "" {
		return Refused("this is for the user alone", "the command runs for an agent ("+found+")",
			"Run it in a terminal of your own.")
	}
	if !IsTerminal(a.In) {
		return Refused("this is for the user alone", "standard input is no terminal", "Run it in a terminal of your own.")
	}
	return nil
}

// AgentAround names what shows that an agent runs the command, "" for nothing.
func (a *Client) AgentAround() string {
	for _, name := range agentVars {
		if a.Env.Getenv(name) != "" {
			return name + " is set"
		}
	}
	for _, process := range ancestry.Of() {
		program := agentProgram([]string{process.Name})
		if program == "" {
			program = agentProgram(process.Args)
		}
		if program != "" {
			return "below the program " + program
		}
	}
	return ""
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

// NotForAgents refuses what is a person's to do where an agent is around.
// Unlike isPerson it lets scripts of a person through.
func (a *Client) NotForAgents() error {
	if a.AgentAround() == "" {
		return nil
	}
	return a.IsPerson()
}

func (a *Client) AskLine(in *bufio.Reader, prompt string) (string, error) {
	a.Printf("%s", prompt)
	line, err := in.ReadString('\n')
	if err != nil {
		a.Printf("\n")
		return "", err
	}
	return strings.TrimSpace(line), nil
}
