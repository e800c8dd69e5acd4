package claude

import "strings"

// Command is a slash command's file.
type Command struct {
	Name    string // file name without folder, "writ-approve.md"
	Content []byte
}

// ownMark stands in every command file of Writ's, so that a file somebody else
// wrote under the same name is told from it.
const ownMark = "<!-- written by `writ init`; `writ uninstall` removes it -->"

// Commands returns the slash commands; their texts name the program to run.
//
// What decides is not in them: Writ sees the typed command itself, as the
// host's UserPromptExpansion, before the agent sees this text.
func Commands(program string) []Command {
	if strings.ContainsAny(program, " '\"$&()") {
		program = `"` + program + `"`
	}
	command := func(name, description, hint string, userOnly bool, body string) Command {
		return command(name, description, hint, userOnly, strings.ReplaceAll(body, "PROGRAM", program))
	}
	return []Command{
		command("writ-approve", "Approve the plan or the tests that wait in Writ", "[plan|tests]", true, `
The user typed /writ-approve $ARGUMENTS. Writ received it from the host and has
judged it already; its answer accompanies this message. Go on when it says that
the gate is open; otherwise tell the user what it asks for.
`),
		command("writ-mode", "Set Writ's mode: conversation, debug, small, review or work", "[conversation|debug|small|review|work]", true, `
The user typed /writ-mode $ARGUMENTS. Writ received it from the host. Run
`+"`PROGRAM mode`"+` in the shell and tell the user in one line which mode and phase this
session is in now, and what it may write.
`),
		command("writ-status", "Show what Writ guards in this session and what comes next", "", false, `
Run `+"`PROGRAM session show`"+` in the shell and tell the user in a few lines: mode and
phase, which gates are open, and what comes next.
`),
		command("writ-query", "Find the rules that matter for a text", "TEXT", false, `
Run `+"`PROGRAM query --block \"$ARGUMENTS\"`"+` in the shell and tell the user which rules it
found, with their ids, and how they bear on the work at hand.
`),
	}
}

func command(name, description, hint string, userOnly bool, body string) Command {
	var b strings.Builder
	b.WriteString("---\ndescription: \"" + description + "\"\n")
	if hint != "" {
		b.WriteString("argument-hint: \"" + hint + "\"\n")
	}
	if userOnly {
		b.WriteString("disable-model-invocation: true\n")
	}
	b.WriteString("---\n" + ownMark + "\n" + body)
	return Command{name + ".md", []byte(b.String())}
}

// ownCommand says whether a command file was written by Writ.
func ownCommand(content []byte) bool { return strings.Contains(string(content), ownMark) }
