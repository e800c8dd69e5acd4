package sessions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/spelling"
)

var modes = []string{"conversation", "debug", "small", "review", "work"}

func (a *app) modeCommand() *cobra.Command {
	var session string
	c := &cobra.Command{
		Use:   "mode",
		Short: "Show or set the mode of a session",
		Long: `Shows the mode of a session: what it may write in the project.

  conversation   anything; for questions and brainstorming
  debug          tests and scratch; other files are asked for
  small          tests; a few lines of code, each edit asked for
  review         the findings file only
  work           by phase: plan, tests, implementation, each approved by the user`,
		Example: `  writ mode
  writ mode set work
  writ mode set debug --repro cmd/app/main.go`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.mode(cmd.Context(), "mode", client.RoleHook, schemas.SvcMode, schemas.ModeRequest{Session: session})
		},
	}
	c.PersistentFlags().StringVar(&session, "session", "", "the session (default $CLAUDE_CODE_SESSION_ID, else this project's latest)")
	c.AddCommand(a.modeSetCommand(&session))
	return c
}

func (a *app) modeSetCommand(session *string) *cobra.Command {
	request := schemas.ModeRequest{}
	c := &cobra.Command{
		Use:   "set " + strings.Join(modes, "|"),
		Short: "Set the mode of a session",
		Long: `Sets the mode of a session. An agent may choose work, or review where that
allows less. Every other mode, leaving work, the files of a reproduction and
becoming an orchestrator are the user's: at a terminal outside the agent, or
with /writ-mode in the conversation.`,
		Example:   `  writ mode set work --session 5e2c…`,
		ValidArgs: modes,
		Args:      cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			request.Session, request.Mode = *session, args[0]
			if !slices.Contains(modes, request.Mode) {
				return client.Usage(fmt.Sprintf("mode set: there is no mode %q%s", request.Mode, spelling.Meant(request.Mode, modes)), "The modes are "+strings.Join(modes, ", ")+".")
			}
			for i, path := range request.Repro {
				request.Repro[i] = a.Env.Absolute(path)
			}
			// Whoever is at a terminal of his own acts as the user; an agent's
			// shell only as the agent.
			if a.IsPerson() == nil {
				return a.mode(cmd.Context(), "mode set "+request.Mode, client.RoleAdmin, schemas.SvcModeByUser, request)
			}
			return a.mode(cmd.Context(), "mode set "+request.Mode, client.RoleHook, schemas.SvcMode, request)
		},
	}
	c.Flags().BoolVar(&request.Orchestrator, "orchestrator", false, "the session directs others, whose work it exempts from phases")
	c.Flags().StringSliceVar(&request.Repro, "repro", nil, "with debug: files of the reproduction, which may be written")
	return c
}

func (a *app) mode(ctx context.Context, what, role, subject string, request schemas.ModeRequest) error {
	session, err := a.ResolveSession(ctx, what, request.Session)
	if err != nil {
		return err
	}
	request.Session = session
	return client.AskThen(ctx, a.Client, role, what, subject, request, func(reply schemas.ActReply) error { return a.showAct(what, reply) })
}

// showAct prints what a session became, or why it did not.
func (a *app) showAct(what string, reply schemas.ActReply) error {
	if a.JSON {
		if err := a.PrintJSON(reply); err != nil || reply.OK {
			return err
		}
		return &client.Fault{}
	}
	if !reply.OK {
		why := reply.Message
		for _, p := range reply.Problems {
			why += "\n  - " + p
		}
		return &client.Fault{What: what, Why: why}
	}
	st := a.Env.Style(a.Out)
	mode := cmp.Or(reply.Mode, "no mode")
	line := st.Bold(mode)
	if reply.Phase != "" {
		line += ", phase " + st.Bold(reply.Phase)
	}
	a.Printf("%s  %s\n", line, st.Dim("session "+client.ShortSession(reply.Session)))
	if reply.Message != "" {
		a.Printf("%s\n", reply.Message)
	}
	return nil
}
