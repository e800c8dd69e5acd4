package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/schemas"
)

// Hole is a part of the stream of sessions that the log lacks.
type Hole struct{ First, Last uint64 }

// CloseAfterLoss closes the gates of every session whose events may be among those
// that the log lacks: an approval that was taken back may be one of them. It finds
// by itself what is missing in between, once for each hole; unreadable are holes
// that only somebody else knows of. cut says, for people, that the log ended
// elsewhere before, "" where it did not.
//
// A session is spared where the log shows that the hole holds nothing of it: its
// next record was appended behind the one before the hole, or all that is missing
// is others'. It returns what it recorded, which the log has last: cut off, it is
// repeated.
func (s *Sessions) CloseAfterLoss(ctx context.Context, unreadable []Hole, cut string) ([]schemas.SessionsClosed, error) {
	l := &loss{sessions: s, at: map[string]*survivor{}, claimed: map[uint64]bool{}}
	more, err := l.look(ctx, unreadable)
	if err != nil || !more && cut == "" {
		return nil, err
	}
	if err := l.read(ctx); err != nil {
		return nil, fmt.Errorf("session: read the log for what a loss may have opened: %w", err)
	}
	if len(l.holes) == 0 && cut == "" {
		return nil, nil // an earlier reading dealt with all that is missing
	}
	closed := schemas.SessionsClosed{Stream: schemas.StreamSessions, Reason: cut}
	if text := l.missing(); text != "" {
		closed.Reason = strings.TrimPrefix(cut+"; "+text, "; ")
	}
	for _, id := range l.affected(cut != "") {
		d, _, err := s.Act(ctx, id, schemas.Writ("repair"), "", func(state enforcement.State) (enforcement.Decision, error) {
			return enforcement.Decide(state, enforcement.CloseGates{Reason: closed.Reason})
		})
		if err != nil {
			return nil, fmt.Errorf("session: close the gates of %s: %w", id, err)
		}
		if len(d.Record) > 0 {
			closed.Sessions = append(closed.Sessions, id)
		}
	}
	return l.record(ctx, closed)
}

// Forget closes what is open in a session of which the texts are to be forgotten,
// since they may have been what opened it, and removes the contents that were
// approved in it.
func Forget(ctx context.Context, s *Sessions, id string, actor schemas.Actor) error {
	_, _, err := s.Act(ctx, id, actor, "", func(state enforcement.State) (enforcement.Decision, error) {
		return enforcement.Decide(state, enforcement.CloseGates{Reason: "what was said in this session is forgotten"})
	})
	if err == nil {
		err = os.RemoveAll(filepath.Dir(s.approved.at(id, "")))
	}
	if err != nil {
		return fmt.Errorf("session: forget %s: %w", id, err)
	}
	return nil
}

// ClosedAfterLoss are the sessions that a loss closed and nobody opened since, with
// the reason.
func (s *Sessions) ClosedAfterLoss(ctx context.Context) (map[string]string, error) {
	all, err := s.Conn.Closed(ctx)
	if err != nil {
		return nil, err
	}
	still := map[string]string{}
	for _, c := range all {
		for _, id := range c.Sessions {
			state, err := s.Peek(ctx, id)
			if err != nil {
				return nil, err
			}
			if state.Closed != "" {
				still[id] = state.Closed
			}
		}
	}
	return still, nil
}

// loss is one reading of the stream for what it lacks.
type loss struct {
	sessions *Sessions
	last     uint64 // of the stream
	dealt    []Hole // with which an earlier reading dealt
	holes    []Hole // the others, in order
	at       map[string]*survivor
	claimed  map[uint64]bool // records that are missing and are known to be a session's
}

// survivor is what is there of a session.
type survivor struct {
	state enforcement.State
	seq   uint64 // of the last record
	hit   bool   // records of it are missing
}

// look says whether the stream lacks anything that was not dealt with.
func (l *loss) look(ctx context.Context, unreadable []Hole) (bool, error) {
	state, err := l.sessions.Conn.State(ctx, schemas.StreamSessions)
	if err != nil {
		return false, err
	}
	l.last = state.Last
	before, err := l.sessions.Conn.Closed(ctx)
	if err != nil {
		return false, err
	}
	for _, c := range before {
		if c.First > 0 && c.Stream == schemas.StreamSessions {
			l.dealt = append(l.dealt, Hole{c.First, c.Last})
		}
	}
	for _, h := range unreadable {
		l.add(h)
	}
	known, err := l.stillMissing(ctx)
	return state.Last-state.Messages > known || len(l.holes) > 0, err
}

// stillMissing counts the records of the holes that were dealt with: a backup may
// have filled some since.
func (l *loss) stillMissing(ctx context.Context) (n uint64, err error) {
	slices.SortFunc(l.dealt, func(a, b Hole) int { return cmp.Compare(a.First, b.First) })
	counted := uint64(0)
	for _, h := range l.dealt {
		next, err := l.sessions.Conn.NextOf(ctx, schemas.StreamSessions, h.First)
		if err != nil && !errors.Is(err, bus.ErrNotFound) {
			return 0, err
		}
		if from := max(h.First, counted+1); (err != nil || next > h.Last) && from <= h.Last {
			n, counted = n+h.Last-from+1, h.Last
		}
	}
	return n, nil
}

