package daemon

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

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/projections/transparency/evidence"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// forgottenTogether is how many records one message of the log names at most.
const forgottenTogether = 2000

// forget is the service: erase for good what was said in sessions. It records which
// records lose their texts; from then on it is certain. The daemon then starts
// anew, and the start erases them before anything is read, however often it is
// killed: see eraseForgotten.
func (d *Daemon) forget(ctx context.Context, r schemas.ForgetRequest) (reply schemas.ForgetReply, err error) {
	switch {
	case d.server == nil:
		return reply, schemas.Faultf(schemas.CodeRefused, "the log is on somebody else's NATS (%s), whose streams cannot be rewritten from here. What is said in a session stays in them for as long as their retention says", d.settings.NATSURL)
	case len(r.Sessions) == 0 && r.Project == "" || r.Reason == "":
		return reply, schemas.Faultf(schemas.CodeBadRequest, "to forget takes a session or a project, and a reason, which stays")
	case !d.backingUp.TryLock():
		return reply, schemas.Faultf(schemas.CodeConflict, "a backup is being written. Wait for it to end")
	}
	defer d.backingUp.Unlock()
	f := forgetting{daemon: d, project: r.Project, chosen: map[schemas.Aggregate]bool{}}
	if err := f.choose(ctx, r.Sessions); err != nil {
		return reply, err
	}
	for a := range f.chosen {
		if a.Kind == schemas.KindSession {
			reply.Sessions = append(reply.Sessions, a.ID)
		}
	}
	slices.Sort(reply.Sessions)
	if len(f.chosen) == 0 {
		return reply, schemas.Faultf(schemas.CodeNotFound, "the log has no session of %s", r.Project)
	}
	for _, id := range reply.Sessions {
		if err := d.sessions.Forget(ctx, id, enforcement.Person(enforcement.ChannelTerminal)); err != nil {
			return reply, err
		}
	}
	if reply.Observations, err = d.memory.ForgetAll(ctx, r.Reason, func(o schemas.ObservationKey, session string) bool {
		return r.Project != "" && o.Scope == r.Project || f.chosen[schemas.Session(session)]
	}); err != nil {
		return reply, err
	}
	if reply.Records, err = f.record(ctx, r); err != nil {
		return reply, err
	}
	reply.Started = d.started
	d.again.Store(true)
	d.stop()
	return reply, nil
}

// forgetting is one search for what is to be forgotten.
type forgetting struct {
	daemon  *Daemon
	project string
	chosen  map[schemas.Aggregate]bool
	hasher  evidence.Hasher
}

