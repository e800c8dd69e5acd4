package claude

import (
	"encoding/json"
	"fmt"
	"path"

	"github.com/writbus/writ/enforcement/host/settings"
)

// PluginName is the plugin's name; its commands are typed with it in front.
const PluginName = "writ"

// PluginFile is a file of the plugin, relative to its folder.
type PluginFile struct {
	Path    string
	Content []byte
}

// PluginManifest is the file that makes a folder a plugin.
const PluginManifest = ".claude-plugin/plugin.json"

const pluginDescription = "Rules that matter, gates that hold, and a log of everything that happened"

const pluginReadme = `# Writ

` + pluginDescription + `.

Writ gives an agent the rules that matter for what it is about to do, and refuses writes until
you have approved its plan and its tests. The hooks of this plugin run the program ` + "`writ`" + `,
which has to be on the PATH; they do nothing in a project that is not under guard. Run
` + "`writ init`" + ` in a project to guard it, and ` + "`writ doctor`" + ` to see that the gate holds.

* ` + "`/writ:writ-approve [plan|tests]`" + ` approves what waits. Only you can run it.
* ` + "`/writ:writ-mode`" + ` sets the mode, ` + "`/writ:writ-status`" + ` shows the phase, ` + "`/writ:writ-query`" + ` finds rules.
`

// Plugin returns Writ as a plugin of Claude Code, of a version, whose hooks run
// the given program: hooks, slash commands and the MCP server are those that
// `writ init` installs, and its marketplace holds it alone.
func Plugin(program, version string) ([]PluginFile, error) {
	hooks, err := pluginHooks(program)
	if err != nil {
		return nil, err
	}
	files := []struct {
		path  string
		value any
	}{
		{PluginManifest, map[string]any{
			"name": PluginName, "displayName": "Writ", "version": version, "description": pluginDescription,
			"author": map[string]string{"name": "The Writ authors"}, "license": "Apache-2.0", "keywords": []string{"rules", "gates", "audit"},
		}},
		{".claude-plugin/marketplace.json", map[string]any{
			"name": PluginName, "description": pluginDescription, "owner": map[string]string{"name": "The Writ authors"},
			"plugins": []map[string]string{{"name": PluginName, "source": "./", "description": pluginDescription}},
		}},
		{"hooks/hooks.json", map[string]any{"description": "Writ answers these events; `writ doctor` proves it", "hooks": hooks}},
		{".mcp.json", map[string]any{"mcpServers": map[string]any{PluginName: map[string]any{"command": program, "args": []string{"mcp"}}}}},
	}
	var all []PluginFile
	for _, f := range files {
		raw, err := json.MarshalIndent(f.value, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("claude: %s: %w", f.path, err)
		}
		all = append(all, PluginFile{f.path, append(raw, '\n')})
	}
	all = append(all, PluginFile{"README.md", []byte(pluginReadme)})
	for _, c := range Commands(program) {
		all = append(all, PluginFile{path.Join("commands", c.Name), c.Content})
	}
	return all, nil
}

// pluginHooks are the hooks that init would put into a project's settings.
func pluginHooks(program string) (json.RawMessage, error) {
	host := Settings
	host.Line = settings.Line{} // a plugin has no status line
	text, err := host.Merge(nil, program)
	if err != nil {
		return nil, err
	}
	var merged struct {
		Hooks json.RawMessage `json:"hooks"`
	}
	if err := json.Unmarshal(text, &merged); err != nil {
		return nil, err
	}
	return merged.Hooks, nil
}
