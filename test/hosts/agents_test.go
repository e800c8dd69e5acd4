package hosts

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/writbus/writ/test/hosts/script"
)

// agent is how one agent is run without a terminal, and how its model calls
// its tools.
type agent struct {
	name, program string
	prepare       func(*rig)
	// args are the command line for a prompt; a later one goes on with the
	// conversation.
	args func(r *rig, prompt string) []string
	// file writes a new file, shell runs a command.
	file  func(path, content string) script.Call
	shell func(command string) script.Call
	// confines says that commands nobody can judge run confined, where the
	// kernel can; elsewhere they are refused.
	confines bool
	// slow agents are driven only where WRIT_TEST_HOSTS_SLOW is set.
	slow bool
	// sideBySide says that calls of one answer run at once, and are reported as they
	// end.
	sideBySide bool
	// nobody says that such a prompt is known not to be the user's.
	nobody bool
}

func named(tool, pathKey, contentKey string) func(string, string) script.Call {
	return func(path, content string) script.Call {
		return script.Call{Tool: tool, Input: map[string]any{pathKey: path, contentKey: content}}
	}
}

func commanded(tool string) func(string) script.Call {
	return func(command string) script.Call {
		return script.Call{Tool: tool, Input: map[string]any{"command": command, "description": "a step"}}
	}
}

// again says that the agent was spoken to before.
func (r *rig) again() bool { return len(r.model.Asked()) > 0 }

var agents = []agent{
	{
		name: "claude", program: "claude", confines: true, nobody: true, sideBySide: true,
		prepare: func(r *rig) {
			r.vars = append(r.vars, "ANTHROPIC_BASE_URL="+r.url, "ANTHROPIC_API_KEY=none",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1")
		},
		args: func(r *rig, prompt string) []string {
			args := []string{"-p", prompt, "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash,Write"}
			if r.again() {
				args = append(args, "--continue")
			}
			return args
		},
		file: named("Write", "file_path", "content"), shell: commanded("Bash"),
	},
	{
		name: "codex", program: "codex",
		prepare: func(r *rig) {
			r.write("~/.codex/config.toml", fmt.Sprintf(`model = "gpt-5.6-sol"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = %q
wire_api = "responses"
[projects.%q]
trust_level = "trusted"
`, r.url+"/v1", r.project))
		},
		args: func(r *rig, prompt string) []string {
			args := []string{"exec"}
			if r.again() {
				args = append(args, "resume", "--last")
			}
			return append(args, "--dangerously-bypass-hook-trust", "--json", prompt)
		},
		// This model's tools are called from a program that it writes.
		file: func(path, content string) script.Call {
			patch := "*** Begin Patch\n*** Add File: " + path + "\n"
			for _, line := range lines(content) {
				patch += "+" + line + "\n"
			}
			return program("apply_patch(" + quoted(patch+"*** End Patch\n") + ")")
		},
		shell: func(command string) script.Call { return program("exec_command({cmd:" + quoted(command) + "})") },
	},
	{
		name: "gemini", program: "gemini", confines: true,
		prepare: func(r *rig) {
			r.vars = append(r.vars, "GOOGLE_GEMINI_BASE_URL="+r.url, "GEMINI_API_KEY=none", "GEMINI_CLI_TRUST_WORKSPACE=true")
			r.write("~/.gemini/settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}},
"general":{"enableAutoUpdate":false},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false}}`)
		},
		args: func(r *rig, prompt string) []string {
			args := []string{"-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", prompt}
			if r.again() {
				args = append(args, "--resume", "latest")
			}
			return args
		},
		file: named("write_file", "file_path", "content"), shell: commanded("run_shell_command"),
	},
	{
		name: "copilot", program: "copilot",
		prepare: func(r *rig) {
			r.vars = append(r.vars, "COPILOT_PROVIDER_BASE_URL="+r.url+"/v1", "COPILOT_PROVIDER_API_KEY=none",
				"COPILOT_MODEL=gpt-4.1", "COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false",
				"COPILOT_ALLOW_ALL=true") // trusts the folder as well, without which no hook runs
		},
		args: func(r *rig, prompt string) []string {
			args := []string{"-p", prompt, "-s"}
			if r.again() {
				args = append(args, "--continue")
			}
			return args
		},
		file: named("create", "path", "file_text"), shell: commanded("bash"),
	},
	{
		name: "opencode", program: "opencode", confines: true, slow: true,
		nobody: true, // `opencode run` puts a prompt of several words in quotes
		prepare: func(r *rig) {
			r.vars = append(r.vars, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1")
			r.write("~/.config/opencode/opencode.json", fmt.Sprintf(`{"autoupdate":false,"share":"disabled","model":"scripted/m","small_model":"scripted/m",
"enabled_providers":["scripted"],"provider":{"scripted":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":%q,"apiKey":"none"},
"models":{"m":{"tool_call":true,"limit":{"context":100000,"output":4000}}}}}}`, r.url+"/v1"))
			// Before it loads a plugin it fetches what plugins may import into each folder
			// of settings, and waits minutes for a registry that does not answer.
			for _, dir := range []string{".opencode/", "~/.config/opencode/"} {
				r.write(dir+"package-lock.json", `{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}`)
				r.write(dir+"node_modules/.gitignore", "*\n")
			}
		},
		args: func(r *rig, prompt string) []string {
			args := []string{"run", "--format", "json"}
			if r.again() {
				args = append(args, "--continue")
			}
			return append(args, prompt)
		},
		file: named("write", "filePath", "content"), shell: commanded("bash"),
	},
}

// program is a call of a tool from a program that the model writes.
func program(call string) script.Call {
	return script.Call{Tool: "exec", Input: "text(JSON.stringify(await tools." + call + "))"}
}

func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }
