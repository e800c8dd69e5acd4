package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	"github.com/writbus/writ/cmd/writ/cli/team"
	"github.com/writbus/writ/enforcement/owncommand"
	"github.com/writbus/writ/schemas/spelling"
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
	cmd, err := root.ExecuteContextC(ctx)
	return a.Fail(named(cmd, err))
}

// named has a fault begin with the command that was typed, whatever its own room
// calls it.
func named(cmd *cobra.Command, err error) error {
	var f *client.Fault
	if !errors.As(err, &f) || cmd == nil || !cmd.HasParent() {
		return err
	}
	typed := strings.TrimPrefix(cmd.CommandPath(), "writ ")
	for _, own := range append(client.Tails(typed), client.Was(cmd)) {
		if rest, found := strings.CutPrefix(f.What, own); found && own != "" && (rest == "" || rest[0] == ' ' || rest[0] == ':') {
			f.What = typed + rest
			return err
		}
	}
	return err
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

// Groups of the help text: what one wants to do.
const (
	groupDecide = "decide"
	groupFind   = "find"
	groupTeach  = "teach"
	groupProve  = "prove"
	groupSetUp  = "setup"
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
  writ top                see what waits, and approve it
  writ find "retry a payment request"`,
		Version:       lifecycle.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			words := strings.Fields(cmd.CommandPath())[1:]
			if _, side, _ := owncommand.Of(words); side == owncommand.Person {
				return a.NotAgents()
			}
			return nil
		},
	}
	root.SetVersionTemplate("writ {{.Version}}\n")
	root.PersistentFlags().BoolVar(&a.JSON, "json", false, "print JSON: one object, or one per line")
	root.SetFlagErrorFunc(flagError)
	root.AddGroup(
		&cobra.Group{ID: groupDecide, Title: "See what goes on, and decide:"},
		&cobra.Group{ID: groupFind, Title: "Find and read:"},
		&cobra.Group{ID: groupTeach, Title: "Teach, and let agents work:"},
		&cobra.Group{ID: groupProve, Title: "Look back, and prove:"},
		&cobra.Group{ID: groupSetUp, Title: "Set up:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	c := a.Client
	add(groupDecide, slices.Concat(lifecycle.Watch(c), sessions.Commands(c, history.OldSessionReplay(c), lifecycle.Forget(c)))...)
	add(groupFind, append(files.Commands(c), a.findCommand())...)
	add(groupTeach, slices.Concat(rules.Commands(c, graph.Command(c)), []*cobra.Command{memory.Command(c), agents.Command(c)})...)
	add(groupProve, history.Commands(c, lifecycle.WhatIf(c), lifecycle.Move(c))...)
	add(groupSetUp, append(lifecycle.SetUp(c), team.Command(c))...)
	root.AddCommand(a.hidden()...)
	root.SetHelpCommand(a.helpCommand())
	root.SetHelpCommandGroupID(groupFind)
	root.CompletionOptions.HiddenDefaultCmd = true
	a.showHelp(root)
	requireKnownArguments(root)
	return root
}

// hidden are the commands that other programs run, and older names of others.
func (a *app) hidden() []*cobra.Command {
	c := a.Client
	run := slices.Concat(hook.Commands(c), lifecycle.Hosts(c), []*cobra.Command{history.GitCommand(c)})
	for _, one := range run {
		one.Hidden = true
	}
	return slices.Concat(run, []*cobra.Command{rules.Old(c), files.Old(c), graph.Old(c)},
		memory.Old(c), sessions.Old(c), history.Old(c), agents.Old(c), lifecycle.Old(c))
}

// flagError says which flag is wrong, and which may be meant.
func flagError(cmd *cobra.Command, err error) error {
	text, _, _ := strings.Cut(client.OneLine(err.Error()), ": strconv.")
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		text = "there is no flag --" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			text = "there is no flag -" + unknown.GetSpecifiedName()
		}
		if near := spelling.Near(unknown.GetSpecifiedName(), names, 2); len(near) > 0 {
			text += ", perhaps --" + strings.Join(near, " or --") + " is meant"
		}
	}
	return client.Usage(cmd.CommandPath()+": "+text, "`"+cmd.CommandPath()+" --help` shows the flags.")
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
	names := slices.Concat(cmd.ValidArgs, commandNames(cmd))
	switch {
	case len(cmd.ValidArgs) > 0 && len(args) > 0 && strings.HasPrefix(err.Error(), "invalid argument"):
		return fmt.Sprintf("%q is none of %s%s", args[0], strings.Join(names, ", "), spelling.Meant(args[0], names))
	case cmd.HasSubCommands() && len(args) > 0:
		if meant := spelling.Meant(args[0], names); meant != "" {
			return fmt.Sprintf("there is no command %q%s", args[0], meant)
		}
		for _, below := range cmd.Commands() {
			if slices.Contains(below.ValidArgs, args[0]) { // `writ mode work`
				return fmt.Sprintf("there is no command %q, perhaps `%s %s` is meant", args[0], below.CommandPath(), args[0])
			}
		}
		return fmt.Sprintf("there is no command %q%s", args[0], spelling.Meant(args[0], oldNames(cmd)))
	}
	use, _, _ := strings.Cut(cmd.Use, " --")
	wanted := strings.Fields(use)[1:]
	switch counted := strings.Contains(err.Error(), "arg(s)"); {
	case counted && len(args) < len(wanted):
		return strings.Trim(wanted[len(args)], "[]") + " is missing"
	case counted:
		return fmt.Sprintf("%q is one argument too many", args[len(wanted)])
	}
	return client.OneLine(err.Error())
}
