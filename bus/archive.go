package bus

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/bus/archivefile"
	"github.com/writbus/writ/schemas"
)

// ErrArchive is returned where records were asked for that stand in a segment of the
// archive which is missing or damaged. The error names it and says what to do.
var ErrArchive = errors.New("bus: a segment of the archive cannot be read")

// ArchivedStream is the stream whose old records may leave for the archive. The
// others stay small, and what decides on a whole stream, or keeps one aggregate for
// ever, is in those.
const ArchivedStream = schemas.StreamSessions

// ArchiveSettings say which records of sessions leave the log for the archive, and
// where that is. Without them none do.
type ArchiveSettings struct {
	// After is the age from which on events of sessions leave for the archive, such as
	// 4320h; 0 is none.
	After time.Duration `yaml:"after"`
	// Above is the size of the stream of sessions, in bytes, above which its oldest
	// events do, whatever their age; 0 is none.
	Above int64 `yaml:"above"`
	// To is the absolute path of a folder for the segments; "" is the folder archive in
	// the data directory, which backups take along.
	To string `yaml:"to"`
}

// Check names the first setting that cannot be, for a log that is on somebody else's
// NATS or not.
func (s ArchiveSettings) Check(outside bool) error {
	switch {
	case outside && s != ArchiveSettings{}:
		return errors.New("after, above and to are for Writ's own log: with nats_url that NATS' administrator says what its streams keep")
	case s.After < 0 || s.After > 0 && s.After < time.Hour:
		return fmt.Errorf("after is %s, must be at least 1h, such as 4320h, or 0", s.After)
	case s.Above < 0:
		return fmt.Errorf("above is %d, must not be negative", s.Above)
	case s.To != "" && !filepath.IsAbs(s.To):
		return fmt.Errorf("to is %q, must be an absolute path", s.To)
	}
	return nil
}

// Archive is what the log says of records that stand in segments, as far as it was
// read, and where those lie. Connections of one process to one log share it: a reader
// of one then never misses what another trims meanwhile. It is safe for concurrent
// use.
type Archive struct {
	folder string
	// leaving is written while records leave a stream, and read by who looks for them
	// first in the archive and then there.
	leaving sync.RWMutex

	mu    sync.Mutex
	read  bool   // from the log, at least once
	after uint64 // the last record that was read of it
	// parts are the segments, in the order of their records.
	parts []schemas.RecordsArchived
	// places are the segments with records of a session, in their order.
	places map[string][]visit

	kept     string // path of the segment that was read last
	contents []schemas.Record
}

// visit is a session's last record in a segment.
type visit struct {
	part *schemas.RecordsArchived // one for all sessions in it
	last uint64
}

// NewArchive returns the archive of a log whose data directory keeps segments in a
// folder; those that lie elsewhere are found without it.
func NewArchive(folder string) *Archive {
	return &Archive{folder: folder, places: map[string][]visit{}}
}

// ArchiveOf is where a connection finds what is archived.
func ArchiveOf(c *Conn) *Archive { return c.options.Archive }

// Path is where a segment lies: in the data directory's folder also where Rewrite put it.
func (a *Archive) Path(p schemas.RecordsArchived) string {
	if a.folder == "" {
		return p.Path
	}
	ours := filepath.Join(a.folder, filepath.Base(p.Path))
	if _, err := os.Lstat(ours); err != nil && filepath.IsAbs(p.Path) {
		return p.Path
	}
	return ours
}

// Rewrite has a segment hold other records. One outside the data directory is changed
// where its folder is the log's own, whose name ends so. Any other may be another log's,
// of which this one is a copy: it stays as it is, is named, and the data directory's
// folder has the segment instead.
func (a *Archive) Rewrite(p schemas.RecordsArchived, own string, records []archivefile.Record) (left string, err error) {
	defer a.Relax()
	path := a.Path(p)
	if filepath.IsAbs(p.Path) && path == p.Path && !strings.HasSuffix(filepath.Dir(path), own) {
		left, path = path, filepath.Join(a.folder, filepath.Base(path))
	}
	_, err = archivefile.Write(path, records)
	return left, err
}

// Archived returns the segments of which the log tells, in the order of their
// records.
func Archived(ctx context.Context, c *Conn) ([]schemas.RecordsArchived, error) {
	a := c.options.Archive
	a.mu.Lock()
	defer a.mu.Unlock()
	for record, err := range c.Tail(ctx, schemas.ArchivedRecords(), a.after) {
		if err != nil {
			return nil, fmt.Errorf("what is archived: %w", err)
		}
		events, err := record.Events()
		if err != nil {
			return nil, fmt.Errorf("what is archived: %w", err)
		}
		for _, e := range events {
			if p, is := e.Data.(schemas.RecordsArchived); is {
				a.add(p)
			}
		}
		a.after = record.Seq
	}
	a.read = true
	return slices.Clone(a.parts), nil
}

