package lifecycle

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// forgetBudget bounds reading the whole log, and writing it anew.
const forgetBudget = 10 * time.Minute

// Forget erases what was said in sessions; it stands below session.
func Forget(c *client.Client) *cobra.Command {
	a := &app{c}
	var project, reason string
	command := &cobra.Command{
		Use: "forget SESSION… | forget --project DIR", Short: "Erase for good what was said in sessions",
		Long: `Erases prompts, shell commands, answers, excerpts and every other text of sessions,
those of their sub-agents with them, and the memories taken from them: from the log,
from all views, and from what was kept of approved files. With --project it is all
sessions, memories, runs of agents, notes, schedules, which end, and the saved index
of a project. There is no way back.

What was decided stays: when, by whom, over which files, by which rule. The Merkle
tree keeps the digest of each record, so that writ audit verify goes on passing and
says how many records were forgotten. What is open in such a session is closed. The
daemon starts anew for it and builds its views again; killed meanwhile, the next
start ends it.

Not reached is what it names at its end: backups made before (remove them, or restore
one, forget again and make another), rules, schedules, mirrors and transcripts. A disk
may keep traces of files that are replaced until it uses their room.`,
		Example: "  writ session forget 5e2c… --reason \"a customer's name\"\n  writ session forget --project ~/old/client --reason \"the contract ended\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case (len(args) == 0) == (project == ""):
				return client.Usage("session forget: it takes sessions, or --project", "`writ session forget --help` shows how to use it.")
			case reason == "":
				return client.Usage("session forget: --reason is missing", "Say why; the reason stays in the log.")
			}
			if err := a.NotForAgents(); err != nil {
				return err
			}
			r := schemas.ForgetRequest{Reason: reason}
			for _, arg := range args {
				id, err := a.ResolveSession(cmd.Context(), "session forget", arg)
				if err != nil {
					return err
				}
				r.Sessions = append(r.Sessions, id)
			}
			if project != "" {
				r.Project = a.Env.Absolute(project)
				if root, found := config.FindProject(r.Project); found {
					r.Project = root
				}
			}
			return a.forget(cmd.Context(), r)
		},
	}
	command.Flags().StringVar(&project, "project", "", "all of the project at or above this `folder`")
	command.Flags().StringVar(&reason, "reason", "", "why; it stays")
	return command
}

func (a *app) forget(ctx context.Context, r schemas.ForgetRequest) error {
	reply, err := client.AskWithin[schemas.ForgetReply](ctx, a.Client, client.RoleAdmin, "session forget", forgetBudget, schemas.SvcForget, r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, forgetBudget)
	defer cancel()
	for at := reply.Started; at.Equal(reply.Started); time.Sleep(50 * time.Millisecond) { // until the daemon began anew
		s, err := client.Ask[schemas.Status](ctx, a.Client, client.RoleHook, "status", schemas.SvcStatus, struct{}{})
		if ctx.Err() != nil {
			return &client.Fault{What: "session forget", Why: "it is certain, and was not seen to end", Todo: "`writ status` starts the daemon, which ends it."}
		}
		if err == nil {
			at = s.Started
		}
	}
	return a.Print(reply, func() {
		a.Printf("Forgotten: the texts of %s and %s, of %s.\n", client.Plural(reply.Records, "record", "records"), client.Plural(reply.Observations, "observation", "observations"), client.Plural(len(reply.Sessions), "session", "sessions"))
		a.Printf("Not reached, and still holding what they have of them:\n  %s\n", strings.Join(reply.Still, "\n  "))
	})
}
