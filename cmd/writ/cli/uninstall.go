package cli

import (
	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli/install"
)

func (a *app) uninstallCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "uninstall [DIR]",
		Short: "Take Writ out of a project, without a trace",
		Long: `Takes Writ's hooks, slash commands and settings out of the project in DIR, or in
this folder. Files that nobody changed since get the bytes they had before; in
others only Writ's own entries go. The log keeps what happened.`,
		Example: `  writ uninstall`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			root, err := a.projectDir("uninstall", first(args))
			if err != nil {
				return err
			}
			report, err := install.Uninstall(root)
			if err != nil {
				return installFault(err)
			}
			dataDir, err := a.env.dataDir()
			if err != nil {
				return explain("uninstall", err)
			}
			if err := config.Unregister(dataDir, root); err != nil {
				return explain("uninstall", err)
			}
			if a.json {
				return a.printJSON(report)
			}
			if len(report.Removed)+len(report.Written) == 0 {
				a.printf("%s does not use Writ; nothing had to change.\n", root)
			} else {
				a.printf("Writ no longer guards %s.\n", root)
			}
			for _, path := range report.Written {
				a.printf("  restored %s\n", path)
			}
			for _, path := range report.Removed {
				a.printf("  removed  %s\n", path)
			}
			for _, path := range report.Kept {
				a.printf("  kept     %s\n", path)
			}
			return nil
		},
	}
}
