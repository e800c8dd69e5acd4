package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/writbus/writ/bus/backup"
	"github.com/writbus/writ/bus/backup/objects"
	"github.com/writbus/writ/bus/blockfile"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// ErrMoment is returned by CutBack for a moment that a log cannot go back to:
// nothing was changed.
var ErrMoment = errors.New("ledger: the log cannot go back to that moment")

// Restoring says what is put where.
type Restoring struct {
	Place  string    // of the backup, a folder or an object store
	To     string    // the data folder
	At     time.Time // leaves out what came later; zero for all there is
	Seq    uint64    // in place of At: of the last record of the sessions; 0 for none
	Format int       // the newest of data folders that is understood
	Now    func() time.Time

	Log, Evidence, Note string // below a data folder; for the note see NoteRestore
}

// Restore puts a backup into an empty data folder, and notes there that it did. It
// returns what backup.Restore and CutBack return; nothing is changed then.
func Restore(ctx context.Context, r Restoring) (reply schemas.RestoreReply, err error) {
	dir, done, err := objects.Find(ctx, r.Place, filepath.Dir(r.To), r.At)
	if err != nil {
		return reply, err
	}
	defer done()
	if r.Seq > 0 {
		if r.At, err = timeOf(filepath.Join(backup.Content(dir), r.Log), r.Seq); err != nil {
			return reply, err
		}
	}
	m, err := backup.Restore(ctx, dir, r.To, r.Format, func(m backup.Manifest, temp string) error {
		sum, err := backup.Digest(dir)
		note := schemas.LogRestored{Manifest: sum, Backup: m.Time, Restored: r.Now().UTC()}
		if err == nil && !r.At.IsZero() {
			note.Backup = r.At.UTC()
			err = CutBack(filepath.Join(temp, r.Log), filepath.Join(temp, r.Evidence), r.At)
		}
		if err != nil {
			return err
		}
		return NoteRestore(filepath.Join(temp, r.Note), note)
	})
	reply = schemas.RestoreReply{Backup: dir, Time: m.Time, DataDir: r.To, Files: len(m.Files), Bytes: m.Bytes(), Streams: m.Reached()}
	if objects.Is(r.Place) {
		reply.Backup = r.Place
	}
	if !r.At.IsZero() {
		reply.Time, reply.Streams = r.At, []schemas.StreamStatus{}
	}
	return reply, err
}

// timeOf is when a record of the sessions was appended to the log in a folder. It
// returns ErrMoment for one that is not there.
func timeOf(logDir string, seq uint64) (at time.Time, err error) {
	s := string(schemas.StreamSessions)
	err = blockfile.Each(embedded.StreamDir(logDir, s), s, func(is uint64, nanos int64, _ string, _, _ []byte) bool {
		if is == seq {
			at = time.Unix(0, nanos)
		}
		return is < seq
	})
	if err == nil && at.IsZero() {
		err = fmt.Errorf("%w: %s has no record %d", ErrMoment, s, seq)
	}
	return at, err
}

// CutBack takes out of the log in a folder, which no server has open, what was
// appended after a moment, and out of its evidence what signs that. It returns
// ErrMoment where the log later says of records that they are lost, forgotten or archived:
// without that nobody could tell what became of them.
func CutBack(logDir, evidenceDir string, at time.Time) error {
	late, s := time.Time{}, string(schemas.StreamQuarantine)
	err := blockfile.Each(embedded.StreamDir(logDir, s), s, func(_ uint64, nanos int64, subject string, header, body []byte) bool {
		m := schemas.Message{Subject: subject, Block: header, Body: body}
		is := schemas.Type(m.Attribute(schemas.HeaderType))
		if nanos > at.UnixNano() && (is == schemas.RecordsLost{}.EventType() || is == schemas.RecordsArchived{}.EventType()) {
			late = time.Unix(0, nanos)
		}
		return true
	})
	if err != nil {
		return err
	}
	if !late.IsZero() {
		return fmt.Errorf("%w: on %s it says that records were lost, forgotten or archived. Name a later moment, or an earlier backup", ErrMoment, late.Local().Format(time.DateTime))
	}
	ends, err := embedded.CutAfter(logDir, at)
	if errors.Is(err, embedded.ErrBeyond) {
		return fmt.Errorf("%w: %w", ErrMoment, err)
	}
	for name, last := range ends {
		if err == nil {
			err = cutEvidence(filepath.Join(evidenceDir, name), last)
		}
	}
	return err
}

// cutEvidence leaves of a stream's evidence what is about its records up to a last
// one.
func cutEvidence(stream string, last uint64) error {
	leaves, err := os.ReadFile(stream + evidence.LeavesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was signed
	}
	if err != nil {
		return err
	}
	end := 0
	for line := range bytes.Lines(leaves) {
		leaf, err := evidence.ParseLeafLine(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil || leaf.Seq > last {
			break
		}
		end += len(line)
	}
	text, err := os.ReadFile(stream + evidence.CheckpointsFile)
	if err != nil {
		return err
	}
	var left []byte
	signed, _ := evidence.SplitCheckpoints(text)
	for _, one := range signed {
		text, _, _ := strings.Cut(string(one.Signed), "\n\n")
		if c, err := evidence.ParseCheckpoint(text + "\n"); err == nil && (c.Size == 0 || c.Last() <= last) {
			left = append(append(left, one.Signed...), '\n')
		}
	}
	return errors.Join(
		atomicfile.WriteWith(stream+evidence.LeavesFile, leaves[:end], atomicfile.Options{Mode: 0o644, Keep: true}),
		atomicfile.WriteWith(stream+evidence.CheckpointsFile, left, atomicfile.Options{Mode: 0o644, Keep: true}),
	)
}