// add takes a segment to its place; what was said twice counts once.
func (a *Archive) add(p schemas.RecordsArchived) {
	at := len(a.parts)
	for at > 0 && a.parts[at-1].First > p.First {
		at--
	}
	if p.Stream != ArchivedStream || at > 0 && p.First <= a.parts[at-1].Last || at < len(a.parts) && p.Last >= a.parts[at].First {
		return
	}
	if at < len(a.parts) {
		a.parts = slices.Clip(a.parts) // others read it
	}
	a.parts = slices.Insert(a.parts, at, p)
	for _, s := range p.Sessions {
		places := append(a.places[s.Session], visit{&p, s.Last})
		slices.SortFunc(places, func(v, w visit) int { return cmp.Compare(v.last, w.last) })
		a.places[s.Session] = places
	}
}

// Unsaid are the runs of records before the first that a stream has of which the log says
// neither where they are nor that they were given up: what said so was lost itself.
func Unsaid(stream schemas.Stream, parts []schemas.RecordsArchived, lost []schemas.RecordsLost, first uint64) (all []schemas.RecordsArchived) {
	next := uint64(1)
	for _, p := range append(slices.Clip(parts), schemas.RecordsArchived{First: first}) {
		if p.First > next && !GivenUp(lost, next, p.First-1) {
			all = append(all, schemas.RecordsArchived{Stream: stream, First: next, Last: p.First - 1})
		}
		next = max(next, p.Last+1)
	}
	return all
}

// known reads the log where it was not yet, or where it may have grown behind a
// sequence.
func (a *Archive) known(ctx context.Context, c *Conn, seq uint64) error {
	a.mu.Lock()
	enough := a.read && (seq == 0 || len(a.parts) > 0 && a.parts[len(a.parts)-1].Last >= seq)
	a.mu.Unlock()
	if enough {
		return nil
	}
	_, err := Archived(ctx, c)
	return err
}

// holding returns the first segment with a record at or behind a sequence.
func (a *Archive) holding(ctx context.Context, c *Conn, seq uint64) (p schemas.RecordsArchived, found bool, err error) {
	if err := a.known(ctx, c, seq); err != nil {
		return p, false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	at, _ := slices.BinarySearchFunc(a.parts, seq, func(p schemas.RecordsArchived, seq uint64) int {
		if p.Last < seq {
			return -1
		}
		return 1
	})
	if at == len(a.parts) {
		return p, false, nil
	}
	return a.parts[at], true, nil
}

// contentsOf are the records of a segment, kept until another is wanted. The caller
// does not change them.
func (a *Archive) contentsOf(ctx context.Context, c *Conn, p schemas.RecordsArchived) ([]schemas.Record, error) {
	a.mu.Lock()
	kept, contents := a.kept, a.contents
	a.mu.Unlock()
	path := a.Path(p)
	if kept == path {
		return contents, nil
	}
	contents, err := a.Read(ctx, c, p)
	if err == nil {
		a.mu.Lock()
		a.kept, a.contents = path, contents
		a.mu.Unlock()
	}
	return contents, err
}

// Read reads a segment: its records with the headers as they were stored, none where
// they were given up. What was forgotten is not in them, though a file from before may
// have been put back. It returns ErrArchive.
func (a *Archive) Read(ctx context.Context, c *Conn, p schemas.RecordsArchived) ([]schemas.Record, error) {
	lost, err := c.Lost(ctx, p.Stream)
	if err != nil || GivenUp(lost, p.First, p.Last) {
		return nil, err
	}
	lost = slices.DeleteFunc(lost, func(l schemas.RecordsLost) bool { return l.Last < p.First || l.First > p.Last })
	stored, err := a.Stored(p)
	if err != nil {
		return nil, err
	}
	records, erased := make([]schemas.Record, len(stored)), Erased(lost)
	for i, r := range stored {
		records[i] = schemas.Record{Stream: p.Stream, Seq: r.Seq, Message: schemas.Message{Subject: r.Subject, Block: r.Header, Body: r.Body}}
		if _, is := erased[r.Seq]; is {
			records[i].Message = schemas.Forget(records[i].Message)
		}
	}
	return records, nil
}

// Stored is what the file of a segment holds. It returns ErrArchive.
func (a *Archive) Stored(p schemas.RecordsArchived) ([]archivefile.Record, error) {
	path := a.Path(p)
	stored, err := archivefile.Read(path)
	if n := uint64(len(stored)); err == nil && (n != p.Records || n > 0 && (stored[0].Seq < p.First || stored[n-1].Seq > p.Last)) {
		err = fmt.Errorf("it holds %d records, and is to hold %d of %d to %d", n, p.Records, p.First, p.Last)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: records %d to %d of %s are in %s: %w. Make its folder reachable where that lies elsewhere, or put the file back from a backup: `writ down` and `writ repair --from BACKUP`. What is not in it is not touched",
			ErrArchive, p.First, p.Last, p.Stream, path, err)
	}
	return stored, nil
}

