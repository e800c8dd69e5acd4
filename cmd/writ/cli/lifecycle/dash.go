package lifecycle

import (
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func (a *app) dashCommand() *cobra.Command {
	var show bool
	var r schemas.DashRequest
	c := &cobra.Command{
		Use:   "dash",
		Short: "Open the dashboard in a browser",
		Long: `Opens the dashboard: live sessions and their gates, decisions, rules, retrieval,
memory and the log, in a browser on this machine. What waits for approval can be
approved or declined there, with the difference from what was approved before.

The link works once, for two minutes; the browser that opened it stays let in
for twelve hours or until the daemon stops. It is for a person: it refuses to
run for an agent.`,
		Example: `  writ dash
  writ dash --print | xargs firefox`,
		Args: cobra.NoArgs,
		RunE: client.Only(a.IsPerson, func(cmd *cobra.Command, _ []string) error {
			reply, err := client.Ask[schemas.DashReply](cmd.Context(), a.Client, client.RoleAdmin, "dash", schemas.SvcDash, r)
			if err != nil {
				return err
			}
			switch {
			case a.JSON:
				return a.PrintJSON(reply)
			case show:
				a.Printf("%s\n", reply.URL)
				return nil
			}
			if err := openBrowser(reply.URL); err != nil {
				a.Note("No browser could be started (%v). Open this link within %s:", err, time.Until(reply.Expires).Round(time.Second))
				a.Printf("%s\n", reply.URL)
				return nil
			}
			a.Printf("The dashboard opens in your browser. If it does not, `writ dash --print` shows a link.\n")
			return nil
		}),
	}
	c.Flags().BoolVar(&r.Reads, "read-only", false, "a link to look with, as for an auditor, and to act on nothing")
	c.Flags().BoolVar(&show, "print", false, "print the link, open nothing")
	return c
}

// openBrowser starts the system's own opener, which returns at once.
func openBrowser(url string) error {
	switch runtime.GOOS {
	case "darwin":
		return exec.Command("open", url).Run()
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", url).Run()
	}
	return exec.Command("xdg-open", url).Run()
}
