package agents

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func (a *app) scheduleCommand() *cobra.Command {
	return client.Group("schedule", "List and change the schedules that agents made",
		"  writ agent schedule list\n  writ agent schedule cancel s1a2b3c4d",
		a.scheduleListCommand(),
		a.scheduleActCommand("cancel", "End a schedule"),
		a.scheduleActCommand("pause", "Stop a schedule until it is resumed"),
		a.scheduleActCommand("resume", "Let a paused schedule go on"))
}

func (a *app) scheduleListCommand() *cobra.Command {
	var q schemas.ScheduleQuery
	c := &cobra.Command{
		Use: "list", Short: "List schedules, what fires next first",
		Example: "  writ agent schedule list\n  writ agent schedule list --all --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return client.AskThen(cmd.Context(), a.Client, client.RoleAdmin, "schedule list", schemas.SvcSchedules, q, func(list schemas.ScheduleList) error { return a.showSchedules(list.Schedules) })
		},
	}
	c.Flags().StringVar(&q.Agent, "agent", "", "only those of the agent of this name")
	c.Flags().BoolVar(&q.All, "all", false, "also those that are over or cancelled")
	return c
}

func (a *app) showSchedules(all []schemas.ScheduleView) error {
	const none = "No schedule. An agent makes one with /schedule PHRASE: MESSAGE."
	return client.Rows(a.Client, all, none, "id\tnext\tstate\tfired\tagent\tschedule", func(s schemas.ScheduleView) string {
		next := "-"
		if !s.Next.IsZero() {
			next = s.Next.Local().Format("2006-01-02 15:04")
		}
		return fmt.Sprintf("%s\t%s\t%s\t%d\t%s\t%s", s.ID, next, s.State, s.Fired, s.Agent, client.Shorten(client.OneLine(s.Line), 60))
	})
}

func (a *app) scheduleActCommand(act, short string) *cobra.Command {
	return &cobra.Command{
		Use: act + " ID", Short: short,
		Example: "  writ agent schedule " + act + " s1a2b3c4d",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := client.Ask[struct{}](cmd.Context(), a.Client, client.RoleAdmin, "schedule "+act, schemas.SvcScheduleAct, schemas.ScheduleActRequest{ID: args[0], Act: act})
			return err
		},
	}
}
