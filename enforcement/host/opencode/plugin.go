// Package opencode holds Writ's plugin for OpenCode, which has functions where
// other agents have hooks: the plugin hands each call to `writ hook opencode`. It
// reads the payloads that the plugin sends and writes the answers that it reads,
// and does no IO.
package opencode

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"regexp"
	"sync"

	"github.com/writbus/writ/enforcement/host/settings"
	"github.com/writbus/writ/enforcement/host/slash"
)

//go:embed plugin.js
var source string

// ownMark begins the plugin's file, so that a file somebody else wrote under
// the same name is told from it.
const ownMark = "// Written by `writ init`; `writ uninstall` removes it."

// Plugin is the plugin's text; it runs the given program.
func Plugin(program string) []byte {
	raw, err := json.Marshal(program)
	if err != nil {
		raw = []byte(`"writ"`)
	}
	return bytes.Replace([]byte(source), []byte(`"PROGRAM"`), raw, 1)
}

// Own says whether a file is the plugin, of whatever version.
func Own(text []byte) bool { return bytes.HasPrefix(text, []byte(ownMark)) }

var programLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^const program = (".*")(?:\.replace\(/.*/, \(\) => homedir\(\)\))?$`)
})

// Program is the program that a plugin runs, "" where none is found.
func Program(text []byte) string {
	found := programLine().FindSubmatch(text)
	if found == nil {
		return ""
	}
	var program string
	if json.Unmarshal(found[1], &program) != nil {
		return ""
	}
	return program
}

// Agent is Writ's installation for OpenCode.
var Agent = settings.Agent{
	Name: "opencode", Title: "OpenCode", Plugin: ".opencode/plugins/writ.js", Plugged: plugged, Files: files,
	Note:   "OpenCode loads its plugins when it starts: start it anew.",
	Traces: []string{".opencode", "opencode.json", "opencode.jsonc"}, Programs: []string{"opencode"},
}

// plugged is the call of the plugin that stands for its hooks.
func plugged(text []byte) []settings.Hook {
	program := Program(text)
	if !Own(text) || program == "" {
		return nil
	}
	const event = "tool.execute.before"
	if settings.IsAtHome(program) {
		return []settings.Hook{{Event: event, Command: settings.CommandLine(program, "opencode", event)}}
	}
	return []settings.Hook{{Event: event, Command: program, Args: []string{"hook", "opencode", event}}}
}

func files(program string) []settings.File {
	plugin := settings.File{Path: ".opencode/plugins/writ.js", Content: Plugin(program), Own: Own}
	return append([]settings.File{plugin}, slash.Files(".opencode/commands", ".md", program, "$ARGUMENTS", func(c slash.Command) string {
		// The mark is a comment of YAML: the text below is what the hook sees.
		return "---\n# " + slash.Mark + "\ndescription: \"" + c.Description + "\"\n---\n" + c.Text + "\n"
	})...)
}
