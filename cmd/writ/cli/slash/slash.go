// Package slash knows the slash commands that Writ gives to hosts other than
// Claude Code.
//
// Those hosts replace what the user typed by the command's text before a hook
// sees it. The text of a command that is the user's own act is therefore the
// command itself, so that Writ sees the same whether the host replaced it or
// not; whether it counts as an act is decided where prompts are.
package slash

import (
	"strings"

	"github.com/writbus/writ/cmd/writ/cli/settings"
)

// File is a command's file, relative to the folder of the host's commands.
type File struct {
	Name    string
	Content []byte
}

// mark stands in every file, so that one that somebody else wrote under the same
// name is told from it.
const mark = "written by `writ init`; `writ uninstall` removes it"

// Own says whether a file was written by Writ.
func Own(content []byte) bool { return strings.Contains(string(content), mark) }

type command struct {
	name, description, body string // ARGUMENTS stands for what follows the name, PROGRAM for writ
}

var commands = []command{
	{"writ-approve", "Approve the plan or the tests that wait in Writ", "/writ-approve ARGUMENTS"},
	{"writ-mode", "Set Writ's mode: conversation, debug, review or work", "/writ-mode ARGUMENTS"},
	{"writ-status", "Show what Writ guards in this session and what comes next", "Run `PROGRAM session show` in the shell and tell me in a few lines: mode and phase, which gates are open, and what comes next."},
	{"writ-query", "Find the rules that matter for a text", "Run `PROGRAM query --block \"ARGUMENTS\"` in the shell and tell me which rules it found, with their ids, and how they bear on the work at hand."},
}

func (c command) text(program, arguments string) string {
	return strings.TrimSpace(strings.NewReplacer("PROGRAM", settings.Quote(program), "ARGUMENTS", arguments).Replace(c.body))
}

// Gemini returns the commands for .gemini/commands.
func Gemini(program string) []File {
	var files []File
	for _, c := range commands {
		text := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(c.text(program, "{{args}}"))
		files = append(files, File{c.name + ".toml", []byte("# " + mark + "\ndescription = \"" + c.description + "\"\nprompt = \"" + text + "\"\n")})
	}
	return files
}

// OpenCode returns the commands for .opencode/commands.
func OpenCode(program string) []File {
	var files []File
	for _, c := range commands {
		// The mark is a comment of YAML: the text below is what the hook sees.
		files = append(files, File{c.name + ".md", []byte("---\n# " + mark + "\ndescription: \"" + c.description + "\"\n---\n" + c.text(program, "$ARGUMENTS") + "\n")})
	}
	return files
}

// Cursor returns the commands for .cursor/commands, which have no front matter;
// what the user typed after the name comes after the text.
func Cursor(program string) []File {
	var files []File
	for _, c := range commands {
		if strings.HasPrefix(c.body, "/") {
			continue // a line beside the command would be taken for its argument
		}
		files = append(files, File{c.name + ".md", []byte("<!-- " + mark + " -->\n" + c.text(program, "what follows this command") + "\n")})
	}
	return files
}