// Relax lets go of the segment that was read last.
func (a *Archive) Relax() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept, a.contents = "", nil
}

// unfolded is a record of a segment as a direct read returns it.
func unfolded(r schemas.Record) schemas.Record {
	r.Message = r.Message.Unfolded()
	r.Message.Body = bytes.Clone(r.Message.Body)
	return r
}

// first returns the first archived record at or behind a sequence, or ErrNotFound.
func (a *Archive) first(ctx context.Context, c *Conn, from uint64) (schemas.Record, error) {
	for {
		p, found, err := a.holding(ctx, c, from)
		if err == nil && !found {
			err = ErrNotFound
		}
		if err != nil {
			return schemas.Record{}, err
		}
		records, err := a.contentsOf(ctx, c, p)
		if err != nil {
			return schemas.Record{}, err
		}
		for _, r := range records {
			if r.Seq >= from {
				return r, nil
			}
		}
		from = p.Last + 1
	}
}

// lastOf is the sequence of a session's last record in the archive, 0 for none.
func (a *Archive) lastOf(ctx context.Context, c *Conn, of schemas.Aggregate) (uint64, error) {
	if of.Kind.Stream() != ArchivedStream {
		return 0, nil
	}
	if err := a.known(ctx, c, 0); err != nil {
		return 0, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	places := a.places[of.ID]
	if len(places) == 0 {
		return 0, nil
	}
	return places[len(places)-1].last, nil
}

// tail hands over a session's records in the first segment that has any after
// a sequence, none where none has.
func (a *Archive) tail(ctx context.Context, c *Conn, of schemas.Aggregate, after uint64) (all []schemas.Record, err error) {
	for last, err := a.lastOf(ctx, c, of); err != nil || last > after; {
		if err != nil {
			return nil, err
		}
		part, through := a.visited(of, after)
		records, err := a.contentsOf(ctx, c, part)
		if errors.Is(err, ErrArchive) {
			if state, fault := Stored(ctx, c, ArchivedStream); fault == nil && state.First <= part.First {
				return nil, nil // the stream has them, as after a kill or in a backup
			}
		}
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if is, _, err := schemas.ParseSubject(r.Message.Subject); r.Seq > after && err == nil && is == of {
				all = append(all, unfolded(r))
			}
		}
		switch {
		case len(all) > 0:
			return all, nil
		case len(records) > 0:
			return nil, fmt.Errorf("%w: %s is to have records of %s, and has none", ErrArchive, a.Path(part), of)
		}
		after = through // it was given up
	}
	return nil, nil
}

// visited is the first segment with a record of a session behind a sequence, of which
// there is one, and its last record there.
func (a *Archive) visited(of schemas.Aggregate, after uint64) (schemas.RecordsArchived, uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	places := a.places[of.ID]
	at, _ := slices.BinarySearchFunc(places, after, func(p visit, after uint64) int {
		if p.last <= after {
			return -1
		}
		return 1
	})
	return *places[at].part, places[at].last
}

// expected is the expectation that stands for one of an aggregate, where records of
// it left the stream: the server knows of those no more. It returns ErrConflict for a
// new aggregate that is none.
func (a *Archive) expected(ctx context.Context, c *Conn, of schemas.Aggregate, e Expect) (uint64, error) {
	last, err := a.lastOf(ctx, c, of)
	switch {
	case err != nil || last == 0:
		return e.seq, err
	case e.seq == 0:
		return 0, fmt.Errorf("%w: it is archived, up to record %d", ErrConflict, last)
	case e.seq != last:
		return e.seq, nil
	}
	state, err := Stored(ctx, c, ArchivedStream)
	if err == nil && state.First > last {
		return 0, nil // its next record will be the first that the stream has of it
	}
	return e.seq, err
}

