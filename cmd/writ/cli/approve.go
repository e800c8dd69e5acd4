package cli

import (
	"bufio"
	"context"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/writbus/writ/schemas"
)

// channelTerminal names how a gate was approved here. Persisted; never change.
const channelTerminal = "terminal"

func (a *app) approveCommand() *cobra.Command {
	var session string
	c := &cobra.Command{
		Use:   "approve [plan|tests]",
		Short: "Approve the plan or the tests that wait, at a terminal",
		Long: `Approves what waits in a session, for exactly the files as they are now: a later
change takes the approval back. It is for a person at a terminal; it refuses to
run for an agent. In a conversation, /writ-approve or a plain "approved" does
the same.`,
		Example: `  writ approve
  writ approve tests --session 5e2c…`,
		ValidArgs: []string{"plan", "tests"},
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.isPerson(); err != nil {
				return err
			}
			return a.approve(cmd.Context(), first(args), session)
		},
	}
	c.Flags().StringVar(&session, "session", "", "the session (default: this project's latest)")
	return c
}

func (a *app) approve(ctx context.Context, gate, session string) error {
	session, err := a.resolveSession(ctx, "approve", session)
	if err != nil {
		return err
	}
	request := schemas.ApproveRequest{Session: session, Gate: gate, Channel: channelTerminal}
	offer, err := ask[schemas.ActReply](ctx, a, roleAdmin, "approve", schemas.SvcApprove, request)
	if err != nil {
		return err
	}
	if !offer.OK || offer.Fingerprint == "" {
		offer.OK = false
		return a.showAct("approve", offer)
	}
	st := a.env.style(a.err)
	a.note("%s of session %s would be approved as it is now:", st.bold("The "+offer.Gate), session)
	for _, f := range offer.Files {
		a.note("  %s  %s  %s", shorten(f.SHA256, 13), f.Path, st.dim(size(uint64(max(f.Bytes, 0)))))
	}
	a.note("  fingerprint %s", offer.Fingerprint)
	a.note("Type yes to approve:")
	line, _ := bufio.NewReader(a.in).ReadString('\n')
	if strings.TrimSpace(line) != "yes" {
		return refused("approve", "the answer was not yes", "Nothing was approved.")
	}
	act, err := uuid.NewV7()
	if err != nil {
		return explain("approve", err)
	}
	request.Gate, request.Fingerprint, request.ActID = offer.Gate, offer.Fingerprint, act.String()
	reply, err := ask[schemas.ActReply](ctx, a, roleAdmin, "approve", schemas.SvcApprove, request)
	if err != nil {
		return err
	}
	return a.showAct("approve", reply)
}
