package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/writbus/writ/projections/audit"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// remembered are the first and the newest checkpoint of a stream, as the second
// place that every data folder has keeps them, outside of the folder.
type remembered struct{ first, last sealed }

// recall reads the second place: nothing where there is none yet. What another
// key signed is an error. Where some of it was signed by this key, the rest is
// damaged, and is written anew when the next checkpoints are remembered.
func (a *Auditor) recall() (map[schemas.Stream]remembered, error) {
	all := map[schemas.Stream]remembered{}
	text, err := os.ReadFile(a.Witness)
	if a.Witness == "" || errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	checkpoints, rest := evidence.SplitCheckpoints(text)
	var bad error
	for _, kept := range checkpoints {
		c, err := evidence.Open(kept.Signed, a.key.verifier)
		if err != nil {
			bad = err
			continue
		}
		r, known := all[c.Stream]
		r.last = sealed{c, kept.Signed}
		if !known {
			r.first = r.last
		}
		all[c.Stream] = r
	}
	switch {
	case bad != nil && len(all) == 0:
		return nil, a.forgotten("this log was signed by another key: %v", bad)
	case bad != nil || rest != "":
		a.Warn(a.Witness + " was damaged and is written anew from what is kept in " + a.Evidence + ": nothing of the log is lost. Check the disk")
	}
	return all, nil
}

// forgotten says what is missing here that the second place knows of.
func (a *Auditor) forgotten(format string, args ...any) error {
	return fmt.Errorf("%w: %s, as %s has it. Restore the data folder from a backup, or move that file away to begin anew", errRewritten, fmt.Sprintf(format, args...), a.Witness)
}

// holds compares a tree, and the evidence kept here, with what is remembered.
func (a *Auditor) holds(r remembered, tree *audit.Tree, tip *streamTip) error {
	switch {
	case len(r.last.signed) == 0:
		return nil
	case tree.Size() < r.last.checkpoint.Size:
		return a.forgotten("%s had %d records at %s and has %d", r.last.checkpoint.Stream, r.last.checkpoint.Size, r.last.checkpoint.Time.Format(time.RFC3339), tree.Size())
	case len(tip.signed) == 0 || tip.began.checkpoint.Time.After(r.first.checkpoint.Time) || tip.last.Size < r.last.checkpoint.Size:
		return a.forgotten("checkpoints of %s signed from %s to %s are gone", r.last.checkpoint.Stream,
			r.first.checkpoint.Time.Format(time.RFC3339), r.last.checkpoint.Time.Format(time.RFC3339))
	}
	return extends(tree, r.last.checkpoint)
}

// remember brings the newest checkpoints to the second place, where nothing that
// it has is missing here. The caller holds mu.
func (a *Auditor) remember(before map[schemas.Stream]remembered, all map[schemas.Stream]sealed) error {
	if a.Witness == "" {
		return nil
	}
	var text []byte
	for _, s := range schemas.Streams() {
		r, known := before[s]
		tip, err := a.ledger.tip(s)
		if !known && err == nil {
			r.first = tip.began
		}
		if newest := all[s]; len(newest.signed) > 0 && newest.checkpoint.Size >= r.last.checkpoint.Size {
			r.last = newest
		}
		for i, one := range []sealed{r.first, r.last} {
			if len(one.signed) > 0 && (i == 0 || !bytes.Equal(one.signed, r.first.signed)) {
				text = append(append(text, one.signed...), '\n')
			}
		}
	}
	if have, err := os.ReadFile(a.Witness); len(text) == 0 || err == nil && bytes.Equal(have, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(a.Witness), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(a.Witness, text, 0o600)
}
