// Package lifecycle holds the commands about the daemon, the installation and
// the programs: up, down, status, doctor, dash, backup, restore, init, uninstall,
// version, upgrade, and the tools that writd runs.
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

// SetUp are the commands that install, start and stop, and what they need.
func SetUp(c *client.Client) []*cobra.Command {
	a := &app{c}
	version := a.versionCommand()
	version.Hidden = true // --version is listed
	return []*cobra.Command{a.initCommand(), a.doctorCommand(), a.upCommand(), a.downCommand(), a.uninstallCommand(), a.backupCommand(), a.repairCommand(), tools{a}.modelCommand(), a.upgradeCommand(), version}
}

// Watch are the commands that show what goes on.
func Watch(c *client.Client) []*cobra.Command {
	a := &app{c}
	return []*cobra.Command{tools{a}.topCommand(), a.dashCommand(), a.statusCommand()}
}

// WhatIf runs the log under other settings.
func WhatIf(c *client.Client) *cobra.Command { return tools{&app{c}}.whatIfCommand() }

// Move brings the log to another place.
func Move(c *client.Client) *cobra.Command { return (&app{c}).moveLogCommand() }

// Hosts are the commands that hosts run.
func Hosts(c *client.Client) []*cobra.Command { return []*cobra.Command{tools{&app{c}}.mcpCommand()} }

// Old are the names that these commands had before.
func Old(c *client.Client) []*cobra.Command {
	a := &app{c}
	return []*cobra.Command{
		client.Old(a.restoreCommand(), "backup restore"), client.Old(tools{a}.benchmarkCommand(), "model benchmark"),
		client.Old(tools{a}.tuneCommand(), "model tune"), client.Old(tools{a}.whatIfCommand(), "log whatif"),
	}
}
