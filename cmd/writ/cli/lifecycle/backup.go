package lifecycle

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// backupBudget is how long a backup may take: the whole log is read and written.
const backupBudget = time.Hour

func (a *app) backupCommand() *cobra.Command {
	var r schemas.BackupRequest
	c := &cobra.Command{
		Use: "backup DIR", Short: "Copy log, keys, evidence and settings while the daemon runs on",
		Long: `Writes a folder named after the time (UTC) into DIR: all streams at one moment, the
keys of observations, the evidence of the audit, credentials and settings, with a
digest of each file. Views, indexes and pulled models are left out: they are built
or pulled again. A backup that was cut off has another name and is removed by the
next one.

A backup holds keys and credentials in the clear: keep it where only you can read
it. What is forgotten later can still be read from it.`,
		Example: "  writ backup /mnt/backup/writ\n  writ backup /mnt/backup/writ --keep 7",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("keep") && r.Keep < 1 {
				return client.Usage("backup: --keep takes 1 or more", "`writ backup --help` shows how to use it.")
			}
			if args[0] == "" {
				return client.Usage("backup: DIR is empty", "`writ backup --help` shows how to use it.")
			}
			if r.Dir = args[0]; !filepath.IsAbs(r.Dir) {
				r.Dir = filepath.Join(a.Env.Dir, r.Dir)
			}
			reply, err := client.AskWithin[schemas.BackupReply](cmd.Context(), a.Client, client.RoleAdmin, "backup", backupBudget, schemas.SvcBackup, r)
			if err != nil {
				return err
			}
			return a.Print(reply, func() { a.showBackup(reply) })
		},
	}
	c.AddCommand(a.restoreCommand())
	c.Flags().IntVar(&r.Keep, "keep", 0, "remove the oldest backups of this data folder in DIR beyond this `number`")
	return c
}

func (a *app) showBackup(r schemas.BackupReply) {
	a.Printf("%s holds %d files, %d bytes, as of %s.\n", r.Path, r.Files, r.Bytes, r.Time.Local().Format(time.DateTime))
	for _, s := range r.Streams {
		a.Printf("  %s up to record %d\n", s.Name, s.Last)
	}
	for _, path := range r.Removed {
		a.Printf("Removed %s\n", path)
	}
	a.Printf("`writ backup restore %s` puts it back.\n", quoted(r.Path))
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t'\"$&;()<>|*?[]#~`\\!") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// restoreCommand reads backups with what writd links, so writd runs it.
func (a *app) restoreCommand() *cobra.Command {
	var to string
	c := &cobra.Command{
		Use: "restore DIR", Short: "Put a backup into an empty data folder",
		Long: `DIR is a backup, or a folder of backups, of which the newest is taken. Every file is
compared with its digest before anything is written: what is missing or damaged is
named, and nothing is changed. The folder it goes into must be empty or missing, and
no daemon may run on it. The daemon then builds its views from the log.

What was signed after the backup is remembered outside of the data folder. The next
start records the restore as an event, with how much is gone, and goes on signing;
writ audit verify names it from then on. A folder that went back in another way is
refused.`,
		Example: "  writ backup restore /mnt/backup/writ\n  writ backup restore /mnt/backup/writ/20260102T150405.000Z --to ~/writ-restored",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "" {
				return client.Usage("restore: DIR is empty", "`writ backup restore --help` shows how to use it.")
			}
			handed := []string{fmt.Sprintf("--json=%t", a.JSON), "--to=" + to, "--", args[0]}
			return tools{a}.handOver(cmd.Context(), "restore", handed)
		},
	}
	c.Flags().StringVar(&to, "to", "", "the `folder` it goes into (default: WRIT_HOME, else the user's state folder)")
	return c
}

// repairCommand changes the files of the log, so writd runs it.
func (a *app) repairCommand() *cobra.Command {
	var from string
	c := &cobra.Command{
		Use: "repair", Short: "Put right what is damaged in the log, while no daemon runs",
		Long: `Reads every record of the log and puts right those that are damaged: one wrong byte
from the record's own checksum, any other from a backup (--from). What neither has is
lost: the records behind it stay where they are, and the next start records the loss
as an event, which every reader goes on behind and writ audit verify names from then
on. Damaged files are kept as they were in the folder streams/damaged.

No daemon may run: writ down stops it. Until it runs again, hooks refuse.`,
		Example: "  writ repair --from /mnt/backup/writ\n  writ repair",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from != "" {
				from = a.Env.Absolute(from)
			}
			return tools{a}.handOver(cmd.Context(), "repair", []string{fmt.Sprintf("--json=%t", a.JSON), "--from=" + from})
		},
	}
	c.Flags().StringVar(&from, "from", "", "take what is damaged from a backup, or from the newest in a `folder` of backups")
	return c
}
