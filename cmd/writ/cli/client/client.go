// Package client is what every command of writ shares: its streams and how
// results are shown on them, the connection to the daemon in a role, whom a
// command runs for, and errors as people read them with their exit codes.
//
// It knows no command.
package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// Client is one run of the client.
type Client struct {
	Env  Env
	In   io.Reader
	Out  io.Writer
	Err  io.Writer
	JSON bool

	unwritten error // why a part of the result could not be printed
}

// WantsHelp says whether arguments ask for help.
func WantsHelp(args []string) bool {
	return slices.Contains(args, "-h") || slices.Contains(args, "--help")
}

// Fail prints an error and returns its exit code, 0 for none. A result that could not be
// printed is one.
func (a *Client) Fail(err error) int {
	if err == nil {
		err = Explain("print", a.unwritten)
	}
	if err == nil {
		return ExitOK
	}
	text := err.Error()
	if text != "" {
		a.Note("writ: %s", ownName.ReplaceAllString(text, ""))
	}
	if known, ok := errors.AsType[*Fault](err); ok {
		return known.exit()
	}
	if strings.HasPrefix(text, "unknown command") {
		return ExitUsage
	}
	return ExitFailed
}

// ownName is this program's name before a message that begins with it already.
var ownName = lazyregexp.New(`^(writ:? )+`)

// PrintJSON prints one object on one line.
func (a *Client) PrintJSON(value any) error {
	encoder := json.NewEncoder(a.Out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// Printf prints a part of the result, in lines that fit where a person looks.
func (a *Client) Printf(format string, args ...any) {
	a.Write(a.Out, Fold(legible(fmt.Sprintf(format, args...)), a.Env.Width(a.Out)))
}

// Write prints a part of the result as it is.
func (a *Client) Write(out io.Writer, text string) {
	if _, err := io.WriteString(out, text); a.unwritten == nil {
		a.unwritten = err
	}
}

// Note is for people, beside the output a program may read.
func (a *Client) Note(format string, args ...any) {
	fmt.Fprintln(a.Err, Fold(legible(fmt.Sprintf(format, args...)), a.Env.Width(a.Err)))
}

// SessionOr is the session a command acts on: the flag, else the one whose agent
// runs the command.
func (a *Client) SessionOr(flag string) string {
	if flag != "" {
		return flag
	}
	for _, name := range sessionVars {
		if session := a.Env.Getenv(name); session != "" {
			return session
		}
	}
	return ""
}

// sessionVars are the variables by which hosts tell the programs of an agent's
// shell their session: Writ's own, which its plugin for OpenCode sets, and those
// of Claude Code, Codex CLI and Gemini CLI.
var sessionVars = []string{"WRIT_SESSION", "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "CODEX_SESSION_ID", "COPILOT_AGENT_SESSION_ID", "GEMINI_SESSION_ID", "GEMINI_CLI_SESSION_ID"}