// joined is where a stream stands with what is archived of it.
func (a *Archive) joined(ctx context.Context, c *Conn, state StreamState) (StreamState, error) {
	stored := state.First
	if _, found, err := a.holding(ctx, c, stored-1); err != nil || !found {
		return state, err
	}
	a.mu.Lock()
	parts := a.parts
	a.mu.Unlock()
	state.First = min(state.First, parts[0].First)
	lost, err := c.Lost(ctx, ArchivedStream)
	if err != nil {
		return state, err
	}
	for _, p := range parts {
		switch {
		case GivenUp(lost, p.First, p.Last):
		case p.Last < stored:
			state.Messages += p.Records
		case p.First < stored:
			records, err := a.contentsOf(ctx, c, p)
			if err != nil {
				return state, err
			}
			for _, r := range records {
				if r.Seq < stored {
					state.Messages++
				}
			}
		}
	}
	return state, nil
}

// expectedBefore is what the append of an archived record expected before it.
func (a *Archive) expectedBefore(ctx context.Context, c *Conn, seq uint64) (string, error) {
	record, err := a.first(ctx, c, seq)
	if err == nil && record.Seq != seq {
		err = ErrNotFound
	}
	return record.Message.Attribute(jetstream.ExpectedLastSubjSeqHeader), err
}

// Trim has a stream let go of the records that are archived, and returns how many
// those were. Appends of this connection wait meanwhile, some milliseconds; nobody
// else may append. It is repeated where it was cut off, after [Conn.EnsureStreams].
func Trim(ctx context.Context, c *Conn, r Retention) (n uint64, err error) {
	parts, err := Archived(ctx, c)
	if err != nil || len(parts) == 0 {
		return 0, err
	}
	through := parts[len(parts)-1].Last
	defer c.Hold()()
	if c.trimming.Load() {
		if err := untrimmed(ctx, c, r); err != nil {
			return 0, err
		}
	}
	c.options.Archive.leaving.Lock()
	defer c.options.Archive.leaving.Unlock()
	state, err := Stored(ctx, c, ArchivedStream)
	if err != nil || state.First > through {
		return 0, err
	}
	if state.Last <= through {
		return 0, fmt.Errorf("bus: trim %s: it would be empty", ArchivedStream)
	}
	stays, err := count(ctx, c, through, state.Last)
	if err != nil || stays == 0 || stays > state.Messages {
		return 0, errors.Join(err, errors.New("bus: trim "+string(ArchivedStream)+": "+strconv.FormatUint(stays, 10)+" records would stay"))
	}
	config := r.config(ArchivedStream)
	// With DiscardOld every limit would trim: there is none but this one. What may come
	// yet has a place: some archived records stay for it, until the next time.
	config.Discard, config.MaxMsgs = jetstream.DiscardOld, int64(stays+c.unanswered.left()) //nolint:gosec // a count
	c.trimming.Store(true)
	_, err = c.js.UpdateStream(ctx, config)
	if err = errors.Join(translate(err), untrimmed(context.WithoutCancel(ctx), c, r)); err != nil {
		return 0, fmt.Errorf("bus: trim %s: %w", ArchivedStream, err)
	}
	now, err := Stored(ctx, c, ArchivedStream)
	if err == nil && now.Messages < stays+now.Last-state.Last {
		err = fmt.Errorf("%w: %s was to have %d records after %d, and has %d", ErrGap, ArchivedStream, stays, through, now.Messages)
	}
	return state.Messages - min(now.Messages, state.Messages), err
}

// Refusing says whether the archived stream takes nothing, since Trim could not have
// it keep what comes: it is to be repeated soon.
func Refusing(c *Conn) bool { return c.trimming.Load() }

// untrimmed has the stream keep what comes, as ever.
func untrimmed(ctx context.Context, c *Conn, r Retention) error {
	err := c.ensureStream(ctx, r.config(ArchivedStream))
	if err == nil {
		c.trimming.Store(false)
	}
	return err
}

// count is how many records a stream has after one, up to its last.
func count(ctx context.Context, c *Conn, after, last uint64) (uint64, error) {
	stream, err := c.js.Stream(ctx, string(ArchivedStream))
	if err != nil {
		return 0, translate(err)
	}
	info, err := stream.Info(ctx, jetstream.WithDeletedDetails(true))
	if err != nil {
		return 0, translate(err)
	}
	n := last - after
	for _, gone := range info.State.Deleted {
		if gone > after {
			n--
		}
	}
	return n, nil
}
