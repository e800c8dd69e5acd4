package sessions

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/enforcement/cosign"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

const second = "approve second"

func (a *app) secondCommand() *cobra.Command {
	var session string
	c := &cobra.Command{
		Use: "second ask|sign|take FILE", Short: "Have a second person approve what waits, on their machine",
		Long: `Where two persons have to approve (approval: two-person), ask writes what waits, whole,
to FILE. The second person, on a machine of their own and with their key (writ approve
key), reads it with sign, which writes FILE.signed once they type yes. take hands that in
here, within a day. Each approves exactly what the other did; nothing else counts.`,
		Example: "  writ approve second ask plan.json\n  writ approve second sign plan.json\n  writ approve second take plan.json.signed",
		Args:    cobra.ExactArgs(2), ValidArgs: []string{"ask", "sign", "take"},
		RunE: client.Only(a.IsPerson, func(cmd *cobra.Command, args []string) error {
			do := map[string]func(context.Context, string, string) error{"ask": a.askSecond, "sign": a.signSecond, "take": a.takeSecond}[args[0]]
			if do == nil {
				return client.Usage(second+": there is no act "+args[0], "Use ask, sign or take.")
			}
			return do(cmd.Context(), a.Env.Absolute(args[1]), session)
		}),
	}
	c.Flags().StringVar(&session, "session", "", "the session to ask for (default: this project's latest)")
	return c
}

func (a *app) askSecond(ctx context.Context, file, session string) error {
	session, err := a.ResolveSession(ctx, second, session)
	if err != nil {
		return err
	}
	offer, err := client.Ask[schemas.GateOffer](ctx, a.Client, client.RoleAdmin, second, schemas.SvcOffer, schemas.OfferRequest{Session: session, Channel: ChannelTerminal})
	switch {
	case err != nil:
		return err
	case offer.Gate == "" || offer.Second == "" || len(offer.Problems) > 0:
		return client.Refused(second, "nothing waits that two persons could approve: "+strings.Join(offer.Problems, "; "), "See writ approve.")
	}
	r, err := cosign.Of(offer, func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(offer.Project, path)) })
	if err != nil {
		return client.Refused(second, client.OneLine(err.Error()), "")
	}
	return a.keepSecond(file, r, "They run: writ approve second sign "+filepath.Base(file))
}

func (a *app) keepSecond(file string, what any, next string) error {
	raw, err := json.Marshal(what)
	if err == nil {
		err = atomicfile.Write(file, append(raw, '\n'), 0o600)
	}
	if err != nil {
		return client.Refused(second, client.OneLine(err.Error()), "")
	}
	return a.Print(map[string]string{"file": file}, func() { a.Printf("written to %s. %s\n", file, next) })
}

func (a *app) signSecond(_ context.Context, file, _ string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return client.Explain(second, err)
	}
	r, err := cosign.Read(raw)
	if err != nil {
		return client.Refused(second, client.OneLine(err.Error()), "")
	}
	if _, _, _, err := a.PersonKey(second, true); err != nil {
		return err
	}
	for line := range strings.Lines(r.Text()) {
		a.Note("%s", client.Printable(strings.TrimRight(line, "\n")))
	}
	a.Note("Type yes to approve exactly this:")
	if answer, _ := bufio.NewReader(a.In).ReadString('\n'); strings.TrimSpace(answer) != "yes" {
		return client.Refused(second, "the answer was not yes", "Nothing was signed.")
	}
	act, err := uuid.NewV7()
	if err != nil {
		return client.Explain(second, err)
	}
	signed, err := a.Sign(second, schemas.Session(r.Session), r.Act(), schemas.Signed{Act: act.String()})
	if err != nil {
		return err
	}
	return a.keepSecond(file+".signed", schemas.ApproveRequest{
		Session: r.Session, Gate: r.Gate, Fingerprint: r.Fingerprint(), Channel: ChannelTerminal, ActID: act.String(), Signed: signed,
	}, "Where the session is: writ approve second take "+filepath.Base(file)+".signed")
}

func (a *app) takeSecond(ctx context.Context, file, _ string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return client.Explain(second, err)
	}
	var request schemas.ApproveRequest
	if err := json.Unmarshal(raw, &request); err != nil || request.Signed == nil || request.Channel != ChannelTerminal {
		return client.Refused(second, file+" holds no signed approval", "take is for what writ approve second sign wrote.")
	}
	return client.AskThen(ctx, a.Client, client.RoleAdmin, second, schemas.SvcApprove, request, func(reply schemas.ActReply) error { return a.showAct(second, reply) })
}
