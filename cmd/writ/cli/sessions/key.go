package sessions

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/projections/audit/evidence"
)

func (a *app) keyCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use: "key", Short: "Show or draw the key that signs what you approve",
		Long: `With a key of your own, what you approve and decide about rules in a terminal is
signed: writ audit verify checks it, and writ audit attest verify --person asks for it
and names you. The key lies in a file that you alone read. This prints the public one,
for those who verify.

A key says whose approval it is, not that nobody else had your machine: programs of
yours can use it. What has to be a finger or a touch takes a passkey.`,
		Example: `  writ approve key --new ann@example.org
  writ approve key >> persons.keys`,
		Args: cobra.NoArgs,
		RunE: client.Only(a.IsPerson, func(*cobra.Command, []string) error { return a.key(name) }),
	}
	c.Flags().StringVar(&name, "new", "", "draw a key under this `name`; what an earlier one signed goes on to hold")
	return c
}

func (a *app) key(name string) error {
	const what = "approve key"
	if name != "" {
		if strings.ContainsAny(name, " \t\r\n+") {
			return client.Usage(what+": a name has no blank and no plus sign", "Use one such as ann@example.org.")
		}
		key, err := evidence.NewKey(name)
		if err == nil {
			err = a.KeepPersonKey(key)
		}
		if err != nil {
			return client.Refused(what, client.OneLine(err.Error()), "")
		}
	}
	_, public, place, err := a.PersonKey(what, true)
	if err != nil {
		return err
	}
	a.Note("kept in %s", place)
	return a.Print(map[string]string{"key": public, "place": place}, func() { a.Printf("%s\n", public) })
}
