package sessions

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func (a *app) phaseCommand() *cobra.Command {
	var request schemas.PhaseRequest
	act := func(act string) func(*cobra.Command, []string) error {
		return func(cmd *cobra.Command, args []string) error {
			request.Act = act
			if len(args) > 0 {
				request.Gate = args[0]
			}
			if act == "invalidate" && request.Reason == "" {
				return client.Usage("phase invalidate: the reason is missing", "Give --reason: it is told to the agent and kept in the log.")
			}
			return a.phase(cmd.Context(), request)
		}
	}
	c := &cobra.Command{
		Use:   "phase",
		Short: "Show the phase of a session, or send it back",
		Example: `  writ session phase
  writ session phase invalidate plan --reason "the API changed"
  writ session phase reopen`,
		Args: cobra.NoArgs,
		RunE: act("show"),
	}
	c.PersistentFlags().StringVar(&request.Session, "session", "", "the session (default $CLAUDE_CODE_SESSION_ID, else this project's latest)")
	show := &cobra.Command{
		Use: "show", Short: "Show the phase of a session and its gates", Example: `  writ session phase show --json`,
		Args: cobra.NoArgs, RunE: act("show"),
	}
	invalidate := &cobra.Command{
		Use: "invalidate plan|tests", Short: "Take an approval back, with a reason",
		Example:   `  writ session phase invalidate tests --reason "they test the mock"`,
		ValidArgs: []string{"plan", "tests"}, Args: cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs), RunE: act("invalidate"),
	}
	invalidate.Flags().StringVar(&request.Reason, "reason", "", "why, for the record")
	invalidate.Flags().StringVar(&request.Rule, "rule", "", "the rule that was broken, if one was")
	reopen := &cobra.Command{
		Use: "reopen", Short: "Go back from verification to implementation",
		Example: `  writ session phase reopen --reason "a capability is missing"`,
		Args:    cobra.NoArgs, RunE: act("reopen"),
	}
	reopen.Flags().StringVar(&request.Reason, "reason", "", "why, for the record")
	c.AddCommand(show, invalidate, reopen)
	return c
}

func (a *app) phase(ctx context.Context, request schemas.PhaseRequest) error {
	what := "phase " + request.Act
	session, err := a.ResolveSession(ctx, what, request.Session)
	if err != nil {
		return err
	}
	request.Session = session
	if request.Act == "show" {
		return client.Show(ctx, a.Client, client.RoleHook, what, schemas.SvcSession, schemas.SessionQuery{Session: session}, a.showGates)
	}
	if err := a.IsPerson(); err != nil {
		return err
	}
	return client.AskThen(ctx, a.Client, client.RoleAdmin, what, schemas.SvcPhase, request, func(reply schemas.ActReply) error { return a.showAct(what, reply) })
}
