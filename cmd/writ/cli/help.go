package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/writbus/writ/cmd/internal/topics"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/cmd/writ/cli/markdown"
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
	if found, rest, err := root.Find(args); err == nil && len(rest) == 0 && found != root {
		found.InitDefaultHelpFlag()
		return found.Help()
	}
	if t, ok := topics.Find(strings.Join(args, "-")); ok {
		return a.showTopic(t)
	}
	name := strings.Join(args, " ")
	todo := "`writ help topics` lists the topics, `writ help` the commands."
	if near := topics.Near(name, commandNames(root)); len(near) > 0 {
		todo = "Did you mean: " + strings.Join(near, ", ") + "? " + todo
	}
	return client.Usage("help: there is no command and no topic named \""+name+"\"", todo)
}

func (a *app) showTopic(t topics.Topic) error {
	if a.JSON {
		return a.PrintJSON(topicReply{t.Name, t.Group, t.Title, t.Summary, t.Text})
	}
	return markdown.Render(a.Out, t.Text, markdown.Options{Width: a.pageWidth(), Colour: a.Env.Style(a.Out).On})
}

// pageWidth is that of the terminal, within what can be read.
func (a *app) pageWidth() int {
	if file, ok := a.Out.(*os.File); ok {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
			return min(columns, widestPage)
		}
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
		a.Printf("  %s%s\n", s.Cyan(t.Name), strings.Repeat(" ", max(1, 17-len(t.Name)))+client.Shorten(t.Title, a.pageWidth()-20))
	}
	return nil
}

// seeTopics adds to a command's help which topics are about it.
func (a *app) seeTopics(root *cobra.Command) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		show(cmd, args)
		top := cmd
		for top.HasParent() && top.Parent() != root {
			top = top.Parent()
		}
		var names []string
		for _, t := range topics.About(top.Name()) {
			names = append(names, "writ help "+t.Name)
		}
		if len(names) > 0 && top.HasParent() {
			cmd.Printf("\nMore to read: %s\n", strings.Join(names, ", "))
		}
	})
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
