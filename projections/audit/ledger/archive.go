package ledger

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/archivefile"
	"github.com/writbus/writ/bus/blockfile"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/projections/audit"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/digest"
	"github.com/writbus/writ/schemas/pause"
)

const (
	// archiveMost and archiveMostBytes bound a segment: it is read as a whole.
	archiveMost      = 8192
	archiveMostBytes = 8 << 20
	archiveEvery     = time.Minute
	archiveSoon      = time.Second     // while the stream takes nothing for it, or is large
	archiveBarren    = 5 * time.Second // after nothing could leave
	archiveAt        = 80              // per cent of max_bytes, from which on records leave
	brokenMost       = 3               // segments that are told of one by one
)

// ArchiveWarn is the share of max_bytes, in per cent, from which on a person is told
// of a stream whose records do not leave.
const ArchiveWarn = 90

// ArchiveOptions are what an archiver needs.
type ArchiveOptions struct {
	Audit     *Auditor
	Log       *bus.Conn // the one that appends, by Writer
	Writer    *bus.Writer
	Server    *embedded.Server
	Store     string // the folder of the streams
	Settings  bus.ArchiveSettings
	Most      int64 // bytes that the stream is to have, 0 for as many as come
	Retention bus.Retention
	// Least is how many records a segment has at least, 0 for half of the most.
	Least  int
	Busy   *sync.Mutex // held by who cuts or rewrites the streams
	Now    func() time.Time
	Logger *slog.Logger
}

// Archiver puts old records of sessions into segments, and then has the stream let
// them go. It takes what was signed and stands as it was signed, whether or not its
// sessions go on: what is read and expected of them joins both places. It reads back
// what it wrote before the log says so, and the stream lets go of nothing of which the
// log does not. Killed at any moment, it goes on.
type Archiver struct {
	ArchiveOptions
	running sync.Mutex // one run at a time, guards unsaid
	unsaid  string     // the segment that was written last, until the log says so

	mu      sync.Mutex
	problem string // why it could not go on
	stays   bool   // the stream is about as large as it is to be, and nothing leaves
	looked  int    // segments that were read to see whether they are whole
	broken  map[string]string
}

// NewArchiver returns one that does nothing before Begin or Run.
func NewArchiver(o ArchiveOptions) *Archiver {
	if o.Most > 0 {
		at := o.Most / 100 * archiveAt
		o.Settings.Above = min(cmp.Or(o.Settings.Above, at), at)
	}
	o.Least = cmp.Or(o.Least, archiveMost/2)
	return &Archiver{ArchiveOptions: o, broken: map[string]string{}}
}

// Begin archives from time to time until stop, and soon where the stream grows quickly.
func (a *Archiver) Begin(ctx context.Context) (stop func()) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for last, barren := a.Now(), (time.Time{}); ; {
			wait := archiveEvery
			if bus.Refusing(a.Log) || a.Most > 0 {
				wait = archiveSoon
			}
			if !pause.For(running, wait) {
				return
			}
			needed := a.Now().Sub(last).Abs() < archiveEvery && !bus.Refusing(a.Log)
			if needed && (a.Now().Sub(barren).Abs() < archiveBarren || !a.fills(running, archiveAt)) {
				continue
			}
			left, err := a.inTurn(running, needed)
			if err != nil && running.Err() == nil {
				a.Logger.Warn("archive old records", "error", err)
			}
			if !needed {
				last = a.Now()
				a.look(running)
			} else if left == 0 {
				barren = a.Now()
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// fills says whether the stream has a share of the bytes that it is to have, in per cent.
func (a *Archiver) fills(ctx context.Context, share int64) bool {
	state, err := bus.Stored(ctx, a.Log, bus.ArchivedStream)
	return err == nil && a.Most > 0 && int64(state.Bytes) >= a.Most/100*share //nolint:gosec // a size
}

// Stays says that the stream has most of the bytes that it is to have, and nothing could
// leave it.
func (a *Archiver) Stays() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stays
}

// Problems are what status and doctor tell of the archive.
func (a *Archiver) Problems() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []string
	if a.problem != "" {
		all = append(all, "old records are not archived: "+a.problem)
	}
	broken := slices.Sorted(maps.Keys(a.broken))
	for i, path := range broken {
		if i == brokenMost {
			return append(all, fmt.Sprintf("%d segments of the archive more cannot be read, such as %s", len(broken)-i, path))
		}
		all = append(all, a.broken[path])
	}
	return all
}

