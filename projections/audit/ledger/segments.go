package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/archivefile"
	"github.com/writbus/writ/bus/blockfile"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/projections/audit/evidence"
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
	given, err := embedded.Holes(store)
	if err != nil {
		return all, err
	}
	for _, h := range given {
		lost = append(lost, schemas.RecordsLost{Stream: schemas.Stream(h.Stream), First: h.First, Last: h.Last})
	}
	slices.SortStableFunc(lost, func(l, m schemas.RecordsLost) int { return cmp.Compare(l.First, m.First) })
	for _, stream := range schemas.Streams() {
		heads, err := lostHeads(store, stream, parts, lost)
		if err != nil {
			return all, err
		}
		for _, p := range heads {
			if _, here := segmentAt(ours, parts, p.First); stream == bus.ArchivedStream && len(here) > 0 {
				continue // the next start has the log say so
			}
			out := blockfile.Outcome{Damage: blockfile.Damage{Stream: string(p.Stream), First: p.First, Last: p.Last}, How: Missing, Kept: ours.Path(schemas.RecordsArchived{Path: segmentName(p.First, "")})}
			switch _, there := segmentAt(theirs, nil, p.First); {
			case stream == bus.ArchivedStream && backup != "" && len(there) > 0:
				out.How = blockfile.Restored
				if _, err = archivefile.Write(out.Kept, there); err == nil { // as above
					err = os.RemoveAll(filepath.Join(store, embedded.ErasedName))
				}
				out.Last, out.Kept = there[len(there)-1].Seq, ""
			case stream != bus.ArchivedStream || giveUp:
				out.How, out.Kept = blockfile.Lost, ""
				err = embedded.GiveUp(store, embedded.Hole{Stream: out.Stream, First: p.First, Last: p.Last})
			}
			if err != nil {
				return all, err
			}
			all = append(all, out)
		}
	}
	return all, nil
}

// NoteHeads notes for embedded.Repair that a stream is to begin earlier than it does, where
// neither the archive nor a loss explains what it lacks and the store of a backup, "" for
// none, has all of it.
func NoteHeads(store, backup string) error {
	parts, lost, _, err := archivedIn(store)
	if err != nil || backup == "" {
		return err
	}
	for _, stream := range schemas.Streams() {
		heads, err := lostHeads(store, stream, parts, lost)
		if err != nil {
			return err
		}
		for _, p := range heads {
			there, err := streamed(backup, p)
			if err == nil && uint64(len(there)) == p.Last-p.First+1 {
				err = embedded.NoteFirst(store, string(stream), p.First, p.Last+1)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// lostHeads are the records before the first that a stream has which are neither
// archived nor given up.
func lostHeads(store string, stream schemas.Stream, parts []schemas.RecordsArchived, lost []schemas.RecordsLost) ([]schemas.RecordsArchived, error) {
	first, err := embedded.Begins(store, string(stream))
	if err != nil {
		return nil, err
	}
	if stream != bus.ArchivedStream {
		parts = nil
	}
	lost = slices.DeleteFunc(slices.Clone(lost), func(l schemas.RecordsLost) bool { return l.Stream != stream })
	return bus.Unsaid(stream, parts, lost, first), nil
}

// SayAgain has the log say anew where archived records are, where it lost what it said: of
// each segment that lies beside the others under the name that it was given. Whether its
// records are those that were signed, the audit tells as of any. warn is told of the rest,
// and of what failed, such as a disk that is full: the next start goes on with it.
func SayAgain(ctx context.Context, conn *bus.Conn, log *bus.Writer, warn func(string)) {
	if err := sayAgain(ctx, conn, log, warn); err != nil {
		warn(fmt.Sprintf("where archived records are is not said again: %v. The next start tries", err))
	}
}

func sayAgain(ctx context.Context, conn *bus.Conn, log *bus.Writer, warn func(string)) error {
	parts, err := bus.Archived(ctx, conn)
	lost, lostErr := conn.Lost(ctx, bus.ArchivedStream)
	state, stateErr := bus.Stored(ctx, conn, bus.ArchivedStream)
	if err := errors.Join(err, lostErr, stateErr); err != nil {
		return err
	}
	for _, hole := range bus.Unsaid(bus.ArchivedStream, parts, lost, state.First) {
		for first := hole.First; first <= hole.Last; {
			path, records := segmentAt(bus.ArchiveOf(conn), parts, first)
			if len(records) == 0 || records[len(records)-1].Seq > hole.Last {
				warn(fmt.Sprintf("records %d to %d of %s are missing. If they are archived, put %s back into the archive's folder, as from a backup's; else run `writ down` and `writ repair --from BACKUP`, or `writ repair --give-up-archive`",
					first, hole.Last, hole.Stream, segmentName(first, "")))
				break
			}
			p := segmentOf(first, records)
			p.Path = path
			root := rootOf(p, records, lost)
			p.SHA256 = root[:]
			if info, err := os.Stat(bus.ArchiveOf(conn).Path(p)); err == nil {
				p.Bytes = info.Size()
			}
			if err := sayArchived(ctx, log, p); err != nil {
				return err
			}
			first = p.Last + 1
		}
	}
	return nil
}

// segmentAt finds the segment that begins with a record, in the archive's folder or where
// others are, and the path that the log says of it.
func segmentAt(a *bus.Archive, parts []schemas.RecordsArchived, first uint64) (path string, records []archivefile.Record) {
	patterns := []string{segmentName(first, "*")}
	for _, p := range parts {
		if filepath.IsAbs(p.Path) {
			patterns = append(patterns, filepath.Join(filepath.Dir(p.Path), patterns[0]))
		}
	}
	for _, pattern := range slices.Compact(patterns) {
		found, _ := filepath.Glob(a.Path(schemas.RecordsArchived{Path: pattern})) // the pattern is ours
		for _, path := range found {
			if records, err := archivefile.Read(path); err == nil && len(records) > 0 && records[0].Seq >= first {
				if !filepath.IsAbs(pattern) {
					path = filepath.Base(path)
				}
				return path, records
			}
		}
	}
	return "", nil
}

// rootOf is that over the leaves of records as they were signed, as far as the log tells
// it of those that were lost or erased.
func rootOf(p schemas.RecordsArchived, records []archivefile.Record, lost []schemas.RecordsLost) evidence.Hash {
	said, over, hasher := map[uint64][]byte{}, evidence.Frontier{}, evidence.Hasher{}
	for _, l := range lost {
		for i, leaf := range l.Leaves {
			said[l.First+uint64(i)] = leaf.SHA256 //nolint:gosec // an index
		}
	}
	for seq := p.First; seq <= p.Last; seq++ {
		var r archivefile.Record
		if len(records) > 0 && records[0].Seq == seq {
			r, records = records[0], records[1:]
		}
		if sum := said[seq]; len(sum) == len(evidence.Hash{}) {
			over.Add(evidence.Hash(sum))
		} else if r.Seq == seq {
			over.Add(hasher.Leaf(schemas.Message{Subject: r.Subject, Block: r.Header, Body: r.Body}))
		}
	}
	return over.Root()
}

// streamed are the records of a segment that their stream has, in files that no server
// has open.
func streamed(store string, p schemas.RecordsArchived) (all []archivefile.Record, err error) {
	err = blockfile.Each(embedded.StreamDir(store, string(p.Stream)), string(p.Stream), func(seq uint64, nanos int64, subject string, header, body []byte) bool {
		if seq >= p.First && seq <= p.Last {
			all = append(all, archivefile.Record{Seq: seq, Time: nanos, Subject: subject, Header: header, Body: body})
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
