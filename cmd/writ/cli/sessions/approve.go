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
		Long: `Shows what waits in a session and, once you type yes, approves exactly that: a
later change takes the approval back. Of a plan it shows the text, what changed
since you approved it last, and the files that it lets be written; of tests what
each asserts, and whether it was seen red. It is for a person at a terminal and
refuses to run for an agent. In a conversation, /writ-approve or a plain
"approved" does the same.

With --decline nothing is approved: the agent is told your words with its next
request. --decline - shows what waits and asks for them.`,
		Example: `  writ approve
  writ approve tests --session 5e2c…
  writ approve --decline "say how errors are told apart"`,
		ValidArgs: gates,
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		RunE: client.Only(a.IsPerson, func(cmd *cobra.Command, args []string) error {
			return Approve(cmd.Context(), a.Client, client.First(args), session, decline)
		}),
	}
	c.AddCommand(client.Named("settings", a.acceptCommand()), a.passkeyCommand(), a.keyCommand(), a.secondCommand())
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
	case decline != "" && decline != "-" && offer.Gate != "":
		return a.decline(ctx, offer, decline, act.String())
	case offer.Gate == "" || len(offer.Problems) > 0:
		// The daemon's own words for why nothing can be approved.
		reply, err := client.Ask[schemas.ActReply](ctx, a.Client, client.RoleAdmin, "approve", schemas.SvcApprove, request)
		if err != nil {
			return err
		}
		reply.OK = false
		return a.showAct("approve", reply)
	}
	if err := a.showOffer(offer); err != nil {
		return err
	}
	typed, answer := bufio.NewReader(a.In), "no"
	if decline == "" {
		a.Note("Type yes to approve, no to say what should change:")
		answer, _ = typed.ReadString('\n')
	}
	switch strings.TrimSpace(answer) {
	case "yes":
	case "no":
		a.Note("What should the agent change?")
		if decline, _ = typed.ReadString('\n'); strings.TrimSpace(decline) != "" {
			return a.decline(ctx, offer, strings.TrimSpace(decline), act.String())
		}
		fallthrough
	default:
		return client.Refused("approve", "the answer was not yes", "Nothing was approved, and it waits on.")
	}
	request.Fingerprint = offer.Fingerprint
	signed := schemas.GateApproved{Gate: offer.Gate, Fingerprint: offer.Fingerprint}
	if request.Signed, err = a.Sign("approve", schemas.Session(session), signed, schemas.Signed{Act: request.ActID}); err != nil {
		return err
	}
	return client.AskThen(ctx, a.Client, client.RoleAdmin, "approve", schemas.SvcApprove, request, func(reply schemas.ActReply) error { return a.showAct("approve", reply) })
}

// decline tells the agent what to change; nothing is approved.
func (a *app) decline(ctx context.Context, offer schemas.GateOffer, reason, act string) error {
	return client.AskThen(ctx, a.Client, client.RoleAdmin, "approve", schemas.SvcDecline, schemas.DeclineRequest{
		Session: offer.Session, Gate: offer.Gate, Fingerprint: offer.Fingerprint, Reason: reason, Channel: ChannelTerminal, ActID: act,
	}, func(reply schemas.ActReply) error { return a.showAct("approve", reply) })
}
