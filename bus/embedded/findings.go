package embedded

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/blockfile"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
	"github.com/writbus/writ/schemas/digest"
)

var (
	// ErrLogTruncated is a finding's error: a stream ends before the record
	// that an earlier run had acknowledged.
	ErrLogTruncated = errors.New("embedded: stream lost its tail")
	// ErrLogDamaged is a finding's error: records within a stream are missing.
	ErrLogDamaged = errors.New("embedded: stream lost records")
	// ErrMarksUnreadable is a finding's error: the note of the streams' ends
	// cannot be read, so a lost tail cannot be told.
	ErrMarksUnreadable = errors.New("embedded: note of the streams' ends cannot be read")
)

// DefaultMarkInterval is how often the streams' ends are noted by default.
const DefaultMarkInterval = 2 * time.Second

const (
	storeName = "jetstream"  // nats-server's folder within ours
	marksName = "marks.json" // persisted; never change
	account   = "$G"         // nats-server's default account
)

// Finding is something wrong with the store.
type Finding struct {
	Stream string
	Err    error  // wraps one of this package's errors
	Had    uint64 // last sequence noted by the earlier run
	Has    uint64 // last sequence now
	Lost   uint64 // records missing, at least
	// First and Last are the records that cannot be read, 0 where it is not known
	// which they are.
	First, Last uint64
}

// String says what is wrong, for people.
func (f Finding) String() string { return f.Err.Error() }

// mark is the end of a stream as an earlier run saw it.
type mark struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}

type marks struct {
	Streams map[string]mark `json:"streams"`
	Sum     string          `json:"sum,omitempty"` // of Streams; earlier versions wrote none
}

func (m marks) sum() string {
	body, _ := json.Marshal(m.Streams) // names and numbers
	return digest.Hex(body)
}

func (m marks) encode() ([]byte, error) {
	m.Sum = m.sum()
	body, err := json.Marshal(m)
	return append(body, '\n'), err
}

func readMarks(dir string) (marks, error) {
	body, err := os.ReadFile(filepath.Join(dir, marksName))
	if errors.Is(err, fs.ErrNotExist) {
		return marks{}, nil
	}
	if err != nil {
		return marks{}, err
	}
	var m marks
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields() // else a damaged name would be one that is not there
	if d.Decode(&m) != nil {
		return marks{}, errors.New(marksName + " holds something else")
	}
	if m.Sum != "" && m.Sum != m.sum() {
		return marks{}, errors.New("its checksum differs")
	}
	return m, nil
}

// keepMarks notes the streams' ends while the server runs.
func (s *Server) keepMarks() {
	defer s.tending.Done()
	ticker := time.NewTicker(s.options.MarkInterval)
	defer ticker.Stop()
	var last marks
	for {
		select {
		case <-s.stopping:
			return
		case <-ticker.C:
			if now, ok := s.ends(); ok && !maps.Equal(now.Streams, last.Streams) && noteMarks(s, now) {
				last = now
			}
		}
	}
}

func (s *Server) mark() {
	if now, ok := s.ends(); ok {
		noteMarks(s, now)
	}
}

// noteMarks only logs a failure: the marks serve to notice a loss, and the
// log itself goes on without them. It says whether they are on the disk.
func noteMarks(s *Server, m marks) bool {
	err := s.writeMarks(m)
	if err != nil {
		s.options.Logger.Warn("noting the ends of the streams", "error", err)
	}
	return err == nil
}

// writeMarks notes ends. Who looked at them before others let records go takes none of
// those back.
func (s *Server) writeMarks(m marks) error {
	s.noting.Lock()
	defer s.noting.Unlock()
	for name, of := range m.Streams {
		m.Streams[name] = mark{First: max(of.First, begins(s, name)), Last: of.Last}
	}
	body, err := m.encode()
	if err == nil {
		// What a power cut may take is not noted, and is no loss.
		for name := range m.Streams {
			err = errors.Join(err, bring(context.Background(), s, s.noted, name))
		}
	}
	if err == nil {
		err = atomicfile.Write(filepath.Join(s.options.Dir, marksName), body, 0o600)
	}
	return err
}