// choose finds the sessions with those of their sub-agents, and what runs of
// Writ's own agents and their books belong to the project.
func (f *forgetting) choose(ctx context.Context, sessions []string) error {
	children, known := map[string][]string{}, map[string]bool{}
	err := f.each(ctx, schemas.StreamSessions, func(r schemas.Record, a schemas.Aggregate) error {
		known[a.ID] = true
		if before, _, below := strings.Cut(a.ID, "/"); below {
			children[before] = append(children[before], a.ID)
		}
		if r.Message.Attribute(schemas.HeaderType) != string(schemas.SessionStarted{}.EventType()) {
			return nil
		}
		events, err := r.Events()
		if err != nil {
			return nil //nolint:nilerr // the views tell of what nobody understands
		}
		for _, e := range events {
			if p, is := e.Data.(schemas.SessionStarted); is {
				children[p.Parent] = append(children[p.Parent], a.ID)
				if f.project != "" && p.Project == f.project {
					sessions = append(sessions, a.ID)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for ; len(sessions) > 0; sessions = sessions[1:] {
		a := schemas.Session(sessions[0])
		if !known[a.ID] {
			return schemas.Faultf(schemas.CodeNotFound, "the log has no session %q. `writ session list` names them", a.ID)
		}
		if !f.chosen[a] {
			f.chosen[a] = true
			sessions = append(sessions, children[a.ID]...)
		}
	}
	if f.project == "" {
		return nil
	}
	book := strings.TrimPrefix(schemas.NoteBook(f.project, "").ID, schemas.NoteBook("", "").ID)
	return f.each(ctx, schemas.StreamAgents, func(r schemas.Record, a schemas.Aggregate) error {
		if strings.HasSuffix(a.ID, " "+book) {
			f.chosen[a] = true
		}
		events, err := r.Events()
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		for _, e := range events {
			if p, is := e.Data.(schemas.AgentStarted); is && p.Workspace == f.project {
				f.chosen[a] = true
			}
		}
		return nil
	})
}

// each hands over all records of a stream that belong to an aggregate.
func (f *forgetting) each(ctx context.Context, s schemas.Stream, do func(schemas.Record, schemas.Aggregate) error) error {
	return f.daemon.conn.Follow(ctx, s, 0, bus.FollowOptions{UntilEnd: true, Unparsed: true}, func(batch []schemas.Record) error {
		for _, r := range batch {
			if a, _, err := schemas.ParseSubject(r.Message.Subject); err == nil {
				if err := do(r, a); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// record records which records are to lose their texts, and returns how many those
// are that have any.
func (f *forgetting) record(ctx context.Context, r schemas.ForgetRequest) (records int, err error) {
	what := "session " + strings.Join(r.Sessions, ", ")
	if r.Project != "" {
		what = "project " + r.Project
	}
	var all []schemas.Payload
	for _, s := range []schemas.Stream{schemas.StreamSessions, schemas.StreamAgents, schemas.StreamQuarantine} {
		lost, err := f.daemon.conn.Lost(ctx, s)
		if err != nil {
			return 0, err
		}
		before, run := bus.Erased(lost), schemas.RecordsLost{Stream: s, Reason: what + ": " + r.Reason}
		add := func() {
			if len(run.Leaves) > 0 {
				records, all = records+len(run.Leaves), append(all, run)
			}
			run.First, run.Leaves = 0, nil
		}
		err = f.each(ctx, s, func(one schemas.Record, a schemas.Aggregate) error {
			if _, erased := before[one.Seq]; erased || !f.wants(one, a) {
				return nil
			}
			left := schemas.Forget(one.Message)
			was, now := f.hasher.Leaf(one.Message), f.hasher.Leaf(left)
			if was == now {
				return nil
			}
			if run.Last+1 != one.Seq || len(run.Leaves) == forgottenTogether {
				add()
				run.First = one.Seq
			}
			run.Last, run.Leaves = one.Seq, append(run.Leaves, schemas.LostLeaf{SHA256: was[:], ID: one.ID(), Now: now[:]})
			return nil
		})
		if err != nil {
			return 0, err
		}
		add()
	}
	for len(all) > 0 {
		n, leaves := 0, 0
		for n < len(all) && (n == 0 || leaves < forgottenTogether) {
			leaves += len(all[n].(schemas.RecordsLost).Leaves)
			n++
		}
		_, err := bus.Record(ctx, f.daemon.log, schemas.Event{
			Aggregate: schemas.LostRecords(), Actor: enforcement.Person(enforcement.ChannelTerminal), Data: all[0],
		}, all[1:n]...)
		if err != nil {
			return 0, fmt.Errorf("record what is forgotten: %w. Nothing is erased yet; repeat the command", err)
		}
		all = all[n:]
	}
	return records, nil
}

// wants says whether a record is of what was chosen, or was put aside of it.
func (f *forgetting) wants(r schemas.Record, a schemas.Aggregate) bool {
	if a.Kind != schemas.KindQuarantine {
		return f.chosen[a]
	}
	if r.Message.Attribute(schemas.HeaderType) != string(schemas.MessageQuarantined{}.EventType()) {
		return false
	}
	events, err := r.Events()
	return err == nil && slices.ContainsFunc(events, func(e schemas.Event) bool {
		p, is := e.Data.(schemas.MessageQuarantined)
		of, _, err := schemas.ParseSubject(p.Subject)
		return is && err == nil && f.chosen[of]
	})
}

// eraseForgotten takes the texts out of the records of which the log says that they
// are forgotten, and has the views built anew without them. It is begun anew at the
// next start where it is cut off: a file says how many were erased.
func eraseForgotten(_ context.Context, d *Daemon) error {
	erased, count := map[schemas.Stream]map[uint64]schemas.LostLeaf{}, 0
	var streams []string
	for _, s := range schemas.Streams() {
		lost, err := lostOn(d.conn)(s)
		if err != nil {
			return err
		}
		if of := bus.Erased(lost); len(of) > 0 {
			erased[s], streams, count = of, append(streams, string(s)), count+len(of)
		}
	}
	done, err := os.ReadFile(d.layout.Forgotten())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	note := strconv.Itoa(count) + "\n"
	if cmp.Or(string(done), "0\n") == note {
		return nil
	}
	d.logger.Info("erase what is forgotten", "records", count)
	var hasher evidence.Hasher
	err = d.server.Rewrite(streams, func(stream string, seq uint64, subject string, header, body []byte) ([]byte, []byte) {
		leaf, is := erased[schemas.Stream(stream)][seq]
		m := schemas.Message{Subject: subject, Block: header, Body: body}
		if hash := hasher.Leaf(m); !is || bytes.Equal(hash[:], leaf.Now) {
			return header, body
		}
		left := schemas.Forget(m)
		return left.Block, left.Body
	})
	if err != nil {
		return fmt.Errorf("erase what is forgotten: %w. The next start goes on with it", err)
	}
	views, err := filepath.Glob(d.layout.Views() + "*") // and those that were put aside
	for _, path := range views {
		err = errors.Join(err, os.RemoveAll(path))
	}
	if err != nil {
		return fmt.Errorf("erase what is forgotten from the views: %w. The next start goes on with it", err)
	}
	return atomicfile.Write(d.layout.Forgotten(), []byte(note), 0o600)
}
