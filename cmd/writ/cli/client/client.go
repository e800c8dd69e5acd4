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
	"strings"

	"github.com/spf13/cobra"
)

// Client is one run of the client.
type Client struct {
	Env  Env
	In   io.Reader
	Out  io.Writer
	Err  io.Writer
	JSON bool
}

// WantsHelp says whether arguments ask for help.
func WantsHelp(args []string) bool {
	for _, arg := range args {
		if arg == "-h" || arg == "--help" {
			return true
		}
	}
	return false
}

// Fail prints an error and returns its exit code, 0 for none.
func (a *Client) Fail(err error) int {
	if err == nil {
		return ExitOK
	}
	text := err.Error()
	if text != "" {
		fmt.Fprintln(a.Err, "writ: "+text)
	}
	var known *Fault
	if errors.As(err, &known) {
		return known.exit()
	}
	if strings.HasPrefix(text, "unknown command") {
		return ExitUsage
	}
	return ExitFailed
}

// Group is a command that only holds others.
func Group(use, short, example string, children ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Example: example, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(children...)
	return c
}

// PrintJSON prints one object on one line.
func (a *Client) PrintJSON(value any) error {
	encoder := json.NewEncoder(a.Out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// Printf prints a part of the result.
func (a *Client) Printf(format string, args ...any) { fmt.Fprintf(a.Out, format, args...) }

// Note is for people, beside the output a program may read.
func (a *Client) Note(format string, args ...any) { fmt.Fprintf(a.Err, format+"\n", args...) }

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
