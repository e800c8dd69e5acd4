package sessions

import (
	"bufio"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func (a *app) acceptCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "accept [DIR]",
		Short: "Accept a project's settings that ask less of agents",
		Long: `A change of .writ/config.yaml that asks more of agents takes effect at once. One
that asks less waits until a person accepts it, however it came there: by an
editor, a pull, another branch or an agent. This shows what waits and accepts it
once you have typed yes. What was accepted once is valid again on every branch
and in every work tree of the repository.`,
		Example: `  writ approve settings
  writ approve settings ~/src/shop`,
		Args: cobra.MaximumNArgs(1),
		RunE: client.Only(a.IsPerson, func(cmd *cobra.Command, args []string) error {
			dir := a.Env.Dir
			if len(args) > 0 {
				dir = a.Env.Absolute(args[0])
			}
			root, found := a.FindProject(dir)
			if !found {
				return client.Refused("accept", dir+" is in no project that Writ guards", "Give the folder of a project.")
			}
			ask := schemas.SettingsRequest{Project: root}
			reply, err := client.Ask[schemas.SettingsReply](cmd.Context(), a.Client, client.RoleAdmin, "accept", schemas.SvcSettings, ask)
			if err != nil {
				return err
			}
			if len(reply.Waits) == 0 {
				return a.Print(reply, func() { a.Printf("Nothing waits: %s of %s is in effect.\n", config.ProjectFile, reply.Project) })
			}
			a.Note("%s of %s would take effect:", config.ProjectFile, reply.Project)
			for _, w := range reply.Waits {
				a.Note("  %s", client.Printable(w))
			}
			a.Note("Type yes to accept:")
			line, _ := bufio.NewReader(a.In).ReadString('\n')
			if strings.TrimSpace(line) != "yes" {
				return client.Refused("accept", "the answer was not yes", "Nothing was accepted; what was accepted before goes on ruling.")
			}
			ask.Digest = reply.Digest
			return client.Show(cmd.Context(), a.Client, client.RoleAdmin, "accept", schemas.SvcSettings, ask, func(schemas.SettingsReply) { a.Printf("Accepted.\n") })
		}),
	}
}