// LetGo notes, durably, that the records of a stream before one are about to leave it
// for the archive: that they are missing from then on is no damage. What the log says
// of them is on the disk when it returns, with either durability.
func (s *Server) LetGo(stream string, before uint64) error {
	if err := SyncFiles(s.options.Dir, string(schemas.StreamQuarantine)); err != nil {
		return err
	}
	s.mu.Lock()
	if s.letGo == nil {
		s.letGo = map[string]uint64{}
	}
	s.letGo[stream] = before
	s.mu.Unlock()
	now, ok := s.ends()
	if !ok {
		return fmt.Errorf("%w: the streams cannot be looked at", bus.ErrStorage)
	}
	return s.writeMarks(now)
}

// Begins is the first record that a server will show of a stream, in a store that none has
// open: with its index the one that was noted, else the first in the files.
func Begins(dir, stream string) (first uint64, err error) {
	if _, err := os.Stat(filepath.Join(StreamDir(dir, stream), recordsIn, indexedIn)); err == nil {
		noted, err := readMarks(dir)
		return noted.Streams[stream].First, err
	}
	err = blockfile.Each(StreamDir(dir, stream), stream, func(seq uint64, _ int64, _ string, _, _ []byte) bool {
		first = seq
		return false
	})
	return first, err
}

// NoteFirst notes, in a store that no server has open, that a stream which begins with a
// record is to begin with an earlier one: a repair takes what is between.
func NoteFirst(dir, stream string, first, begins uint64) error {
	noted, err := readMarks(dir)
	if now, nowErr := Begins(dir, stream); err != nil || nowErr != nil || now != begins || noted.Streams == nil {
		return nil //nolint:nilerr // a repair does without
	}
	noted.Streams[stream] = mark{First: first, Last: noted.Streams[stream].Last}
	body, err := noted.encode()
	if err == nil {
		err = atomicfile.Write(filepath.Join(dir, marksName), body, 0o600)
	}
	return err
}

// begins is the first record that a stream is to have, where others were let go.
func begins(s *Server, stream string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.letGo[stream]
}

// ends says where the streams end, unless they are being opened again: the server
// knows none of them, or some, meanwhile.
func (s *Server) ends() (marks, bool) {
	streams, err := s.streams()
	if err != nil || s.log.writeFailure() != "" || len(streams) != len(storedStreams(s.options.Dir)) {
		return marks{}, false
	}
	m := marks{Streams: map[string]mark{}}
	for name, state := range streams {
		m.Streams[name] = mark{First: max(state.FirstSeq, begins(s, name)), Last: state.LastSeq}
	}
	return m, true
}

// streams says where each stream stands.
func (s *Server) streams() (map[string]server.StreamState, error) {
	info, err := s.ns.Jsz(&server.JSzOptions{Accounts: true, Streams: true})
	if err != nil {
		return nil, err
	}
	all := map[string]server.StreamState{}
	for _, a := range info.AccountDetails {
		for _, d := range a.Streams {
			all[d.Name] = d.State
		}
	}
	return all, nil
}

// streamsDir is where the server keeps the streams.
func streamsDir(dir string) string { return filepath.Join(dir, storeName, account, "streams") }

// StreamDir is where a server whose Options.Dir is dir keeps a stream.
func StreamDir(dir, stream string) string { return filepath.Join(streamsDir(dir), stream) }

// storedStreams lists the streams there are on disk.
func storedStreams(dir string) []string {
	entries, err := os.ReadDir(streamsDir(dir))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && e.Name()[0] != '.' {
			names = append(names, e.Name())
		}
	}
	return names
}

// examine compares what the server has with what was on disk before it started
// and with what the earlier run noted. The server leaves out a stream it
// cannot read, and goes on; a new one of the same name would then be written
// over the old.
func (s *Server) examine(stored []string) error {
	defer s.log.startOver()
	have, err := s.streams()
	if err != nil {
		return fmt.Errorf("%w: streams: %w", ErrStart, err)
	}
	for _, name := range stored {
		if _, ok := have[name]; !ok {
			return fmt.Errorf("%w: %s in %s (%s). Keep a copy of the folder, then restore it from a backup or move the stream's folder away",
				ErrStoreCorrupt, name, s.StoreDir(), s.log.about(name))
		}
	}
	noted, err := readMarks(s.options.Dir)
	if err != nil {
		s.find(Finding{Err: fmt.Errorf("%w: %w", ErrMarksUnreadable, err)})
	}
	for _, name := range slices.Sorted(maps.Keys(noted.Streams)) {
		s.compare(name, noted.Streams[name], have[name])
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		s.count(name, have[name])
	}
	return nil
}

