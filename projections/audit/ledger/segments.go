package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/blockfile"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/bus/segment"
	"github.com/writbus/writ/schemas"
)

// Missing is how [RepairArchive] leaves a segment whose file is not there: its disk may
// only be away.
const Missing blockfile.How = "missing"

// RepairArchive takes the segments of which a log says, that no server has open, and
// that are missing or damaged, from the stream, of which a kill may bring the beginning
// back, or from the folder of a backup's, "" for none. What neither has is given up, as embedded.Repair does, unless the file is missing and giveUp
// does not say so. A note of a restore that the log does not have yet counts too.
func RepairArchive(store, restored, folder, backup string, giveUp bool) (all []blockfile.Outcome, _ error) {
	parts, lost, restores, err := archivedIn(store)
	if err != nil {
		return nil, err
	}
	if r, is, err := noted(restored); err != nil {
		return nil, err
	} else if is {
		restores = append(restores, r)
	}
	ours, theirs, own := bus.NewArchive(folder), bus.NewArchive(backup), endOf(store, restores)
	for _, p := range parts {
		_, damaged := ours.Stored(p)
		if damaged == nil || bus.GivenUp(lost, p.First, p.Last) {
			continue
		}
		out := blockfile.Outcome{Damage: blockfile.Damage{Stream: string(p.Stream), First: p.First, Last: p.Last}, How: blockfile.Lost, Kept: ours.Path(p)}
		whole, missing := theirs.Stored(p)
		again, err := streamed(store, p)
		switch {
		case err != nil:
		case uint64(len(again)) == p.Records && (giveUp || !errors.Is(damaged, fs.ErrNotExist)):
			out.How, out.Kept = blockfile.Restored, ""
			_, err = ours.Rewrite(p, own, again) // what is forgotten is out of both
		case backup != "" && missing == nil && theirs.Path(p) != p.Path:
			out.How, out.Kept = blockfile.Restored, ""
			// It may have texts that were erased since: the next start looks.
			if _, err = ours.Rewrite(p, own, whole); err == nil {
				err = os.RemoveAll(filepath.Join(store, embedded.ErasedName))
			}
		case errors.Is(damaged, fs.ErrNotExist) && !giveUp:
			out.How = Missing
		default:
			if errors.Is(damaged, fs.ErrNotExist) {
				out.Kept = ""
			}
			err = embedded.GiveUp(store, embedded.Hole{Stream: out.Stream, First: p.First, Last: p.Last})
		}
		if err != nil {
			return all, fmt.Errorf("ledger: repair the archive: %w", err)
		}
		all = append(all, out)
	}
	return all, nil
}

// streamed are the records of a segment that their stream has, in files that no server
// has open.
func streamed(store string, p schemas.RecordsArchived) (all []segment.Record, err error) {
	err = blockfile.Each(embedded.StreamDir(store, string(p.Stream)), string(p.Stream), func(seq uint64, nanos int64, subject string, header, body []byte) bool {
		if seq >= p.First && seq <= p.Last {
			all = append(all, segment.Record{Seq: seq, Time: nanos, Subject: subject, Header: header, Body: body})
		}
		return seq < p.Last
	})
	return all, err
}

// archivedIn are the segments of which the log in a folder says, the records that it
// says are lost, and from what it was restored.
func archivedIn(store string) (parts []schemas.RecordsArchived, lost []schemas.RecordsLost, restores []schemas.LogRestored, err error) {
	s := string(schemas.StreamQuarantine)
	err = blockfile.Each(embedded.StreamDir(store, s), s, func(_ uint64, _ int64, subject string, header, body []byte) bool {
		events, err := schemas.Decode(schemas.Message{Subject: subject, Block: header, Body: body}.Unfolded())
		if err != nil {
			return true // the views tell of what nobody understands
		}
		for _, e := range events {
			switch p := e.Data.(type) {
			case schemas.RecordsArchived:
				parts = append(parts, p)
			case schemas.RecordsLost:
				lost = append(lost, p)
			case schemas.LogRestored:
				restores = append(restores, p)
			}
		}
		return true
	})
	return parts, lost, restores, err
}