// Run archives what is to leave now, and returns how many records left the stream.
func (a *Archiver) Run(ctx context.Context) (left uint64, err error) { return a.inTurn(ctx, false) }

// inTurn is Run, of which one segment at least leaves where room is needed.
func (a *Archiver) inTurn(ctx context.Context, needed bool) (left uint64, err error) {
	a.running.Lock()
	defer a.running.Unlock()
	if !a.Busy.TryLock() {
		return 0, nil // the next time
	}
	defer a.Busy.Unlock()
	if needed {
		a.Audit.Seal(ctx) // only what is signed leaves
	}
	for err == nil && ctx.Err() == nil {
		var n uint64
		if n, err = a.trim(ctx); err != nil { // also what an earlier run was cut off at
			break
		}
		left += n
		var one *stretch
		if one, err = a.next(ctx, needed && left == 0); err != nil || one == nil {
			break
		}
		err = a.seal(ctx, one)
	}
	stays := left == 0 && a.fills(ctx, ArchiveWarn)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stays, a.problem = stays, ""; err != nil && ctx.Err() == nil {
		a.problem = err.Error()
	}
	return left, err
}

// trim has the stream let go of what is archived.
func (a *Archiver) trim(ctx context.Context) (uint64, error) {
	parts, err := bus.Archived(ctx, a.Log)
	if err != nil || len(parts) == 0 {
		return 0, err
	}
	last := parts[len(parts)-1].Last
	if state, err := bus.Stored(ctx, a.Log, bus.ArchivedStream); err != nil || state.First > last && !bus.Refusing(a.Log) {
		return 0, err
	}
	if err := a.Server.LetGo(string(bus.ArchivedStream), last+1); err != nil {
		return 0, err
	}
	left, err := bus.Trim(ctx, a.Log, a.Retention)
	if err == nil && left > 0 {
		err = embedded.SyncFiles(a.Store, string(bus.ArchivedStream))
	}
	return left, err
}

// signedOf is what was signed last of a stream.
func signedOf(a *Auditor, s schemas.Stream) (last evidence.Checkpoint, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	tip, err := a.ledger.tip(s)
	if err == nil && len(tip.signed) > 0 {
		last = tip.last
	}
	return last, err
}

// stretch are records that leave together.
type stretch struct {
	first   uint64 // behind the last that left, also where that one was given up
	records []archivefile.Record
	bytes   int
}

func (s *stretch) add(r archivefile.Record) {
	s.records, s.bytes = append(s.records, r), s.bytes+len(r.Subject)+len(r.Header)+len(r.Body)
}

// next returns the records that are to leave next, nil where none are. Where room is
// needed it asks for no age or size.
func (a *Archiver) next(ctx context.Context, needed bool) (*stretch, error) {
	s := bus.ArchivedStream
	state, err := bus.Stored(ctx, a.Log, s)
	if err != nil {
		return nil, err
	}
	after, excess := a.Settings.After, int64(state.Bytes)-a.Settings.Above //nolint:gosec // a size
	switch {
	case needed:
		excess = archiveMostBytes / 2
	case a.Settings.Above == 0:
		excess = 0
	case excess > 0:
		excess = max(excess, archiveMostBytes/2) // a whole segment
	}
	if after == 0 && excess <= 0 || state.Messages == 0 {
		return nil, nil
	}
	signed, err := signedOf(a.Audit, s)
	if err != nil || signed.Size == 0 {
		return nil, err
	}
	parts, err := bus.Archived(ctx, a.Log)
	if err != nil {
		return nil, err
	}
	lost, err := a.Log.Lost(ctx, s)
	if err != nil {
		return nil, err
	}
	begins := state.First
	if n := len(parts); n > 0 {
		begins = parts[n-1].Last + 1
	}
	all, expected, missing := &stretch{first: begins}, begins, error(nil)
	err = blockfile.Each(embedded.StreamDir(a.Store, string(s)), string(s), func(seq uint64, nanos int64, subject string, header, body []byte) bool {
		old := after > 0 && a.Now().Sub(time.Unix(0, nanos)) >= after
		switch {
		case seq < begins:
			return true
		case seq > min(signed.Last(), state.Last-1), !old && int64(all.bytes) >= excess, len(all.records) == archiveMost, all.bytes >= archiveMostBytes, ctx.Err() != nil:
			return false
		case seq != expected && !bus.GivenUp(lost, expected, seq-1):
			missing = fmt.Errorf("records %d to %d of %s are missing. Run `writ down` and `writ repair --from BACKUP`, or `writ repair` without a backup", expected, seq-1, s)
			return false
		}
		all.add(archivefile.Record{Seq: seq, Time: nanos, Subject: subject, Header: header, Body: body})
		expected = seq + 1
		return true
	})
	if err = errors.Join(err, missing); err != nil {
		return nil, err
	}
	full := needed || a.fills(ctx, ArchiveWarn)
	if small := len(all.records) < a.Least && all.bytes < archiveMostBytes/2; len(all.records) == 0 || small && !full {
		return nil, nil
	}
	return all, nil
}

