package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/agents"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/cmd/writ/cli/files"
	"github.com/writbus/writ/cmd/writ/cli/graph"
	"github.com/writbus/writ/cmd/writ/cli/history"
	"github.com/writbus/writ/cmd/writ/cli/hook"
	"github.com/writbus/writ/cmd/writ/cli/lifecycle"
	"github.com/writbus/writ/cmd/writ/cli/memory"
	"github.com/writbus/writ/cmd/writ/cli/rules"
	"github.com/writbus/writ/cmd/writ/cli/sessions"
	"github.com/writbus/writ/enforcement/permit"
)

// Run executes one command line and returns the process's exit code.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env client.Env) int {
	a := &app{&client.Client{Env: env, In: stdin, Out: stdout, Err: stderr}}
	if len(args) > 0 && hook.Runs[args[0]] != nil && !helpAsked(args) {
		return hook.Runs[args[0]](ctx, a.Client, args[1:])
	}
	root := a.tree()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return a.Fail(root.ExecuteContext(ctx))
}

// helpAsked says whether a command line asks for a command's help. What follows
// the first word of confine is another program's.
func helpAsked(args []string) bool {
	if args[0] == "confine" {
		args = args[:min(len(args), 2)]
	}
	return client.WantsHelp(args[1:])
}

// app is one run of the client.
type app struct{ *client.Client }

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
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			words := strings.Fields(cmd.CommandPath())[1:]
			if _, side, _ := permit.Of(words); side == permit.Person {
				return a.NotAgents()
			}
			return nil
		},
	}
	root.PersistentFlags().BoolVar(&a.JSON, "json", false, "print JSON: one object, or one per line")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		text, _, _ := strings.Cut(client.OneLine(err.Error()), ": strconv.")
		return client.Usage(cmd.CommandPath()+": "+text, "`"+cmd.CommandPath()+" --help` shows the flags.")
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
	c := a.Client
	add(groupDaemon, lifecycle.Daemon(c)...)
	add(groupProject, slices.Concat(lifecycle.Project(c), hook.Commands(c), files.Commands(c))...)
	add(groupSession, slices.Concat(rules.Commands(c), []*cobra.Command{graph.Command(c)}, sessions.Commands(c, history.SessionReplay(c)))...)
	add(groupMemory, memory.Commands(c)...)
	add(groupAgent, agents.Commands(c)...)
	add(groupLog, history.Commands(c)...)
	add(groupOther, append(lifecycle.Tools(c), hook.Confine(c))...)
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
			return client.Usage(cmd.CommandPath()+": "+whyNot(cmd, args, err), "`"+cmd.CommandPath()+" --help` shows how to use it.")
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
	return client.OneLine(err.Error())
}