func (s *Server) compare(name string, had mark, has server.StreamState) {
	if had.Last > 0 && has.LastSeq >= had.Last && has.FirstSeq > max(had.First, 1) && known(s.holes, name, max(had.First, 1), has.FirstSeq-1) < has.FirstSeq-max(had.First, 1) {
		lost := has.FirstSeq - max(had.First, 1)
		s.find(Finding{
			Stream: name, Had: had.Last, Has: has.LastSeq, Lost: lost,
			Err: fmt.Errorf("%w: %s began at %d and now begins at %d (%s)", ErrLogDamaged, name, had.First, has.FirstSeq, s.log.about(name)),
		})
	}
	if has.LastSeq >= had.Last {
		return
	}
	s.find(Finding{
		Stream: name, Had: had.Last, Has: has.LastSeq, Lost: had.Last - has.LastSeq,
		Err: fmt.Errorf("%w: %s ended at %d and now ends at %d (%s)", ErrLogTruncated, name, had.Last, has.LastSeq, s.log.about(name)),
	})
}

// known counts the records of a range that a repair gave up, or that this start
// told of.
func known(holes []Hole, name string, first, last uint64) (n uint64) {
	holes = slices.SortedFunc(slices.Values(holes), func(a, b Hole) int { return cmp.Compare(a.First, b.First) })
	for _, h := range holes {
		if from, to := max(h.First, first), min(h.Last, last); h.Stream == name && from <= to {
			n, first = n+to-from+1, to+1 // what two of them have in common counts once
		}
	}
	return n
}

// count relies on the streams never deleting: between first and last every
// sequence has its record.
func (s *Server) count(name string, has server.StreamState) {
	if has.Msgs == 0 {
		return
	}
	lost := has.LastSeq - has.FirstSeq + 1 - has.Msgs
	if lost <= known(s.holes, name, has.FirstSeq, has.LastSeq) {
		return
	}
	s.find(Finding{
		Stream: name, Has: has.LastSeq, Lost: lost,
		Err: fmt.Errorf("%w: %s from %d to %d has %d records, %d are missing (%s). Run `writ down` and `writ repair --from BACKUP`, or `writ repair` without a backup, which records what is lost",
			ErrLogDamaged, name, has.FirstSeq, has.LastSeq, has.Msgs, lost, s.log.about(name)),
	})
}

// find notes what is wrong, once.
func (s *Server) find(f Finding) {
	s.mu.Lock()
	if slices.ContainsFunc(s.findings, func(have Finding) bool { return have.String() == f.String() }) {
		s.mu.Unlock()
		return
	}
	s.findings = append(s.findings, f)
	running := s.running
	s.mu.Unlock()
	s.options.Logger.Error("the store is not what it was", "stream", f.Stream, "error", f.Err)
	if running && s.options.Found != nil {
		s.options.Found(f)
	}
}

// KeepFindings adds what a server found wrong with its store to a file, since it
// tells each thing once, and returns the lines of all that was ever found.
func KeepFindings(file string, found []Finding, now time.Time) (lines []string, err error) {
	if len(found) > 0 {
		if err := appendFindings(file, found, now); err != nil {
			return nil, fmt.Errorf("embedded: note damage of the log: %w", err)
		}
	}
	told, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("embedded: earlier damage of the log: %w", err)
	}
	for line := range strings.Lines(string(told)) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines, nil
}

func appendFindings(file string, found []Finding, now time.Time) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for _, finding := range found {
		if _, err = fmt.Fprintf(f, "%s %s\n", now.Format(time.RFC3339), finding); err != nil {
			break
		}
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// SettleFindings moves what was told of a store to the damaged files that a repair
// kept: it is dealt with. That a stream lost its end stays: what was there is no
// damage that a repair could find.
func SettleFindings(file, dir string) error {
	told, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	kept := filepath.Join(dir, keptDir, "damage-"+digest.Hex(told)[:16]+".txt")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(kept), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(kept, told, 0o600)
	}
	var stays []byte
	for line := range bytes.Lines(told) {
		if bytes.Contains(line, []byte(ErrLogTruncated.Error())) {
			stays = append(stays, line...)
		}
	}
	switch {
	case err != nil:
	case len(stays) > 0:
		err = atomicfile.Write(file, stays, 0o600)
	default:
		err = os.Remove(file)
	}
	if err != nil {
		return fmt.Errorf("embedded: put the note of damage away: %w", err)
	}
	return nil
}
