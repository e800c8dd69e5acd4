package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// app is one run of the client.
type app struct {
	env  Env
	in   io.Reader
	out  io.Writer
	err  io.Writer
	json bool
}

// Run executes one command line and returns the process's exit code.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env Env) int {
	a := &app{env: env, in: stdin, out: stdout, err: stderr}
	if len(args) > 0 && args[0] == "hook" && !wantsHelp(args[1:]) {
		return a.runHook(ctx, args[1:])
	}
	if len(args) > 0 && args[0] == "confine" && !(len(args) > 1 && wantsHelp(args[1:2])) {
		return a.runConfine(args[1:])
	}
	if len(args) > 0 && args[0] == "statusline" && !wantsHelp(args[1:]) {
		return a.runStatusline(ctx)
	}
	root := a.tree()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return a.fail(root.ExecuteContext(ctx))
}

func wantsHelp(args []string) bool {
	for _, arg := range args {
		if arg == "-h" || arg == "--help" {
			return true
		}
	}
	return false
}

// fail prints an error and returns its exit code, 0 for none.
func (a *app) fail(err error) int {
	if err == nil {
		return exitOK
	}
	text := err.Error()
	if text != "" {
		fmt.Fprintln(a.err, "writ: "+text)
	}
	var known *fault
	if errors.As(err, &known) {
		return known.exit()
	}
	if strings.HasPrefix(text, "unknown command") {
		return exitUsage
	}
	return exitFailed
}

// Groups of the help text.
const (
	groupDaemon  = "daemon"
	groupProject = "project"
	groupSession = "session"
	groupMemory  = "memory"
	groupAgent   = "agent"
	groupLog     = "log"
	groupOther   = "other"
)

func (a *app) tree() *cobra.Command {
	root := &cobra.Command{
		Use:   "writ",
		Short: "Rules, gates and a log for coding agents",
		Long: `Writ sits between coding agents and the files they write: it gives an agent the
rules that matter, refuses writes until the user has approved a plan and tests,
and keeps everything that happened in a log that can be replayed.`,
		Example: `  writ up                 start the daemon and see what it does
  writ init               guard the project in this folder
  writ query "retry a payment request"`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON: one object, or one per line")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		text, _, _ := strings.Cut(oneLine(err.Error()), ": strconv.")
		return usage(cmd.CommandPath()+": "+text, "`"+cmd.CommandPath()+" --help` shows the flags.")
	})
	root.AddGroup(
		&cobra.Group{ID: groupDaemon, Title: "The daemon:"},
		&cobra.Group{ID: groupProject, Title: "A project:"},
		&cobra.Group{ID: groupSession, Title: "Rules and sessions:"},
		&cobra.Group{ID: groupMemory, Title: "Memory:"},
		&cobra.Group{ID: groupAgent, Title: "The command language:"},
		&cobra.Group{ID: groupLog, Title: "The log:"},
		&cobra.Group{ID: groupOther, Title: "Other:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupDaemon, a.upCommand(), a.downCommand(), a.statusCommand(), a.doctorCommand(), a.dashCommand())
	add(groupProject, a.initCommand(), a.uninstallCommand(), a.hookCommand(), a.indexCommand(), a.searchCommand(), a.contextCommand(), a.statuslineCommand())
	add(groupSession, a.queryCommand(), a.ruleCommand(), a.checkCommand(), a.graphCommand(), a.modeCommand(), a.phaseCommand(), a.approveCommand(), a.sessionCommand())
	add(groupMemory, a.observeCommand(), a.recallCommand(), a.memoryCommand())
	add(groupAgent, a.runCommand(), a.dispatchCommand(), a.agentCommand(), a.scheduleCommand(), a.lintStreamCommand())
	add(groupLog, a.emitCommand(), a.replayCommand(), a.watchCommand(), a.diffCommand(), a.auditCommand())
	add(groupOther, append(a.toolCommands(), a.versionCommand(), a.confineCommand())...)
	root.SetHelpCommand(a.helpCommand())
	root.SetHelpCommandGroupID(groupOther)
	a.seeTopics(root)
	root.SetCompletionCommandGroupID(groupOther)
	requireKnownArguments(root)
	return root
}

// requireKnownArguments makes every argument error one of usage, with the
// command's own help as the way out.
func requireKnownArguments(c *cobra.Command) {
	check := c.Args
	c.Args = func(cmd *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(cmd, args); err != nil {
			return usage(cmd.CommandPath()+": "+whyNot(cmd, args, err), "`"+cmd.CommandPath()+" --help` shows how to use it.")
		}
		return nil
	}
	for _, child := range c.Commands() {
		requireKnownArguments(child)
	}
}

// whyNot says what is wrong with a command's arguments, and what may have been
// meant.
func whyNot(cmd *cobra.Command, args []string, err error) string {
	switch {
	case cmd.HasSubCommands() && len(args) > 0:
		text := fmt.Sprintf("there is no command %q", args[0])
		if cmd.SuggestionsMinimumDistance <= 0 {
			cmd.SuggestionsMinimumDistance = 2
		}
		if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
			text += ", perhaps " + strings.Join(like, " or ") + " is meant"
		}
		return text
	case len(cmd.ValidArgs) > 0 && len(args) > 0 && strings.HasPrefix(err.Error(), "invalid argument"):
		return fmt.Sprintf("%q is none of %s", args[0], strings.Join(cmd.ValidArgs, ", "))
	}
	return oneLine(err.Error())
}

// group is a command that only holds others.
func group(use, short, example string, children ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Example: example, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(children...)
	return c
}

// printJSON prints one object on one line.
func (a *app) printJSON(value any) error {
	encoder := json.NewEncoder(a.out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

// note is for people, beside the output a program may read.
func (a *app) note(format string, args ...any) { fmt.Fprintf(a.err, format+"\n", args...) }

// session is the session a command acts on: the flag, else the one whose agent
// runs the command.
func (a *app) sessionOr(flag string) string {
	if flag != "" {
		return flag
	}
	for _, name := range sessionVars {
		if session := a.env.Getenv(name); session != "" {
			return session
		}
	}
	return ""
}

// sessionVars are the variables by which hosts tell the programs of an agent's
// shell their session: Writ's own, which its plugin for OpenCode sets, and those
// of Claude Code, Codex CLI and Gemini CLI.
var sessionVars = []string{"WRIT_SESSION", "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "CODEX_SESSION_ID", "COPILOT_AGENT_SESSION_ID", "GEMINI_SESSION_ID", "GEMINI_CLI_SESSION_ID"}
