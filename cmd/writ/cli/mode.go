package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/schemas"
)

var modes = []string{"conversation", "debug", "review", "work"}

func (a *app) modeCommand() *cobra.Command {
	var session string
	c := &cobra.Command{
		Use:   "mode",
		Short: "Show or set the mode of a session",
		Long: `Shows the mode of a session: what it may write in the project.

  conversation   anything; for questions and brainstorming
  debug          tests and scratch; other files are asked for
  review         the findings file only
  work           by phase: plan, tests, implementation, each approved by the user`,
		Example: `  writ mode
  writ mode set work
  writ mode set debug --repro cmd/app/main.go`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.mode(cmd.Context(), "mode", roleHook, schemas.SvcMode, schemas.ModeRequest{Session: session})
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
		Long: `Sets the mode of a session. An agent may choose one while none is set; leaving
work, and becoming an orchestrator, is for the user: at a terminal outside the
agent, or with /writ-mode in the conversation.`,
		Example:   `  writ mode set work --session 5e2c…`,
		ValidArgs: modes,
		Args:      cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			request.Session, request.Mode = *session, args[0]
			if !slices.Contains(modes, request.Mode) {
				return usage(fmt.Sprintf("mode set: there is no mode %q", request.Mode), "The modes are "+strings.Join(modes, ", ")+".")
			}
			for i, path := range request.Repro {
				request.Repro[i] = a.env.absolute(path)
			}
			// Whoever is at a terminal of his own acts as the user; an agent's
			// shell only as the agent.
			if a.isPerson() == nil {
				return a.mode(cmd.Context(), "mode set "+request.Mode, roleAdmin, schemas.SvcModeByUser, request)
			}
			return a.mode(cmd.Context(), "mode set "+request.Mode, roleHook, schemas.SvcMode, request)
		},
	}
	c.Flags().BoolVar(&request.Orchestrator, "orchestrator", false, "the session directs others, whose work it exempts from phases")
	c.Flags().StringSliceVar(&request.Repro, "repro", nil, "with debug: files of the reproduction, which may be written")
	return c
}

func (a *app) mode(ctx context.Context, what, role, subject string, request schemas.ModeRequest) error {
	session, err := a.resolveSession(ctx, what, request.Session)
	if err != nil {
		return err
	}
	request.Session = session
	reply, err := ask[schemas.ActReply](ctx, a, role, what, subject, request)
	if err != nil {
		return err
	}
	return a.showAct(what, reply)
}

// showAct prints what a session became, or why it did not.
func (a *app) showAct(what string, reply schemas.ActReply) error {
	if a.json {
		if err := a.printJSON(reply); err != nil || reply.OK {
			return err
		}
		return &fault{}
	}
	if !reply.OK {
		why := reply.Message
		for _, p := range reply.Problems {
			why += "\n  - " + p
		}
		return &fault{what: what, why: why}
	}
	st := a.env.style(a.out)
	mode := reply.Mode
	if mode == "" {
		mode = "no mode"
	}
	line := st.bold(mode)
	if reply.Phase != "" {
		line += ", phase " + st.bold(reply.Phase)
	}
	a.printf("%s  %s\n", line, st.dim("session "+reply.Session))
	if reply.Message != "" {
		a.printf("%s\n", reply.Message)
	}
	return nil
}

// resolveSession is the session a command acts on: the flag, the one whose
// agent runs the command, or the latest live one of the project around the
// working folder.
func (a *app) resolveSession(ctx context.Context, what, flag string) (string, error) {
	if flag != "" {
		return a.wholeSession(ctx, what, flag)
	}
	if session := a.sessionOr(""); session != "" {
		return session, nil
	}
	root, found := config.FindProject(a.env.Dir)
	if !found {
		return "", usage(what+": which session is meant, is missing",
			"Give --session (`writ session list` shows them), or run this in a project that uses Writ.")
	}
	list, err := ask[schemas.SessionList](ctx, a, roleHook, what, schemas.SvcSessions, schemas.SessionQuery{Project: root})
	if err != nil {
		return "", err
	}
	for _, s := range list.Sessions {
		if !s.Ended && s.Parent == "" {
			a.note("session %s, the latest of %s", s.Session, root)
			return s.Session, nil
		}
	}
	return "", refused(what, "no session is open in "+root, "`writ session list` shows those of the past; give one with --session.")
}
