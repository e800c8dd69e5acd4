// Package lifecycle holds the commands about the daemon, the installation and
// the programs: up, down, status, doctor, dash, backup, restore, init, uninstall,
// version, and the tools that writd runs.
//
// It starts and stops processes and writes a project's files; what lies in a
// host's settings is decided by the installers.
package lifecycle

import (
	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
)

// app is one run of the client, in which these commands act.
type app struct{ *client.Client }

// Daemon are the commands about the daemon.
func Daemon(c *client.Client) []*cobra.Command {
	a := &app{c}
	return []*cobra.Command{a.upCommand(), a.downCommand(), a.statusCommand(), a.doctorCommand(), a.dashCommand(), a.backupCommand(), a.restoreCommand(), a.repairCommand()}
}

// Project are the commands that put a project under guard and take it out.
func Project(c *client.Client) []*cobra.Command {
	a := &app{c}
	return []*cobra.Command{a.initCommand(), a.uninstallCommand()}
}

// Tools are the programs that writd runs, and this one's version.
func Tools(c *client.Client) []*cobra.Command {
	a := &app{c}
	return append(a.toolCommands(), a.versionCommand())
}
