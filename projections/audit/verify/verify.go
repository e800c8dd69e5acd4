// Package verify reads the log again, in whichever state it is, and compares it
// with the hashes and the signed checkpoints that were kept of it.
//
// A record that was altered, removed, inserted or moved is named. It signs
// nothing and changes nothing.
package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/projections/hubcopies"
	"github.com/writbus/writ/schemas"
	"golang.org/x/mod/sumdb/note"
)

// Log reads streams, damaged ones too.
type Log interface {
	Follow(ctx context.Context, s schemas.Stream, after uint64, o bus.FollowOptions, fn func([]schemas.Record) error) error
	Next(ctx context.Context, s schemas.Stream, after uint64) (schemas.Record, error)
	Lost(ctx context.Context, s schemas.Stream) ([]schemas.RecordsLost, error)
}

// Streams compares streams, several at a time, with what is kept of them in the
// places, files or folders, and by a hub's witness, if there is one.
func Streams(ctx context.Context, log Log, streams []schemas.Stream, places []string, second *Second, key note.Verifier) ([]evidence.Report, error) {
	reports, errs := make([]evidence.Report, len(streams)), make([]error, len(streams))
	var all sync.WaitGroup
	for i, s := range streams {
		all.Go(func() { reports[i], errs[i] = checkStream(ctx, log, s, places, second, key) })
	}
	all.Wait()
	return reports, errors.Join(errs...)
}

// signs are what records about passkeys, and signed ones, have in their text.
var signs = [][]byte{[]byte("passkey"), []byte("credential_id"), []byte(`"signed":`)}

// Signatures hands over the events of a stream's records that are about passkeys or
// signed. Records that cannot be decoded or are missing are left out: Streams names
// them.
func Signatures(ctx context.Context, log Log, s schemas.Stream, take func(schemas.Event)) error {
	return log.Follow(ctx, s, 0, bus.FollowOptions{MaxBatch: 4096, UntilEnd: true, Unparsed: true}, func(records []schemas.Record) error {
		for _, r := range records {
			if !slices.ContainsFunc(signs, func(sign []byte) bool { return bytes.Contains(r.Message.Body, sign) }) {
				continue
			}
			events, _ := r.Events()
			for _, e := range events {
				take(e)
			}
		}
		return nil
	})
}

// Copies holds a file of copies that left a log against what was signed of them; is
// says whether it is one. It returns hubcopies.ErrFile.
func Copies(file []byte, key note.Verifier) (read hubcopies.Read, is bool, err error) {
	if !bytes.HasPrefix(file, []byte(`{"stream":`)) && !bytes.HasPrefix(file, []byte(`{"checkpoint":`)) {
		return read, false, nil
	}
	read, err = hubcopies.Verify(bytes.NewReader(file), key)
	return read, true, err
}

// checkStream reads one stream and compares.
func checkStream(ctx context.Context, reader Log, s schemas.Stream, places []string, second *Second, key note.Verifier) (evidence.Report, error) {
	var checkpoints []evidence.Checkpoint
	var problems []string
	had := map[evidence.Checkpoint]bool{} // several places have the same
	leaves := ""
	take := func(found []evidence.Checkpoint, bad []string) {
		problems = append(problems, bad...)
		for _, c := range found {
			if !had[c] {
				checkpoints, had[c] = append(checkpoints, c), true
			}
		}
	}
	if second != nil {
		take(checkpointsIn("the hub's witness", []byte(second.cosigned), s, key))
	}
	for _, place := range places {
		found, bad, err := readCheckpoints(place, s, key)
		if err != nil {
			return evidence.Report{}, err
		}
		take(found, bad)
		path := filepath.Join(place, string(s)+evidence.LeavesFile)
		if _, err := os.Stat(path); err == nil {
			leaves = path // the last one counts: a second place is harder to change
		}
	}
	lost, err := reader.Lost(ctx, s)
	if err != nil {
		return evidence.Report{}, err
	}
	report, err := compare(s, checkpoints, leaves, func(check *evidence.Check) error {
		return readAll(ctx, reader, s, &reading{check: check, lost: leavesOf(lost), erased: bus.Erased(lost)})
	})
	report.Problems = append(problems, report.Problems...)
	return report, err
}

// compare holds the records that read hands over against what was kept of them.
func compare(s schemas.Stream, checkpoints []evidence.Checkpoint, leaves string, read func(*evidence.Check) error) (evidence.Report, error) {
	var kept *evidence.LeafReader
	if leaves != "" {
		file, err := os.Open(leaves)
		if err != nil {
			return evidence.Report{}, err
		}
		defer func() { _ = file.Close() }()
		kept = evidence.NewLeafReader(file)
	}
	check := evidence.NewCheck(s, checkpoints, kept)
	if err := read(check); err != nil {
		return evidence.Report{}, err
	}
	return check.Finish(), nil
}

// reading hands a stream over to a check, with what stands for lost records in
// their places.
type reading struct {
	check *evidence.Check
	lost  []evidence.Leaf // by sequence; those not handed over yet
	// erased are the records of which the texts are gone, by sequence.
	erased map[uint64]schemas.LostLeaf
}

