package lifecycle

import (
	"context"
	"fmt"
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
	var every string
	c := &cobra.Command{
		Use: "backup DIR|URL", Short: "Copy log, keys, evidence and settings while the daemon runs on",
		Long: `Writes a folder named after the time (UTC) into DIR: all streams at one moment, the
keys of observations, the evidence of the audit, signing keys and settings, with a
digest of each file. Files that an earlier backup there has are compared and linked,
not copied again. Views, indexes and pulled models are left out: they are built or
pulled again. A backup that was cut off has another name and is removed by the next
one. --every has the daemon write one again and again; writ status says when it
could not.

s3://BUCKET/PREFIX?endpoint=https://HOST&region=NAME is a store that speaks S3, for
which the endpoint is Amazon's where none is named. The daemon takes its credentials
from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY as it was started with, else from
~/.aws/credentials.

A backup holds keys in the clear, and nothing with which the daemon lets somebody in:
keep it where only you can read it, which your agents can, too. What is forgotten later can still be read from it.`,
		Example: "  writ backup /mnt/backup/writ\n  writ backup /mnt/backup/writ --every 24h --keep 7\n  writ backup --every off\n  writ backup 's3://backups/writ?endpoint=https://s3.example.org'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			switch r.Every, err = time.ParseDuration(every); {
			case every == "off" && len(args) == 0:
				r.Every = -1
				return client.Show(cmd.Context(), a.Client, client.RoleAdmin, "backup", schemas.SvcBackup, r, func(schemas.BackupReply) { a.Printf("No more backups are written by themselves.\n") })
			case every != "" && (err != nil || r.Every < time.Minute):
				return client.Usage("backup: --every takes a minute or more, such as 24h, or off without DIR", "`writ backup --help` shows how to use it.")
			case cmd.Flags().Changed("keep") && r.Keep < 1:
				return client.Usage("backup: --keep takes 1 or more", "`writ backup --help` shows how to use it.")
			}
			return a.backUp(cmd.Context(), "backup", client.First(args), r, a.showBackup)
		},
	}
	c.AddCommand(a.restoreCommand(), a.moveCommand())
	c.Flags().IntVar(&r.Keep, "keep", 0, "remove the oldest backups of this data folder in DIR beyond this `number`")
	c.Flags().StringVar(&every, "every", "", "write one again after this `time`, and so on; off ends it")
	return c
}

func (a *app) backUp(ctx context.Context, what, place string, r schemas.BackupRequest, show func(schemas.BackupReply)) error {
	if place == "" {
		return client.Usage(what+": DIR is missing", "`writ "+what+" --help` shows how to use it.")
	}
	if r.Dir = place; !strings.Contains(place, "://") {
		r.Dir = a.Env.Absolute(place)
	}
	return client.ShowWithin(ctx, a.Client, client.RoleAdmin, what, backupBudget, schemas.SvcBackup, r, show)
}

// moveCommand writes the last backup of a data folder.
func (a *app) moveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "move DIR|URL", Short: "Write a last backup, from which Writ goes on elsewhere",
		Long: `Stops taking anything into the log, writes a backup, and marks this data folder as
moved: no daemon starts on it any more, so that two never go on from one log. writ
backup restore, on this machine or another, puts the backup where Writ is to go on.`,
		Example: "  writ backup move /mnt/usb/writ\n  writ backup move s3://backups/writ",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.backUp(cmd.Context(), "backup move", args[0], schemas.BackupRequest{Move: true}, a.showBackup)
			if err == nil {
				_, err = a.stopDaemon(cmd.Context())
			}
			return err
		},
	}
}

