package history

import (
	"cmp"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// viewBudget is how long a view may take to be built: its whole log is read.
const viewBudget = time.Hour

func (a *app) viewCommand() *cobra.Command {
	c := client.Group("view", "Compare a view with what the log makes of it, or build it anew",
		"  writ log view verify rules\n  writ log view rebuild rules",
		a.viewAct("verify", "Build a view aside and compare it, byte for byte", false),
		a.viewAct("rebuild", "Build a view aside and put it in the place of the old one", true))
	c.Long = `Views answer the questions about the past; ` + "`writ status`" + ` lists them. Each is
built from the log alone, beside the one in use, which goes on meanwhile.`
	return c
}

func (a *app) viewAct(verb, short string, rebuild bool) *cobra.Command {
	return &cobra.Command{
		Use: verb + " NAME", Short: short, Example: "  writ log view " + verb + " sessions", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			request := schemas.ViewRequest{View: args[0], Rebuild: rebuild}
			reply, err := client.AskWithin[schemas.ViewReply](cmd.Context(), a.Client, client.RoleAdmin, "view "+verb, viewBudget, schemas.SvcView, request)
			switch {
			case err != nil:
				return err
			case a.JSON:
				if err := a.PrintJSON(reply); err != nil {
					return err
				}
			case rebuild:
				a.Printf("%s is what the log makes of it.\n", reply.View)
			case reply.Difference == nil:
				a.Printf("%s is, byte for byte, what the log makes of it.\n", reply.View)
			default:
				d := reply.Difference
				a.Printf("%s differs at the key %s\n  the view has %s\n  the log makes %s\n", reply.View, d.Key, cmp.Or(d.Held, "nothing"), cmp.Or(d.Built, "nothing"))
			}
			if reply.Difference != nil {
				return client.Refused("view verify", "the view is not what the log makes of it", "`writ log view rebuild "+reply.View+"` builds it anew.")
			}
			return nil
		},
	}
}
