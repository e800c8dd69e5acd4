package install

import (
	"os"
	"path/filepath"

	"github.com/writbus/writ/cmd/writ/cli/claude"
	"github.com/writbus/writ/cmd/writ/cli/codex"
	"github.com/writbus/writ/cmd/writ/cli/copilot"
	"github.com/writbus/writ/cmd/writ/cli/cursor"
	"github.com/writbus/writ/cmd/writ/cli/gemini"
	"github.com/writbus/writ/cmd/writ/cli/opencode"
	"github.com/writbus/writ/cmd/writ/cli/settings"
	"github.com/writbus/writ/cmd/writ/cli/slash"
)

// Agent is what an installation for one agent consists of. Paths are relative
// to the project's root.
type Agent struct {
	Name  string // as in `writ init --agent`
	Title string // as its makers write it
	// Settings is the file that lists the hooks, "" where Files hold them.
	Settings string
	Host     settings.Host
	// Off is the key of Settings that switches all hooks off, "" without one.
	Off string
	// Files are Writ's own, beside the settings.
	Files func(program string) []File
	// Note is what the user has to know before the hooks run, "" for nothing.
	Note string
	// traces are files and folders by which a project shows that it uses the
	// agent.
	traces []string
}

// File is a file that is Writ's as a whole.
type File struct {
	Path    string
	Content []byte
	// Own says whether a file of that name is Writ's, of whatever version.
	Own func(content []byte) bool
}

// Places of hooks, relative to a project's root.
const (
	settingsFile = ".claude/settings.json"
	commandsDir  = ".claude/commands"
	pluginFile   = ".opencode/plugins/writ.js"
)

// Agents are those that Writ can be installed for, in the order of the help.
var Agents = []Agent{
	{
		Name: "claude", Title: "Claude Code", Settings: settingsFile, Host: claude.Settings, Off: "disableAllHooks",
		Files: commandFiles, traces: []string{".claude", "CLAUDE.md"},
	},
	{
		Name: "cursor", Title: "Cursor", Settings: ".cursor/hooks.json", Host: cursor.Settings,
		Files:  slashFiles(".cursor/commands", slash.Cursor),
		Note:   "Cursor runs a project's hooks once its folder is trusted.",
		traces: []string{".cursor", ".cursorrules"},
	},
	{
		Name: "codex", Title: "Codex CLI", Settings: ".codex/hooks.json", Host: codex.Settings,
		Note:   "Codex CLI runs a project's hooks only once you trust the project, and each hook: type /hooks in Codex. Until then it guards nothing.",
		traces: []string{".codex"},
	},
	{
		Name: "gemini", Title: "Gemini CLI", Settings: ".gemini/settings.json", Host: gemini.Settings,
		Files:  slashFiles(".gemini/commands", slash.Gemini),
		Note:   "Gemini CLI runs a project's hooks only in a folder it trusts, and none with --skip-trust: there it guards nothing.",
		traces: []string{".gemini", "GEMINI.md"},
	},
	{
		Name: "copilot", Title: "Copilot CLI", Settings: ".github/hooks/writ.json", Host: copilot.Settings, Off: "disableAllHooks",
		Note:   "Copilot CLI runs a project's hooks only in a folder you trust; without a dialog that takes --trust-folder. Elsewhere it guards nothing.",
		traces: []string{".github/hooks", ".github/copilot", ".github/copilot-instructions.md"},
	},
	{
		Name: "opencode", Title: "OpenCode", Files: pluginFiles,
		Note:   "OpenCode loads its plugins when it starts: start it anew.",
		traces: []string{".opencode", "opencode.json", "opencode.jsonc"},
	},
}

func commandFiles(program string) []File {
	var files []File
	for _, c := range claude.Commands(program) {
		files = append(files, File{commandsDir + "/" + c.Name, c.Content, claude.OwnCommand})
	}
	return files
}

func pluginFiles(program string) []File {
	files := []File{{pluginFile, opencode.Plugin(program), opencode.Own}}
	return append(files, slashFiles(".opencode/commands", slash.OpenCode)(program)...)
}

func slashFiles(dir string, commands func(program string) []slash.File) func(string) []File {
	return func(program string) []File {
		var files []File
		for _, c := range commands(program) {
			files = append(files, File{dir + "/" + c.Name, c.Content, slash.Own})
		}
		return files
	}
}

// files are an agent's own files for a program.
func (a Agent) files(program string) []File {
	if a.Files == nil {
		return nil
	}
	return a.Files(program)
}

// HookFile is the file that the hooks stand in.
func (a Agent) HookFile() string {
	if a.Settings == "" {
		return pluginFile
	}
	return a.Settings
}

// Named finds agents by their names.
func Named(names ...string) (found []Agent, unknown string) {
	for _, name := range names {
		at := -1
		for i, a := range Agents {
			if a.Name == name {
				at = i
			}
		}
		if at < 0 {
			return nil, name
		}
		found = append(found, Agents[at])
	}
	return found, ""
}

// Detect finds the agents a project shows traces of; without any it is Claude
// Code.
func Detect(root string) []Agent {
	var found []Agent
	for _, a := range Agents {
		for _, trace := range a.traces {
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(trace))); err == nil {
				found = append(found, a)
				break
			}
		}
	}
	if len(found) == 0 {
		found = Agents[:1:1]
	}
	return found
}

// Hooks lists the hooks of Writ's that a project has for an agent, and the file
// they stand in. There is no error for a file that is not there.
func (a Agent) Hooks(root string) (hooks []settings.Hook, path string, err error) {
	path = filepath.Join(root, filepath.FromSlash(a.HookFile()))
	text, err := os.ReadFile(path)
	if a.Settings == "" {
		if program := opencode.Program(text); err == nil && opencode.Own(text) && program != "" {
			hooks = []settings.Hook{{Event: "tool.execute.before", Command: program, Args: []string{"hook", a.Name, "tool.execute.before"}}}
		}
		return hooks, path, ignoreMissing(err)
	}
	if err != nil {
		return nil, path, ignoreMissing(err)
	}
	hooks, err = a.Host.Installed(text)
	return hooks, path, err
}

func ignoreMissing(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}