// seal writes a segment, reads it back, and has the log say so.
func (a *Archiver) seal(ctx context.Context, one *stretch) error {
	p := segmentOf(one.first, one.records)
	root, err := a.root(ctx, p, one.records)
	if err != nil {
		return err
	}
	p.SHA256 = root[:]
	// Cut off before the log says so, it is written anew under the same name.
	p.Path = segmentName(p.First, "")
	if a.Settings.To != "" { // others may have theirs there, such as one that goes on from a backup
		own, err := ownFolder(ctx, a.Log, a.Store)
		if err != nil {
			return err
		}
		folder := filepath.Join(a.Settings.To, a.Audit.key.signer.Name()+own)
		p.Path = filepath.Join(folder, p.Path)
		// The folder is the same for a copy at the same path of another machine.
		for n := 2; p.Path != a.unsaid && taken(p.Path, one.records); n++ {
			p.Path = filepath.Join(folder, segmentName(p.First, fmt.Sprint("-", n)))
		}
		a.unsaid = p.Path
	}
	path := bus.ArchiveOf(a.Log).Path(p)
	if p.Bytes, err = archivefile.Write(path, one.records); err != nil {
		return fmt.Errorf("write the segment %s: %w. Make room there, or name another folder (archive.to); the stream keeps its records until then", path, err)
	}
	if err := sayArchived(ctx, a.Writer, p); err != nil {
		return err
	}
	a.unsaid = ""
	a.Logger.Info("archived", "stream", p.Stream, "first", p.First, "last", p.Last, "segment", path, "bytes", p.Bytes)
	return nil
}

// segmentOf describes records that leave together, but for where they will be and their root.
func segmentOf(first uint64, records []archivefile.Record) schemas.RecordsArchived {
	last := map[string]uint64{}
	for _, r := range records {
		if of, _, err := schemas.ParseSubject(r.Subject); err == nil {
			last[of.ID] = r.Seq
		}
	}
	n := len(records)
	p := schemas.RecordsArchived{Stream: bus.ArchivedStream, First: first, Last: records[n-1].Seq, Records: uint64(n)}
	for _, session := range slices.Sorted(maps.Keys(last)) {
		p.Sessions = append(p.Sessions, schemas.ArchivedSession{Session: session, Last: last[session]})
	}
	return p
}

// segmentName is the name of the file of a segment that begins with a record.
func segmentName(first uint64, another string) string {
	return fmt.Sprintf("%s-%020d%s.zst", strings.ToLower(string(bus.ArchivedStream)), first, another)
}

// sayArchived has the log say where records are.
func sayArchived(ctx context.Context, log *bus.Writer, p schemas.RecordsArchived) error {
	_, err := bus.Record(ctx, log, schemas.Event{
		ID:        fmt.Sprintf("archived-%s-%d-%d", p.Stream, p.First, p.Last),
		Aggregate: schemas.ArchivedRecords(), Actor: schemas.Writ("archive"), Data: p,
	})
	return err
}

// taken says whether a path has something else than an earlier try at these records.
func taken(path string, records []archivefile.Record) bool {
	if _, err := os.Lstat(path); err != nil {
		return false // what else is wrong, writing tells
	}
	is, err := archivefile.Read(path)
	return err != nil || !slices.EqualFunc(is, records, archivefile.Record.Equal)
}

