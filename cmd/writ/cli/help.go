package cli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/internal/topics"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas/markdown"
	"github.com/writbus/writ/schemas/spelling"
)

const (
	plainWidth  = 80  // columns of a page that is not shown at a terminal
	widestPage  = 100 // longer lines are hard to read
	topicsTopic = "topics"
)

// topicReply is a topic as JSON.
type topicReply struct {
	Name     string `json:"name"`
	Group    string `json:"group"`
	Title    string `json:"title"`
	Summary  string `json:"summary"`
	Markdown string `json:"markdown,omitempty"` // where one topic was asked for
}

func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "Help about a command, or a topic to read",
		Long: `Shows the help of a command, or a topic: how something works, what it guarantees
and what to do. "writ help topics" lists the topics; the dashboard has the same
under Help.`,
		Example: `  writ help topics
  writ help gates
  writ help rule import`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			return completeHelp(cmd.Root(), args, begun), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.help(cmd.Root(), args) },
	}
}

// help shows a command's help or a topic.
func (a *app) help(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		if err := root.Help(); err != nil {
			return err
		}
		a.Printf("\n%s\n", "Topics to read, by \"writ help TOPIC\":")
		return a.listTopics()
	}
	if len(args) == 1 && args[0] == topicsTopic {
		return a.listTopics()
	}
	// What is a topic and a command is the topic: --help shows the command's help.
	if t, ok := topics.Find(strings.Join(args, "-")); ok {
		return a.showTopic(t)
	}
	if found, rest, err := root.Find(args); err == nil && len(rest) == 0 && found != root {
		found.InitDefaultHelpFlag()
		return found.Help()
	}
	name := strings.Join(args, " ")
	todo := "`writ help topics` lists the topics, `writ help` the commands."
	near := topics.Near(name, commandNames(root))
	if len(near) == 0 {
		near = spelling.Near(name, oldNames(root), 2)
	}
	if len(near) > 0 {
		todo = "Did you mean: " + strings.Join(near, ", ") + "? " + todo
	}
	return client.Usage("help: there is no command and no topic named \""+name+"\"", todo)
}

func (a *app) showTopic(t topics.Topic) error {
	if a.JSON {
		return a.PrintJSON(topicReply{t.Name, t.Group, t.Title, t.Summary, t.Text})
	}
	var page bytes.Buffer
	if err := markdown.Render(&page, t.Text, markdown.Options{Width: a.pageWidth(), Colour: a.Env.Style(a.Out).On}); err != nil {
		return err
	}
	a.Write(a.Out, client.Fold(page.String(), a.Env.Width(a.Out)))
	return nil
}

// pageWidth is that of the terminal, within what can be read.
func (a *app) pageWidth() int {
	if columns := a.Env.Width(a.Out); columns > 0 {
		return min(columns, widestPage)
	}
	return plainWidth
}

func (a *app) listTopics() error {
	s := a.Env.Style(a.Out)
	group := ""
	for _, t := range topics.All() {
		if a.JSON {
			if err := a.PrintJSON(topicReply{t.Name, t.Group, t.Title, t.Summary, ""}); err != nil {
				return err
			}
			continue
		}
		if t.Group != group {
			group = t.Group
			a.Printf("\n%s:\n", group)
		}
		a.Printf("  %s%s\n", s.Cyan(t.Name), strings.Repeat(" ", max(2, 17-len(t.Name)))+t.Title)
	}
	return nil
}

// showHelp shows a command's help in the width of the page, and which topics are
// about it.
func (a *app) showHelp(root *cobra.Command) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		var page bytes.Buffer
		out, long := cmd.OutOrStdout(), cmd.Long
		if long == "" {
			cmd.Long = cmd.Short
		}
		cmd.Long = client.Reflow(cmd.Long)
		cmd.SetOut(&page)
		show(cmd, args)
		cmd.SetOut(out)
		cmd.Long = long
		if now := client.Now(cmd); now != "" {
			fmt.Fprintf(&page, "\nThis is an older name of `writ %s`.\n", now)
		}
		if names := topicsAbout(root, cmd); len(names) > 0 {
			fmt.Fprintf(&page, "\nMore to read: %s\n", strings.Join(names, ", "))
		}
		a.Write(out, client.Fold(page.String(), a.pageWidth()))
	})
}

// topicsAbout are the calls that show what to read about a command.
func topicsAbout(root, cmd *cobra.Command) (names []string) {
	top := cmd
	for top.HasParent() && top.Parent() != root {
		top = top.Parent()
	}
	if !top.HasParent() {
		return nil
	}
	for _, t := range topics.About(top.Name()) {
		names = append(names, "writ help "+t.Name)
	}
	return names
}

func commandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

// oldNames are those that commands had before.
func oldNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

// completeHelp completes names of commands and topics.
func completeHelp(root *cobra.Command, args []string, begun string) []string {
	at, _, err := root.Find(args)
	if err != nil {
		return nil
	}
	names := commandNames(at)
	if len(args) == 0 {
		names = append(names, topicsTopic)
		for _, t := range topics.All() {
			names = append(names, t.Name)
		}
	}
	var fitting []string
	for _, name := range names {
		if strings.HasPrefix(name, begun) {
			fitting = append(fitting, name)
		}
	}
	return fitting
}