// add notes a hole, unless it was dealt with.
func (l *loss) add(h Hole) {
	covers := func(known Hole) bool { return known.First <= h.First && h.Last <= known.Last }
	if h.Last < h.First || slices.ContainsFunc(l.dealt, covers) || slices.ContainsFunc(l.holes, covers) {
		return
	}
	l.holes = append(l.holes, h)
	slices.SortFunc(l.holes, func(a, b Hole) int { return cmp.Compare(a.First, b.First) })
}

// read folds all sessions, over the holes.
func (l *loss) read(ctx context.Context) error {
	conn, stream, cursor := l.sessions.Conn, schemas.StreamSessions, uint64(0)
	for {
		err := conn.Follow(ctx, stream, cursor, bus.FollowOptions{UntilEnd: true}, func(batch []schemas.Record) error {
			for _, record := range batch {
				l.add(Hole{cursor + 1, record.Seq - 1})
				cursor = record.Seq
				if err := l.take(ctx, record); err != nil {
					return err
				}
			}
			return nil
		})
		var next uint64
		switch {
		case err == nil:
			l.add(Hole{cursor + 1, l.last})
			return nil
		case !errors.Is(err, bus.ErrGap):
			return err
		}
		if next, err = conn.NextOf(ctx, stream, cursor+1); errors.Is(err, bus.ErrNotFound) {
			next, err = l.last+1, nil
		}
		if err != nil {
			return err
		}
		l.add(Hole{cursor + 1, next - 1})
		if cursor = next - 1; cursor >= l.last {
			return nil
		}
	}
}

// take folds a record in. Where there is a hole before it, it tells what stood
// there of its session.
func (l *loss) take(ctx context.Context, record schemas.Record) error {
	aggregate, _, err := schemas.ParseSubject(record.Message.Subject)
	if err != nil {
		return nil //nolint:nilerr // the views tell of what nobody understands
	}
	one := l.at[aggregate.ID]
	if one == nil {
		one = &survivor{}
		l.at[aggregate.ID] = one
	}
	if slices.ContainsFunc(l.holes, func(h Hole) bool { return h.First > one.seq && h.Last < record.Seq }) {
		after, known, err := l.sessions.Conn.After(ctx, schemas.StreamSessions, record.Seq)
		if err != nil {
			return err
		}
		if !known || after != one.seq {
			one.hit, l.claimed[after] = true, known
		}
	}
	one.seq = record.Seq
	events, err := record.Events()
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	for _, e := range events {
		one.state = enforcement.Evolve(one.state, e)
	}
	return nil
}

// affected are the sessions with something open of which records may be missing,
// sorted. A log that was cut may have ended with any session's.
func (l *loss) affected(cut bool) (ids []string) {
	for id, one := range l.at {
		if !one.hit && !cut && l.unclaimed(one.seq) == 0 {
			continue
		}
		if d, err := enforcement.Decide(one.state, enforcement.CloseGates{Reason: "loss"}); err != nil || len(d.Record) > 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// unclaimed counts the missing records behind a sequence that may be anybody's.
func (l *loss) unclaimed(seq uint64) (n uint64) {
	for _, h := range l.holes {
		if h.First > seq {
			n += h.Last - h.First + 1
		}
	}
	for at, is := range l.claimed {
		if is && at > seq && slices.ContainsFunc(l.holes, func(h Hole) bool { return h.First > seq && h.First <= at && at <= h.Last }) {
			n--
		}
	}
	return n
}

// missing says for people what the log lacks, "" where it lacks nothing.
func (l *loss) missing() string {
	var parts []string
	for i, h := range l.holes {
		if i == 3 {
			parts = append(parts, fmt.Sprintf("%d other parts", len(l.holes)-i))
			break
		}
		if h.First == h.Last {
			parts = append(parts, fmt.Sprint(h.First))
		} else {
			parts = append(parts, fmt.Sprintf("%d to %d", h.First, h.Last))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "the log of sessions lacks " + map[bool]string{true: "record ", false: "records "}[len(l.holes) == 1 && l.holes[0].First == l.holes[0].Last] + strings.Join(parts, ", ")
}

// record notes what was dealt with, one event a hole: the first names the sessions.
func (l *loss) record(ctx context.Context, c schemas.SessionsClosed) (all []schemas.SessionsClosed, err error) {
	if len(l.holes) == 0 {
		l.holes = []Hole{{}}
	}
	for _, h := range l.holes {
		c.First, c.Last = h.First, h.Last
		_, err := bus.Record(ctx, l.sessions.Log, schemas.Event{Aggregate: schemas.LostRecords(), Actor: schemas.Writ("repair"), Data: c})
		if err != nil {
			return all, fmt.Errorf("session: record which sessions are closed: %w", err)
		}
		all, c.Sessions = append(all, c), nil
	}
	return all, nil
}
