package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/projections/audit/ledger"
	"github.com/writbus/writ/schemas/filelock"
)

// restore puts a backup into an empty data folder.
func restore(ctx context.Context, args []string, out, errw io.Writer) error {
	flags := newFlags("restore", "Put a backup into an empty data folder.", "writ backup restore /mnt/backup/writ", errw)
	to := flags.String("to", "", "the `folder` it goes into (default: WRIT_HOME, else the user's state folder)")
	at := flags.String("at", "", "as it was at this `moment`: a time, or a record's sequence")
	asJSON := flags.Bool("json", false, "print JSON")
	place, err := parseOne(flags, args, "the folder of a backup")
	if err != nil {
		return err
	}
	dataDir, err := target(*to)
	if err != nil {
		return err
	}
	moment, seq, err := momentOf(*at)
	if err != nil {
		return err
	}
	reply, err := ledger.Restore(ctx, ledger.Restoring{
		Place: place, To: dataDir, At: moment, Seq: seq, Format: config.Format(), Now: time.Now,
		Log: config.Layout{}.Log(), Evidence: config.Layout{}.Audit(), Note: config.Layout{}.Restored(),
	})
	if err != nil {
		return err
	}
	if *asJSON {
		return json.NewEncoder(out).Encode(reply)
	}
	_, err = fmt.Fprintf(out, "%s is what it was at %s: %d files, %d bytes from %s.\n`WRIT_HOME=%s writ up` starts on it, and `writ audit verify` compares it with what was signed.\n"+
		"What was signed after that moment is remembered beside your settings, in writ-checkpoints: the next start records the restore and how much is gone, and the audit names it from then on.\n",
		dataDir, reply.Time.Local().Format(time.DateTime), reply.Files, reply.Bytes, reply.Backup, dataDir)
	return err
}

// momentOf reads a time, or the sequence of a record of the sessions.
func momentOf(text string) (at time.Time, seq uint64, err error) {
	if seq, err = strconv.ParseUint(text, 10, 64); err == nil && seq > 0 {
		return at, seq, nil
	}
	at, err = timeOf("at", text)
	return at, 0, err
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
