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

	"github.com/writbus/writ/enforcement/host/settings"
)

// Mark stands in every file, so that one that somebody else wrote under the same
// name is told from it.
const Mark = "written by `writ init`; `writ uninstall` removes it"

func own(content []byte) bool { return strings.Contains(string(content), Mark) }

// Command is a slash command as a host is given it.
type Command struct {
	Name, Description string
	Text              string
	Typed             bool // Text is the command itself: it is the user's own act
}

// commands have ARGUMENTS for what follows the name, and PROGRAM for writ.
var commands = []Command{
	{"writ-approve", "Approve the plan or the tests that wait in Writ", "/writ-approve ARGUMENTS", true},
	{"writ-mode", "Set Writ's mode: conversation, debug, small, review or work", "/writ-mode ARGUMENTS", true},
	{"writ-status", "Show what Writ guards in this session and what comes next", "Run `PROGRAM session show` in the shell and tell me in a few lines: mode and phase, which gates are open, and what comes next.", false},
	{"writ-query", "Find the rules that matter for a text", "Run `PROGRAM query --block \"ARGUMENTS\"` in the shell and tell me which rules it found, with their ids, and how they bear on the work at hand.", false},
}

// Files are the commands' files in a folder, written in a host's form, which
// returns "" for a command that the host is not given. Arguments is what the host
// puts what the user typed after the name in the place of.
func Files(dir, ending, program, arguments string, form func(Command) string) []settings.File {
	fill := strings.NewReplacer("PROGRAM", settings.Quote(program), "ARGUMENTS", arguments)
	var files []settings.File
	for _, c := range commands {
		c.Text = strings.TrimSpace(fill.Replace(c.Text))
		if text := form(c); text != "" {
			files = append(files, settings.File{Path: dir + "/" + c.Name + ending, Content: []byte(text), Own: own})
		}
	}
	return files
}
