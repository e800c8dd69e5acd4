package lifecycle

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/enforcement/host/install"
	"github.com/writbus/writ/projections/audit/gitcommit"
)

func (a *app) uninstallCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "uninstall [DIR]",
		Short: "Take Writ out of a project, without a trace",
		Long: `Takes Writ's hooks, slash commands and settings out of the project in DIR, or in
this folder. Files that nobody changed since get the bytes they had before; in
others only Writ's own entries go. The hook of writ git install goes with it, where
DIR is the top of its repository. The log keeps what happened.`,
		Example: `  writ uninstall`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, err := a.projectDir("uninstall", client.First(args))
			if err != nil {
				return err
			}
			report, err := install.Uninstall(root)
			if err != nil {
				return installFault(err)
			}
			dataDir, err := a.Env.DataDir()
			if err != nil {
				return client.Explain("uninstall", err)
			}
			if err := config.Unregister(dataDir, root); err != nil {
				return client.Explain("uninstall", err)
			}
			report.Commits, err = a.withoutCommits(cmd.Context(), root)
			if err != nil {
				return client.Explain("uninstall", err)
			}
			return a.Print(report, func() {
				if len(report.Removed)+len(report.Written) == 0 && report.Commits == "" {
					a.Printf("%s does not use Writ; nothing had to change.\n", root)
				} else {
					a.Printf("Writ no longer guards %s.\n", root)
				}
				for _, path := range report.Written {
					a.Printf("  restored %s\n", path)
				}
				for _, path := range report.Removed {
					a.Printf("  removed  %s\n", path)
				}
				if report.Commits != "" {
					a.Printf("  %s\n", report.Commits)
				}
				for _, path := range report.Kept {
					a.Printf("  kept     %s\n", path)
				}
			})
		},
	}
}

// withoutCommits takes the hook of commits out of the repository whose top is root,
// and says so. One that other repositories use stays.
func (a *app) withoutCommits(ctx context.Context, root string) (said string, err error) {
	r := gitcommit.Repository{Dir: root, Env: a.Env.Vars}
	if below, err := r.Git(ctx, "rev-parse", "--show-prefix"); err != nil || below != "" {
		return "", nil //nolint:nilerr // no repository, or one that others are guarded in
	}
	at, err := r.HookOf(ctx, false)
	if err != nil {
		return "", nil //nolint:nilerr // it serves others
	}
	if said, err = at.Uninstall(); err != nil || said == gitcommit.Absent {
		return "", err
	}
	return at.Path + ": " + said, nil
}