// leavesOf are what stands for lost records, by sequence, each once.
func leavesOf(lost []schemas.RecordsLost) (all []evidence.Leaf) {
	for _, p := range lost {
		for i, leaf := range p.Leaves {
			seq := p.First + uint64(i)
			if len(leaf.Now) > 0 || len(leaf.SHA256) != len(evidence.Hash{}) || len(all) > 0 && all[len(all)-1].Seq >= seq {
				continue
			}
			all = append(all, evidence.Leaf{Seq: seq, Hash: evidence.Hash(leaf.SHA256), ID: leaf.ID})
		}
	}
	return all
}

func (r *reading) record(one schemas.Record, hash evidence.Hash) {
	r.before(one.Seq)
	if was, erased := r.erased[one.Seq]; erased && bytes.Equal(hash[:], was.Now) {
		r.check.Forgotten(one, evidence.Hash(was.SHA256))
		return
	}
	r.check.Record(one, hash)
}

// before hands over what is lost before a sequence. A record that is there after
// all is not lost.
func (r *reading) before(seq uint64) {
	for len(r.lost) > 0 && r.lost[0].Seq < seq {
		r.check.Lose(r.lost[0])
		r.lost = r.lost[1:]
	}
	if len(r.lost) > 0 && r.lost[0].Seq == seq {
		r.lost = r.lost[1:]
	}
}

// readAll hands over every record that a stream has with its hash, across gaps.
func readAll(ctx context.Context, reader Log, s schemas.Stream, to *reading) error {
	defer to.before(math.MaxUint64)
	work, after, record := newHashing(), uint64(0), to.record
	for {
		err := reader.Follow(ctx, s, after, bus.FollowOptions{MaxBatch: 4096, UntilEnd: true, Unparsed: true}, func(records []schemas.Record) error {
			for i, hash := range work.hash(records) {
				record(records[i], hash)
			}
			after = records[len(records)-1].Seq
			return nil
		})
		if !errors.Is(err, bus.ErrGap) {
			return err
		}
		behind, err := reader.Next(ctx, s, after)
		if errors.Is(err, bus.ErrNotFound) {
			return nil // the gap reaches to the end
		}
		if err != nil {
			return err
		}
		record(behind, work.hash([]schemas.Record{behind})[0])
		after = behind.Seq
	}
}

// hashing hashes batches on all processors.
type hashing struct {
	hashers []evidence.Hasher
	hashes  []evidence.Hash
}

func newHashing() *hashing {
	return &hashing{hashers: make([]evidence.Hasher, runtime.GOMAXPROCS(0))}
}

// hash returns a hash for each record, valid until the next call.
func (h *hashing) hash(records []schemas.Record) []evidence.Hash {
	if len(h.hashes) < len(records) {
		h.hashes = make([]evidence.Hash, len(records))
	}
	share := max((len(records)+len(h.hashers)-1)/len(h.hashers), 64) // fewer are not worth a hand-over
	var all sync.WaitGroup
	for i := 0; i*share < len(records); i++ {
		from, to := i*share, min((i+1)*share, len(records))
		all.Go(func() {
			for at := from; at < to; at++ {
				h.hashes[at] = h.hashers[i].Leaf(records[at].Message)
			}
		})
	}
	all.Wait()
	return h.hashes[:len(records)]
}

// readCheckpoints reads those of a stream in a place, and what is wrong with
// those that do not count.
func readCheckpoints(place string, s schemas.Stream, key note.Verifier) (good []evidence.Checkpoint, problems []string, err error) {
	path := place
	if info, err := os.Stat(place); err == nil && info.IsDir() {
		path = filepath.Join(place, string(s)+evidence.CheckpointsFile)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	good, problems = checkpointsIn(path, text, s, key)
	return good, problems, nil
}

func checkpointsIn(path string, text []byte, s schemas.Stream, key note.Verifier) (good []evidence.Checkpoint, problems []string) {
	all, rest := evidence.SplitCheckpoints(text)
	opened := make([]evidence.Checkpoint, len(all))
	errs := make([]error, len(all))
	var work sync.WaitGroup
	share := (len(all) + runtime.GOMAXPROCS(0) - 1) / max(runtime.GOMAXPROCS(0), 1)
	for from := 0; from < len(all); from += share {
		work.Go(func() {
			for i := from; i < min(from+share, len(all)); i++ {
				opened[i], errs[i] = evidence.Open(all[i].Signed, key)
			}
		})
	}
	work.Wait()
	for i, c := range opened {
		switch {
		case errs[i] != nil:
			problems = append(problems, fmt.Sprintf("%s:%d: a checkpoint that does not count: %v", path, all[i].Line, errs[i]))
		case c.Stream == s:
			good = append(good, c)
		}
	}
	if rest != "" {
		problems = append(problems, fmt.Sprintf("%s: it ends with %d bytes that are no whole checkpoint", path, len(rest)))
	}
	return good, problems
}
