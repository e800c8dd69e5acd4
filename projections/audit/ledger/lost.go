package ledger

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

// lostTogether is how many lost records one event names at most.
const lostTogether = 1000

// RecordLost records in the log what repairs of its store gave up of it, and removes
// the views, which are to be built anew without it. warn is told where the store's
// note of that cannot be read.
func RecordLost(ctx context.Context, conn *bus.Conn, log *bus.Writer, store, evidenceDir, views string, warn func(string)) error {
	holes, err := embedded.Holes(store)
	if err != nil {
		warn(err.Error())
		return nil
	}
	for _, h := range holes {
		lost := schemas.RecordsLost{Stream: schemas.Stream(h.Stream), First: h.First, Last: h.Last, Path: h.Kept}
		known, err := conn.Lost(ctx, lost.Stream)
		if err == nil && bus.GivenUp(known, h.First, h.Last) {
			continue
		}
		if err == nil {
			var next uint64
			if next, err = conn.NextOf(ctx, lost.Stream, h.First); err == nil && next <= h.Last {
				warn(fmt.Sprintf("it is noted that records %d to %d of %s are lost, and record %d is there: the note was damaged. Run `writ down` and `writ repair`, which writes it anew", h.First, h.Last, h.Stream, next))
				continue
			}
			if errors.Is(err, bus.ErrNotFound) || errors.Is(err, bus.ErrArchive) {
				err = nil
			}
		}
		if err == nil {
			err = os.RemoveAll(views) // what they made of the lost records is not what the log makes
		}
		if err != nil {
			return err
		}
		if _, err := GiveUp(ctx, conn, log, evidenceDir, lost); err != nil {
			return err
		}
	}
	return nil
}

// GiveUp records in the log that records of a stream are lost, unless it says so
// already, with what was signed of them: the Merkle tree stays what it was. It
// returns whether it recorded anything.
func GiveUp(ctx context.Context, conn *bus.Conn, log *bus.Writer, evidenceDir string, lost schemas.RecordsLost) (recorded bool, err error) {
	known, err := conn.Lost(ctx, lost.Stream)
	if err != nil {
		return false, err
	}
	signed, err := keptLeaves(evidenceDir, lost.Stream, lost.First, lost.Last)
	if err != nil {
		return false, err
	}
	for first := lost.First; first <= lost.Last; first += lostTogether {
		part := schemas.RecordsLost{Stream: lost.Stream, First: first, Last: min(lost.Last, first+lostTogether-1), Path: lost.Path}
		if bus.GivenUp(known, part.First, part.Last) {
			continue
		}
		for seq := part.First; seq <= part.Last; seq++ {
			leaf, had := signed[seq]
			if !had {
				sum := sha256.Sum256(fmt.Appendf(nil, "writ.lost.v1\n%s\n%d\n", lost.Stream, seq)) // persisted; never change
				leaf = schemas.LostLeaf{SHA256: sum[:]}
			}
			part.Leaves = append(part.Leaves, leaf)
		}
		_, err := bus.Record(ctx, log, schemas.Event{
			ID:        fmt.Sprintf("lost-%s-%d-%d", part.Stream, part.First, part.Last),
			Aggregate: schemas.LostRecords(), Actor: schemas.Writ("repair"), Data: part,
		})
		if err != nil {
			return recorded, fmt.Errorf("ledger: record what was lost of %s: %w", lost.Stream, err)
		}
		recorded = true
	}
	return recorded, nil
}

// keptLeaves are the hashes that were kept of some records, by sequence. Those
// behind a line that cannot be read are not found.
func keptLeaves(dir string, s schemas.Stream, first, last uint64) (map[uint64]schemas.LostLeaf, error) {
	file, err := os.Open(filepath.Join(dir, string(s)+evidence.LeavesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // read only
	found := map[uint64]schemas.LostLeaf{}
	for lines := evidence.NewLeafReader(file); ; {
		leaf, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, evidence.ErrCheckpoint):
			return found, nil
		case err != nil:
			return nil, err
		case leaf.Seq > last:
			return found, nil
		case leaf.Seq >= first:
			found[leaf.Seq] = schemas.LostLeaf{SHA256: leaf.Hash[:], ID: leaf.ID, Signed: true}
		}
	}
}
