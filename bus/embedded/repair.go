package embedded

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/minio/highwayhash"

	"github.com/writbus/writ/bus/blockfile"
	"github.com/writbus/writ/schemas/atomicfile"
)

// Files beside the store. Persisted; never change.
const (
	keptDir   = "damaged"   // damaged files as they were found
	holesName = "lost.json" // what repairs gave up
)

// Notes are the names, in Options.Dir, of what is said there of records of the streams
// beside it.
var Notes = []string{holesName, ErasedName}

// ErrMended is a finding's error: one byte of a record was wrong, and is right
// again.
var ErrMended = errors.New("embedded: a damaged record was put right")

// Hole is a part of a stream that a repair gave up.
type Hole struct {
	Stream string `json:"stream"`
	First  uint64 `json:"first"`
	Last   uint64 `json:"last"`
	Kept   string `json:"kept,omitempty"` // the damaged file as it was, below Options.Dir
}

// Holes are what repairs of a store gave up.
func Holes(dir string) (all []Hole, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, holesName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("embedded: what repairs gave up: %w. Run `writ repair`, which writes it anew", err)
	}
	return all, nil
}

func within(holes []Hole, d blockfile.Damage) bool { return holding(holes, d) >= 0 }

func holding(holes []Hole, d blockfile.Damage) int {
	return slices.IndexFunc(holes, func(h Hole) bool { return h.Stream == d.Stream && h.First <= d.First && h.Last >= d.Last })
}

// Repair puts right what is damaged in a store that no server has open: from the
// records' checksums, else from the store of a backup, "" for none. What neither
// has is given up, and noted for Holes. It returns ErrLocked where a server runs.
func Repair(dir, backup string) (all []blockfile.Outcome, err error) {
	lock, err := lockStore(dir)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	noted, err := readMarks(dir)
	if err != nil {
		noted = marks{}
	}
	holes, err := Holes(dir)
	if err != nil {
		holes = nil // every mark in the files tells of one
	}
	var still []Hole // that the files show
	for _, name := range storedStreams(dir) {
		o := repairOf(dir, name, noted)
		if backup != "" {
			o.From = filepath.Join(streamsDir(backup), name)
		}
		o.Leave = func(d blockfile.Damage) bool {
			i := holding(holes, d)
			if d.Records() == 0 || i < 0 {
				return false
			}
			if !slices.Contains(still, holes[i]) {
				still = append(still, holes[i])
			}
			return true
		}
		some, err := blockfile.Repair(o)
		all = append(all, some...)
		if err != nil {
			return all, err
		}
		for _, out := range some {
			if out.How == blockfile.Lost {
				still = append(still, Hole{Stream: name, First: out.First, Last: out.Last, Kept: below(dir, out.Kept)})
			}
		}
	}
	if len(all) > 0 {
		_ = os.Remove(filepath.Join(dir, scrubName)) // the reading in the background begins anew
		// A backup may have had texts that were erased since.
		if err := os.Remove(filepath.Join(dir, ErasedName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return all, err
		}
	}
	if slices.Equal(still, holes) {
		return all, nil
	}
	return all, writeHoles(dir, still)
}

// GiveUp notes for Holes that records which are in no file of the store are lost. No
// server has the store open.
func GiveUp(dir string, h Hole) error {
	lock, err := lockStore(dir)
	if err != nil {
		return err
	}
	defer lock.Release()
	holes, err := Holes(dir)
	if err != nil || slices.Contains(holes, h) {
		return err
	}
	return writeHoles(dir, append(holes, h))
}

func writeHoles(dir string, holes []Hole) error {
	body, err := json.MarshalIndent(append([]Hole{}, holes...), "", " ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, holesName), append(body, '\n'), 0o600)
}

func below(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && path != "" {
		return filepath.ToSlash(rel)
	}
	return ""
}

func repairOf(dir, stream string, noted marks) blockfile.Options {
	m := noted.Streams[stream]
	return blockfile.Options{
		Dir: filepath.Join(streamsDir(dir), stream), Stream: stream, Known: blockfile.Range{First: m.First, Last: m.Last}, Keep: filepath.Join(dir, keptDir),
	}
}

// protectBytes is the size of a stream up to which every start reads it: a second
// or two. Of a larger one only what the server reads itself is read before it.
const protectBytes = 1 << 30

// protect mends damaged records, or marks them as erased, before the server opens
// their stream: it would end each file at its first damaged record, and with that
// take the sound ones behind it – at the start where its index does not hold, else
// when somebody reads. An end that is missing is marked too: its sequences would be
// given out again. A torn end that nothing acknowledged is left to the server.
func (s *Server) protect(stored []string) error {
	noted, err := readMarks(s.options.Dir)
	if err != nil {
		noted = marks{} // examine tells of it
	}
	if s.holes, err = Holes(s.options.Dir); err != nil {
		s.find(Finding{Err: err})
	}
	for _, name := range stored {
		o := repairOf(s.options.Dir, name, noted)
		if blockfile.Size(o.Dir) > protectBytes && indexHolds(o.Dir, name) {
			continue
		}
		o.Leave = func(d blockfile.Damage) bool { return d.Erased || d.From == d.To && !d.AtEnd }
		done, err := blockfile.Repair(o)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrStart, err)
		}
		for _, out := range done {
			if out.Last < noted.Streams[name].First {
				continue // left for the archive, and its file did not
			}
			s.find(found(out))
			if out.How == blockfile.Lost {
				s.holes = append(s.holes, Hole{Stream: name, First: out.First, Last: out.Last})
			}
		}
	}
	return nil
}

// bringBack makes the folder of a stream anew that was noted to hold records and is gone:
// they are then missed, and their sequences not given out again.
func bringBack(o Options) {
	noted, _ := readMarks(o.Dir) // examine tells of it
	for name, m := range noted.Streams {
		if o.Streams[name] != nil && m.Last > 0 {
			_ = os.MkdirAll(filepath.Join(StreamDir(o.Dir, name), recordsIn), 0o700) // else it is as gone as before
		}
	}
}

func found(out blockfile.Outcome) Finding {
	f := Finding{Stream: out.Stream, Lost: out.Records()}
	switch {
	case out.How == blockfile.Mended:
		f.Lost, f.Err = 0, fmt.Errorf("%w: %s: one byte was wrong; nothing is lost, and the file as it was is kept in %s. Check the disk", ErrMended, out.Damage, out.Kept)
	default:
		f.First, f.Last, f.Err = out.First, out.Last, damaged(out.Damage)
	}
	return f
}

// damaged is the error of records that cannot be read, with the remedy.
func damaged(d blockfile.Damage) error {
	return fmt.Errorf("%w: %s cannot be read. Run `writ down` and `writ repair --from BACKUP`, or `writ repair` without a backup, which records what is lost; until then what has to read over it stands still", ErrLogDamaged, d)
}

// indexHolds says whether the server will trust the index of a stream's records,
// which spares it reading them.
func indexHolds(dir, stream string) bool {
	raw, err := os.ReadFile(filepath.Join(dir, recordsIn, indexedIn))
	if err != nil || len(raw) < 4*highwayhash.Size64 {
		return false
	}
	content, sum := raw[:len(raw)-highwayhash.Size64], raw[len(raw)-highwayhash.Size64:]
	key := sha256.Sum256([]byte(stream))
	h, err := highwayhash.New64(key[:])
	if err != nil {
		return false
	}
	_, _ = h.Write(content) // a hash takes every write
	if !bytes.Equal(h.Sum(nil), sum) {
		return false
	}
	last, whole := blockfile.LastSum(dir)
	return whole && bytes.HasSuffix(content, last)
}
