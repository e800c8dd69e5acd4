package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// NoteRestore writes into a restored data folder what it was restored from. The
// next start records it.
func NoteRestore(file string, r schemas.LogRestored) error {
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(file, append(body, '\n'), 0o600)
}

// noted reads what NoteRestore wrote, if it did.
func noted(file string) (r schemas.LogRestored, is bool, err error) {
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		return r, false, fmt.Errorf("ledger: what the log was restored from: %w. Delete %s to go on without it", err, file)
	}
	return r, true, nil
}

// Acknowledge records in the log that its folder was restored, where the note says
// so, and lets the second place go back to what the backup had: what it knew
// beyond that is kept beside it. Without a note a log that went back is refused. It
// may be cut off at any moment and is repeated at the next start.
func (a *Auditor) Acknowledge(ctx context.Context, file string, log *bus.Writer) error {
	r, is, err := noted(file)
	if err != nil || !is {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	before, err := a.recall()
	if err != nil {
		return nil // of another key: sealing says so
	}
	beyond, err := a.beyond(before, &r)
	if err != nil {
		return err
	}
	if err := a.recordRestore(ctx, log, r); err != nil {
		return err
	}
	if len(beyond) > 0 {
		if err := a.goBack(before, beyond, r.Path); err != nil {
			return err
		}
	}
	return os.Remove(file)
}

// beyond are the newest checkpoints here of the streams of which the second place
// knows newer ones.
func (a *Auditor) beyond(before map[schemas.Stream]remembered, r *schemas.LogRestored) (map[schemas.Stream]sealed, error) {
	all := map[schemas.Stream]sealed{}
	for _, s := range schemas.Streams() {
		tip, err := a.ledger.tip(s)
		if err != nil {
			return nil, err
		}
		had := before[s].last.checkpoint
		if had.Size <= tip.last.Size {
			continue
		}
		all[s] = sealed{checkpoint: tip.last, signed: tip.signed}
		r.Streams = append(r.Streams, schemas.StreamRestore{Stream: s, Had: uint64(had.Size), Has: uint64(tip.last.Size)}) //nolint:gosec // counts
	}
	if len(all) > 0 {
		r.Path = a.Witness + ".before-" + r.Restored.UTC().Format("20060102T150405Z")
	}
	return all, nil
}

func (a *Auditor) recordRestore(ctx context.Context, log *bus.Writer, r schemas.LogRestored) error {
	known, err := a.Log.Restores(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(known, func(k schemas.LogRestored) bool { return k.Manifest == r.Manifest && k.Restored.Equal(r.Restored) }) {
		return nil
	}
	_, err = bus.Record(ctx, log, schemas.Event{
		ID:        fmt.Sprintf("restored-%.16s-%d", r.Manifest, r.Restored.UnixNano()),
		Aggregate: schemas.RestoredLog(), Actor: schemas.Writ("restore"), Data: r,
	})
	return err
}

// goBack keeps what the second place knew, and has it go back where the backup
// does. What it knows of other streams stays.
func (a *Auditor) goBack(before map[schemas.Stream]remembered, beyond map[schemas.Stream]sealed, kept string) error {
	have, err := os.ReadFile(a.Witness)
	if err != nil {
		return err
	}
	if _, err := os.Stat(kept); errors.Is(err, fs.ErrNotExist) {
		if err := atomicfile.Write(kept, have, 0o600); err != nil {
			return err
		}
	}
	all := map[schemas.Stream]sealed{}
	for _, s := range schemas.Streams() {
		r := before[s]
		if tip, back := beyond[s]; back {
			r.last = tip
			if len(tip.signed) == 0 || r.first.checkpoint.Size > tip.checkpoint.Size {
				r.first = tip
			}
		}
		before[s], all[s] = r, r.last
	}
	return a.remember(before, all)
}