// root is that over the leaves of records in their stream's tree, which they are held
// against: what is not as it was signed does not leave.
func (a *Archiver) root(ctx context.Context, p schemas.RecordsArchived, records []archivefile.Record) (root evidence.Hash, err error) {
	signed, err := signedOf(a.Audit, p.Stream)
	if err != nil {
		return root, err
	}
	lost, err := a.Log.Lost(ctx, p.Stream)
	if err != nil {
		return root, err
	}
	erased, over, hasher := bus.Erased(lost), evidence.Frontier{}, evidence.Hasher{}
	err = a.Audit.tree(p.Stream, func(tree *audit.Tree) error {
		if tree.Size() < signed.Size {
			return fmt.Errorf("the audit's view of %s is being built. It is tried again by itself", p.Stream)
		}
		if err := extends(tree, signed); err != nil {
			return err
		}
		left := records
		for leaf, err := range tree.Leaves(p.First) {
			if err != nil || leaf.Seq > p.Last {
				return err
			}
			over.Add(leaf.Hash)
			if len(left) == 0 || left[0].Seq != leaf.Seq {
				continue // it was lost
			}
			hash := hasher.Leaf(schemas.Message{Subject: left[0].Subject, Block: left[0].Header, Body: left[0].Body})
			if was, is := erased[leaf.Seq]; hash != leaf.Hash && (!is || !bytes.Equal(was.Now, hash[:])) {
				return fmt.Errorf("%w: record %d of %s was changed. `writ audit verify` tells more", errRewritten, leaf.Seq, p.Stream)
			}
			left = left[1:]
		}
		return nil
	})
	return over.Root(), err
}

// look sees whether the segments are there, and reads one of them, another each time.
// Texts in it that were forgotten since, as in a file that was put back, it erases.
func (a *Archiver) look(ctx context.Context) {
	parts, err := bus.Archived(ctx, a.Log)
	if err != nil || len(parts) == 0 {
		return
	}
	archive := bus.ArchiveOf(a.Log)
	for i, p := range parts {
		path := archive.Path(p)
		_, err := os.Stat(path)
		if i == a.looked%len(parts) || errors.Is(err, fs.ErrNotExist) || a.broken[path] != "" {
			if _, err = archive.Read(ctx, a.Log, p); err == nil {
				err = eraseArchived(ctx, a.Log, a.Store, parts[i:i+1], a.Logger)
			}
		}
		a.mu.Lock()
		if delete(a.broken, path); err != nil {
			a.broken[path] = err.Error()
		}
		a.mu.Unlock()
	}
	a.looked++
	archive.Relax()
}

// ownFolder is how the name ends of the folder that is a log's own among those of
// several. A copy at another place has another, and so has what was restored, at the
// same place too: what was copied may go on elsewhere.
func ownFolder(ctx context.Context, conn *bus.Conn, store string) (string, error) {
	restores, err := conn.Restores(ctx)
	return endOf(store, restores), err
}

func endOf(store string, restores []schemas.LogRestored) string {
	if n := len(restores); n > 0 {
		store += restores[n-1].Manifest + restores[n-1].Restored.UTC().String()
	}
	return "-" + digest.Hex(store)[:8]
}

// eraseArchived takes out of segments what was forgotten, as embedded.Rewrite does for
// the streams. What cannot be read now is read without it later, and erased then.
func eraseArchived(ctx context.Context, conn *bus.Conn, store string, parts []schemas.RecordsArchived, logger *slog.Logger) error {
	lost, err := conn.Lost(ctx, bus.ArchivedStream)
	if err != nil {
		return err
	}
	own, err := ownFolder(ctx, conn, store)
	if err != nil {
		return err
	}
	of := bus.Erased(lost)
	change := eraser(map[schemas.Stream]map[uint64]schemas.LostLeaf{bus.ArchivedStream: of})
	for _, p := range parts {
		left, err := eraseIn(bus.ArchiveOf(conn), p, own, of, change)
		switch {
		case errors.Is(err, bus.ErrArchive):
			logger.Warn("erase what is forgotten", "error", err)
		case err != nil:
			return err
		case left != "":
			logger.Warn("what is forgotten stays in a segment that another log may read. Remove it where none does", "segment", left)
		}
	}
	return nil
}

// eraseIn names the segment that stays as it was, if one does.
func eraseIn(archive *bus.Archive, p schemas.RecordsArchived, own string, of map[uint64]schemas.LostLeaf, change change) (left string, err error) {
	if !slices.ContainsFunc(slices.Collect(maps.Keys(of)), func(seq uint64) bool { return seq >= p.First && seq <= p.Last }) {
		return "", nil
	}
	was, err := archive.Stored(p)
	if err != nil {
		return "", err
	}
	is := slices.Clone(was)
	for i, r := range is {
		is[i].Header, is[i].Body = change(string(p.Stream), r.Seq, r.Subject, r.Header, r.Body)
	}
	if slices.EqualFunc(was, is, archivefile.Record.Equal) {
		return "", nil
	}
	return archive.Rewrite(p, own, is)
}
