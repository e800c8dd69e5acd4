package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/writbus/writ/bus/backup"
	"github.com/writbus/writ/bus/blockfile"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/projections/audit/ledger"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/filelock"
)

// repair puts right what is damaged in the log of a data folder without a daemon.
func repair(_ context.Context, args []string, out, errw io.Writer) error {
	flags := newFlags("repair", "Put right what is damaged in the log.", "writ repair --from /mnt/backup/writ", errw)
	from := flags.String("from", "", "the `folder` of a backup, or of backups")
	giveUp := flags.Bool("give-up-archive", false, "give up segments of the archive that are not there")
	asJSON := flags.Bool("json", false, "print JSON")
	if err := parse(flags, args); err != nil {
		return err
	}
	dataDir, err := config.DataDir()
	if err != nil {
		return err
	}
	layout := config.Layout{Root: dataDir}
	if filelock.Held(layout.Lock()) {
		return fmt.Errorf("a daemon runs on %s. Stop it first: writ down", dataDir)
	}
	if err := Misplaced(dataDir); err != nil {
		return err
	}
	store, err := backedUp(layout, *from)
	if err != nil {
		return err
	}
	if err := ledger.NoteHeads(layout.Log(), store); err != nil {
		return err
	}
	done, err := embedded.Repair(layout.Log(), store)
	if err != nil {
		return err
	}
	archive, err := ledger.RepairArchive(layout.Log(), layout.Restored(), filepath.Join(dataDir, "archive"), archiveBeside(store), *giveUp)
	if err != nil {
		return err
	}
	reply := schemas.RepairReply{DataDir: dataDir, Parts: []schemas.RepairedPart{}}
	for _, o := range append(done, archive...) {
		reply.Parts = append(reply.Parts, schemas.RepairedPart{Stream: schemas.Stream(o.Stream), First: o.First, Last: o.Last, How: string(o.How), Kept: o.Kept})
		reply.Lost += map[bool]uint64{true: o.Records()}[o.How == blockfile.Lost]
	}
	if err := embedded.SettleFindings(layout.Damage(), layout.Log()); err != nil {
		return err
	}
	if *asJSON {
		return json.NewEncoder(out).Encode(reply)
	}
	return showRepaired(out, reply)
}

// archiveBeside is the folder of the archive beside that of a backup's streams, "" for
// none.
func archiveBeside(store string) string {
	if store == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(store), "archive")
}

// backedUp is the folder of the streams in a sound backup of the same log, "" for
// none.
func backedUp(layout config.Layout, from string) (string, error) {
	if from == "" {
		return "", nil
	}
	dir, err := backup.Find(from)
	if err != nil {
		return "", err
	}
	if _, err := backup.Check(dir); err != nil {
		return "", err
	}
	data := config.Layout{Root: backup.Content(dir)}
	ours, err := os.ReadFile(filepath.Join(layout.Audit(), evidence.KeyFile))
	theirs, theirErr := os.ReadFile(filepath.Join(data.Audit(), evidence.KeyFile))
	if err == nil && theirErr == nil && !bytes.Equal(ours, theirs) {
		return "", fmt.Errorf("%s is a backup of another log: another key signs it", dir)
	}
	return data.Log(), nil
}

func showRepaired(out io.Writer, r schemas.RepairReply) error {
	var text bytes.Buffer
	for _, p := range r.Parts {
		records := fmt.Sprintf("records %d to %d of %s", p.First, p.Last, p.Stream)
		switch blockfile.How(p.How) {
		case blockfile.Mended:
			fmt.Fprintf(&text, "%s: one byte was wrong, and is right again\n", records)
		case blockfile.Restored:
			fmt.Fprintf(&text, "%s: taken from the backup, or from what the stream still had\n", records)
		case blockfile.Lost:
			fmt.Fprintf(&text, "%s: lost; the next start records that in the log, and the views are built anew\n", records)
		case ledger.Missing:
			fmt.Fprintf(&text, "%s: %s is not there, and stays missing. Make its folder reachable, or name a backup that has it (--from); if it is gone for good, `writ repair --give-up-archive` gives its records up\n", records, p.Kept)
			p.Kept = ""
		case blockfile.Removed:
			fmt.Fprintf(&text, "%s: bytes that are no record are taken out\n", p.Stream)
		}
		if p.Kept != "" {
			fmt.Fprintf(&text, "  the file as it was: %s\n", p.Kept)
		}
	}
	if len(r.Parts) == 0 {
		fmt.Fprintf(&text, "Every record of the log in %s can be read: there is nothing to repair.\n", r.DataDir)
	} else {
		text.WriteString("`writ up --detach` starts on it, and `writ audit verify` compares it with what was signed.\n")
	}
	_, err := out.Write(text.Bytes())
	return err
}
