package sessions

import (
	"bufio"
	"context"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// ChannelTerminal names how a gate was approved here. Persisted; never change.
const ChannelTerminal = "terminal"

// gates are what may be approved.
var gates = []string{"plan", "tests", "implementation"}

func (a *app) approveCommand() *cobra.Command {
	var session, decline string
	c := &cobra.Command{
		Use:   "approve [plan|tests|implementation]",
		Short: "Approve the plan or the tests that wait, at a terminal",
		Long: `Approves what waits in a session, for exactly the files as they are now: a later
change takes the approval back. It shows what changed since the last approval.
It is for a person at a terminal; it refuses to run for an agent. In a
conversation, /writ-approve or a plain "approved" does the same.

With --decline nothing is approved: the agent is told your words with its next
request.`,
		Example: `  writ approve
  writ approve tests --session 5e2c…
  writ approve --decline "say how errors are told apart"`,
		ValidArgs: gates,
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.IsPerson(); err != nil {
				return err
			}
			return Approve(cmd.Context(), a.Client, client.First(args), session, decline)
		},
	}
	c.AddCommand(client.Named("settings", a.acceptCommand()), a.passkeyCommand())
	c.Flags().StringVar(&session, "session", "", "the session (default: this project's latest)")
	c.Flags().StringVar(&decline, "decline", "", "do not approve: tell the agent what to change")
	return c
}

// Approve shows what waits and approves it once the person has typed yes. That
// it is a person has been checked.
func Approve(ctx context.Context, in *client.Client, gate, session, decline string) error {
	a := &app{in}
	session, err := a.ResolveSession(ctx, "approve", session)
	if err != nil {
		return err
	}
	offer, err := client.Ask[schemas.GateOffer](ctx, a.Client, client.RoleAdmin, "approve", schemas.SvcOffer, schemas.OfferRequest{Session: session, Gate: gate, Channel: ChannelTerminal})
	if err != nil {
		return err
	}
	act, err := uuid.NewV7()
	if err != nil {
		return client.Explain("approve", err)
	}
	request := schemas.ApproveRequest{Session: session, Gate: offer.Gate, Channel: ChannelTerminal, ActID: act.String()}
	switch {
	case decline == "" && offer.Gate != "" && offer.TooWeak != "":
		return client.Refused("approve", offer.TooWeak, "")
	case decline != "" && offer.Gate != "":
		reply, err := client.Ask[schemas.ActReply](ctx, a.Client, client.RoleAdmin, "approve", schemas.SvcDecline, schemas.DeclineRequest{
			Session: session, Gate: offer.Gate, Fingerprint: offer.Fingerprint, Reason: decline, Channel: ChannelTerminal, ActID: act.String(),
		})
		if err != nil {
			return err
		}
		return a.showAct("approve", reply)
	case offer.Gate == "" || len(offer.Problems) > 0:
		// The daemon's own words for why nothing can be approved.
		reply, err := client.Ask[schemas.ActReply](ctx, a.Client, client.RoleAdmin, "approve", schemas.SvcApprove, request)
		if err != nil {
			return err
		}
		reply.OK = false
		return a.showAct("approve", reply)
	}
	a.showOffer(session, offer)
	line, _ := bufio.NewReader(a.In).ReadString('\n')
	if strings.TrimSpace(line) != "yes" {
		return client.Refused("approve", "the answer was not yes", "Nothing was approved. writ approve --decline \"…\" tells the agent what to change.")
	}
	request.Fingerprint = offer.Fingerprint
	return client.AskThen(ctx, a.Client, client.RoleAdmin, "approve", schemas.SvcApprove, request, func(reply schemas.ActReply) error { return a.showAct("approve", reply) })
}

// showOffer prints what an approval would approve.
func (a *app) showOffer(session string, offer schemas.GateOffer) {
	st := a.Env.Style(a.Err)
	a.Note("%s of session %s would be approved as it is now:", st.Bold("The "+offer.Gate), session)
	for _, f := range offer.Files {
		a.Note("  %s  %s  %s", client.Shorten(f.SHA256, 13), f.Path, st.Dim(client.Size(uint64(max(f.Bytes, 0)))))
	}
	for _, f := range offer.Files {
		switch {
		case f.Unshown != "":
			a.Note("%s is not shown: %s", f.Path, f.Unshown)
		case f.New:
			a.Note("  %s was not approved before", f.Path)
		case f.Diff == "":
			a.Note("  %s is as approved before", f.Path)
		default:
			for line := range strings.Lines(f.Diff) {
				a.Note("  %s", st.Diff(client.Printable(strings.TrimRight(line, "\r\n"))))
			}
		}
	}
	for _, one := range offer.Seen {
		a.Note("  %s", client.Printable(one.Text))
	}
	a.Note("  fingerprint %s", offer.Fingerprint)
	a.Note("Type yes to approve:")
}
