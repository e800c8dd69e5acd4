package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/writbus/writ/bus/backup"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/projections/audit/ledger"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/filelock"
)

// restore puts a backup into an empty data folder.
func restore(ctx context.Context, args []string, out, errw io.Writer) error {
	flags := newFlags("restore", "Put a backup into an empty data folder.", "writ backup restore /mnt/backup/writ", errw)
	to := flags.String("to", "", "the `folder` it goes into (default: WRIT_HOME, else the user's state folder)")
	asJSON := flags.Bool("json", false, "print JSON")
	dir, err := parseOne(flags, args, "the folder of a backup")
	if err != nil {
		return err
	}
	dataDir, err := target(*to)
	if err != nil {
		return err
	}
	if dir, err = backup.Find(dir); err != nil {
		return err
	}
	m, err := backup.Restore(ctx, dir, dataDir, config.Format(), func(m backup.Manifest, temp string) error {
		sum, err := backup.Digest(dir)
		if err != nil {
			return err
		}
		return ledger.NoteRestore(config.Layout{Root: temp}.Restored(), schemas.LogRestored{Manifest: sum, Backup: m.Time, Restored: time.Now().UTC()})
	})
	if err != nil {
		return err
	}
	reply := schemas.RestoreReply{Backup: dir, Time: m.Time, DataDir: dataDir, Files: len(m.Files), Bytes: m.Bytes(), Streams: m.Reached()}
	if *asJSON {
		return json.NewEncoder(out).Encode(reply)
	}
	_, err = fmt.Fprintf(out, "%s is what it was at %s: %d files, %d bytes from %s.\n`WRIT_HOME=%s writ up` starts on it, and `writ audit verify` compares it with what was signed.\n"+
		"What was signed after that moment is remembered beside your settings, in writ-checkpoints: the next start records the restore and how much is gone, and the audit names it from then on.\n",
		dataDir, m.Time.Local().Format(time.DateTime), reply.Files, reply.Bytes, dir, dataDir)
	return err
}

// target is the absolute folder to restore into, on which no daemon runs.
func target(to string) (string, error) {
	if to == "" {
		var err error
		if to, err = config.DataDir(); err != nil {
			return "", err
		}
	}
	to, err := filepath.Abs(to)
	if err != nil {
		return "", err
	}
	if filelock.Held(config.Layout{Root: to}.Lock()) {
		return "", fmt.Errorf("a daemon runs on %s. Stop it (writ down) and move the folder away, or restore into another one with --to", to)
	}
	return to, nil
}
