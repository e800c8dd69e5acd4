package lifecycle

import (
	"bytes"
	"cmp"
	"context"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/cmd/writ/cli/client"
)

// upgradeReply says what an upgrade did, or what is left to the user to run.
type upgradeReply struct {
	launch.Installation
	Version string `json:"version"` // of this program, before
	Run     string `json:"run"`     // what brings the programs up to date
	Ran     bool   `json:"ran"`     // this did so
}

func (a *app) upgradeCommand() *cobra.Command {
	var version, from string
	var dry bool
	c := &cobra.Command{
		Use:   "upgrade",
		Short: "Say how Writ was installed, and bring it up to date",
		Long: `Says how these programs were installed. Where install.sh did so, it runs that
script again: the archive of the latest release, or of --version, is compared with
the release's checksums, and both programs are replaced. Where something else did,
such as go install or a package manager, it says what to run and changes nothing.

A project's hooks need no change. The log, settings and keys stay as they are.`,
		Example: `  writ upgrade
  writ upgrade --dry-run
  writ upgrade --version 0.2.0`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.upgrade(cmd.Context(), version, from, dry)
		},
	}
	c.Flags().StringVar(&version, "version", "", "this release in place of the latest")
	c.Flags().StringVar(&from, "from", "", "a folder or address with the archives and checksums of a release")
	c.Flags().BoolVar(&dry, "dry-run", false, "only say how it was installed and what to run")
	return c
}

func (a *app) upgrade(ctx context.Context, version, from string, dry bool) error {
	at := launch.Installed(a.Env.Executable, a.Env.Home, a.Env.Vars)
	from = cmp.Or(from, at.From)
	reply := upgradeReply{Installation: at, Version: Version, Run: upgradeLine(at, version)}
	if at.Way == launch.ByScript && from != "" {
		reply.Run += " --from " + client.ShellWord(from)
	}
	if at.Way == launch.ByScript && !dry && runtime.GOOS != "windows" {
		if err := runInstaller(ctx, a.Client, at.Dir, version, from); err != nil {
			return err
		}
		reply.Ran = true
	}
	return a.Print(reply, func() {
		switch {
		case reply.Ran:
			a.Printf("`writ doctor` says whether the running daemon is of this version.\n")
		case at.Way == launch.ByPackage:
			a.Printf("%s in %s, which belongs to a package manager: upgrade it with that.\n", reply.Version, at.Dir)
		default:
			a.Printf("%s in %s, %s. To bring it up to date, run\n\n    %s\n", reply.Version, at.Dir, waysInWords[at.Way], reply.Run)
		}
	})
}

var waysInWords = map[launch.Way]string{
	launch.ByScript: "installed by install.sh", launch.ByGo: "installed by go install",
	launch.ByCheckout: "built from a checkout", launch.ByHand: "put there by hand",
}

func upgradeLine(at launch.Installation, version string) string {
	switch {
	case at.Way == launch.ByGo && version != "":
		return at.GoLine("v" + version)
	case at.Way == launch.ByGo:
		return at.GoLine("latest")
	case at.Way == launch.ByCheckout:
		return "git pull && go run ./cmd/writ up"
	case at.Way == launch.ByPackage:
		return ""
	case version != "":
		return at.ScriptLine() + " --version " + version
	}
	return at.ScriptLine()
}

// runInstaller runs the script that this build carries, which reports by
// itself.
func runInstaller(ctx context.Context, a *client.Client, dir, version, from string) error {
	args := []string{"-s", "--", "--dir", dir}
	if version != "" {
		args = append(args, "--version", version)
	}
	if from != "" {
		args = append(args, "--from", from)
	}
	script := exec.CommandContext(ctx, "sh", args...)
	script.Stdin, script.Env, script.Dir = bytes.NewReader(launch.InstallScript), a.Env.Vars, a.Env.Dir
	script.Stdout, script.Stderr = a.Err, a.Err
	if err := script.Run(); err != nil {
		return client.Refused("upgrade", "the installation failed: "+err.Error(), "What it printed above says why; the programs are as they were.")
	}
	return nil
}