func (a *app) showBackup(r schemas.BackupReply) {
	a.Printf("%s holds %d files, %d bytes, as of %s; %d bytes of them are new there.\n", r.Path, r.Files, r.Bytes, r.Time.Local().Format(time.DateTime), r.Written)
	for _, s := range r.Streams {
		a.Printf("  %s up to record %d\n", s.Name, s.Last)
	}
	for _, path := range r.Removed {
		a.Printf("Removed %s\n", path)
	}
	a.Printf("`writ backup restore %s` puts it back.\n%s", quoted(r.Path), r.Note)
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
	var to, at string
	c := &cobra.Command{
		Use: "restore DIR|URL", Short: "Put a backup into an empty data folder",
		Long: `DIR is a backup, or a folder of backups, of which the newest is taken; URL is that of
a store, as writ backup takes it, with the credentials of this environment. --at takes
the oldest that reaches to a moment, and leaves out what happened later. Every file is
compared with its digest before anything is written: what is missing or damaged is
named, and nothing is changed. The folder it goes into must be empty or missing, and
no daemon may run on it. The daemon then builds its views from the log.

What was signed after the backup is remembered outside of the data folder. The next
start records the restore as an event, with how much is gone, and goes on signing;
writ audit verify names it from then on. A folder that went back in another way is
refused.`,
		Example: "  writ backup restore /mnt/backup/writ\n  writ backup restore /mnt/backup/writ/20260102T150405.000Z --to ~/writ-restored\n  writ backup restore /mnt/backup/writ --at \"2026-11-21 09:00\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "" {
				return client.Usage("restore: DIR is empty", "`writ backup restore --help` shows how to use it.")
			}
			handed := []string{fmt.Sprintf("--json=%t", a.JSON), "--to=" + to, "--at=" + at, "--", args[0]}
			return tools{a}.handOver(cmd.Context(), "restore", handed)
		},
	}
	c.Flags().StringVar(&to, "to", "", "the `folder` it goes into (default: WRIT_HOME, else the user's state folder)")
	c.Flags().StringVar(&at, "at", "", "as it was at this `moment`: a time, how long ago (15m), or a record's sequence in the log of sessions")
	return c
}

// repairCommand changes the files of the log, so writd runs it.
func (a *app) repairCommand() *cobra.Command {
	var from string
	var giveUp bool
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
			return tools{a}.handOver(cmd.Context(), "repair", []string{fmt.Sprintf("--json=%t", a.JSON), "--from=" + from, fmt.Sprintf("--give-up-archive=%t", giveUp)})
		},
	}
	c.Flags().BoolVar(&giveUp, "give-up-archive", false, "give up what stood in files of the archive that are not there")
	c.Flags().StringVar(&from, "from", "", "take what is damaged from a backup, or from the newest in a `folder` of backups")
	return c
}

// moveLogCommand copies what writd links a server for, so writd runs it.
func (a *app) moveLogCommand() *cobra.Command {
	var replicas int
	var creds, ca string
	c := &cobra.Command{
		Use: "move URL|here", Short: "Bring the log to a NATS that you have, or back, while no daemon runs",
		Long: `Stops the daemon and copies the streams of the log, as they are, to a NATS with
JetStream, into an account of this daemon's own, or back to this machine (here).
Sequences, times and digests stay, so that views, proofs and audits go on. Both
copies are read and compared before the log lies at the new place; the old one takes
no more events from the beginning of the move, and is deleted at a NATS and put aside
here, in streams.moved. A move that was cut off says where the log lies, whole; the
same command goes on with it, and one to where it lies calls it off. Hooks refuse
meanwhile.`,
		Example: "  writ log move tls://nats.example.org:4222 --replicas 3 --creds ~/nats-creds --ca nats-ca.pem\n  writ log move here",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := a.stopDaemon(cmd.Context()); err != nil {
				return client.Explain("log move", err)
			}
			handed := []string{fmt.Sprintf("--json=%t", a.JSON), fmt.Sprintf("--replicas=%d", replicas), "--to=" + args[0]}
			for flag, path := range map[string]string{"--creds=": creds, "--ca=": ca} {
				if path != "" {
					handed = append(handed, flag+a.Env.Absolute(path))
				}
			}
			return tools{a}.handOver(cmd.Context(), "move", handed)
		},
	}
	c.Flags().IntVar(&replicas, "replicas", 0, "copies of each event in that NATS' cluster (default 1)")
	c.Flags().StringVar(&creds, "creds", "", "a `folder` with how the roles sign in there: daemon, hook, dashboard and admin, as writ help log says")
	c.Flags().StringVar(&ca, "ca", "", "`file` with the certificates (PEM) that sign that NATS' own (default: the system's)")
	return c
}
