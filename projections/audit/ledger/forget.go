package ledger

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/backup"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// forgottenTogether is how many records one message of the log names at most.
const forgottenTogether = 2000

// Forgetting is one wish that what was said in sessions be erased for good.
type Forgetting struct {
	Conn  *bus.Conn
	Log   *bus.Writer
	Actor schemas.Actor
	schemas.ForgetRequest

	// Chosen are the sessions, with those of sub-agents, and the runs and books.
	Chosen map[schemas.Aggregate]bool
	hasher evidence.Hasher
}

// Sessions are the ids of those that Choose found, sorted.
func (f *Forgetting) Sessions() (ids []string) {
	for a := range f.Chosen {
		if a.Kind == schemas.KindSession {
			ids = append(ids, a.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// Choose finds the sessions with those of their sub-agents, and what runs of
// Writ's own agents and their books belong to the project.
func (f *Forgetting) Choose(ctx context.Context) error {
	if len(f.ForgetRequest.Sessions) == 0 && f.Project == "" || f.Reason == "" {
		return schemas.Faultf(schemas.CodeBadRequest, "to forget takes a session or a project, and a reason, which stays")
	}
	f.Chosen = map[schemas.Aggregate]bool{}
	sessions := slices.Clone(f.ForgetRequest.Sessions)
	children, known := map[string][]string{}, map[string]bool{}
	err := f.each(ctx, schemas.StreamSessions, func(r schemas.Record, a schemas.Aggregate) error {
		known[a.ID] = true
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
				if f.Project != "" && p.Project == f.Project {
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
		if !f.Chosen[a] {
			f.Chosen[a] = true
			sessions = append(sessions, children[a.ID]...)
			for id := range known { // sub-agents that the host never said began
				if strings.HasPrefix(id, a.ID+"/") {
					sessions = append(sessions, id)
				}
			}
		}
	}
	if f.Project == "" {
		return nil
	}
	book := strings.TrimPrefix(schemas.NoteBook(f.Project, "").ID, schemas.NoteBook("", "").ID)
	err = f.each(ctx, schemas.StreamAgents, func(r schemas.Record, a schemas.Aggregate) error {
		if strings.HasSuffix(a.ID, " "+book) {
			f.Chosen[a] = true
		}
		events, err := r.Events()
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		for _, e := range events {
			started, _ := e.Data.(schemas.AgentStarted)
			added, _ := e.Data.(schemas.ScheduleAdded) // without its text it is over
			if started.Workspace == f.Project || added.Workspace == f.Project {
				f.Chosen[a] = true
			}
		}
		return nil
	})
	if err == nil && len(f.Chosen) == 0 {
		return schemas.Faultf(schemas.CodeNotFound, "the log has no session of %s", f.Project)
	}
	return err
}

// each hands over all records of a stream that belong to an aggregate.
func (f *Forgetting) each(ctx context.Context, s schemas.Stream, do func(schemas.Record, schemas.Aggregate) error) error {
	err := f.Conn.Follow(ctx, s, 0, bus.FollowOptions{UntilEnd: true, Unparsed: true}, func(batch []schemas.Record) error {
		for _, r := range batch {
			if a, _, err := schemas.ParseSubject(r.Message.Subject); err == nil {
				if err := do(r, a); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if errors.Is(err, bus.ErrGap) {
		return schemas.Faultf(schemas.CodeRefused, "%v. Run `writ down` and `writ repair` first: what cannot be read may be what is to be forgotten", err)
	}
	return err
}

// Record records which records are to lose their texts, and returns how many those
// are that have any. From then on it is certain: see [EraseForgotten].
func (f *Forgetting) Record(ctx context.Context) (records int, err error) {
	what := "session " + strings.Join(f.ForgetRequest.Sessions, ", ")
	if f.Project != "" {
		what = "project " + f.Project
	}
	var all []schemas.Payload
	for _, s := range []schemas.Stream{schemas.StreamSessions, schemas.StreamAgents, schemas.StreamQuarantine} {
		lost, err := f.Conn.Lost(ctx, s)
		if err != nil {
			return 0, err
		}
		before, run := bus.Erased(lost), schemas.RecordsLost{Stream: s, Reason: what + ": " + f.Reason}
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
			if run.First == 0 || run.Last+1 != one.Seq || len(run.Leaves) == forgottenTogether {
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
		_, err := bus.Record(ctx, f.Log, schemas.Event{
			Aggregate: schemas.LostRecords(), Actor: f.Actor, Data: all[0],
		}, all[1:n]...)
		if err != nil {
			return 0, fmt.Errorf("record what is forgotten: %w. Nothing is erased yet; repeat the command", err)
		}
		all = all[n:]
	}
	return records, nil
}

// wants says whether a record is of what was chosen, or was put aside of it.
func (f *Forgetting) wants(r schemas.Record, a schemas.Aggregate) bool {
	if a.Kind != schemas.KindQuarantine {
		return f.Chosen[a]
	}
	if r.Message.Attribute(schemas.HeaderType) != string(schemas.MessageQuarantined{}.EventType()) {
		return false
	}
	events, err := r.Events()
	return err == nil && slices.ContainsFunc(events, func(e schemas.Event) bool {
		p, is := e.Data.(schemas.MessageQuarantined)
		of, _, err := schemas.ParseSubject(p.Subject)
		return is && err == nil && f.Chosen[of]
	})
}

// Still are the places that forgetting does not reach, each with what to do about it.
// Backups are planned to be in a place, "" for none.
func (f *Forgetting) Still(backups string) (all []string) {
	if backups != "" {
		backups = " in " + backups
	}
	all = append(all, "backups made before"+backups+": remove those, and make another with `writ backup`")
	if f.Project == "" {
		all = append(all, "schedules that the sessions left: `writ agent schedule list` names them, and `writ session forget --project` erases those of a project")
	}
	return append(all, "rules that came of them (`writ rule edit`), mirrors and published copies, and the host's own transcripts")
}

// EraseForgotten takes the texts out of the records of which the log says that they
// are forgotten, and removes the views, which are built anew without them. Called at
// each start, it ends what was cut off: a note in the folder of the log says how many
// were erased.
func EraseForgotten(ctx context.Context, conn *bus.Conn, server *embedded.Server, log, views string, logger *slog.Logger) error {
	erased, count := map[schemas.Stream]map[uint64]schemas.LostLeaf{}, 0
	var streams []string
	for _, s := range schemas.Streams() {
		lost, err := conn.Lost(ctx, s)
		if err != nil {
			return err
		}
		if of := bus.Erased(lost); len(of) > 0 {
			erased[s], streams, count = of, append(streams, string(s)), count+len(of)
		}
	}
	note := filepath.Join(log, embedded.ErasedName)
	done, err := os.ReadFile(note)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	all := strconv.Itoa(count) + "\n"
	if cmp.Or(string(done), "0\n") == all {
		return nil
	}
	logger.Info("erase what is forgotten", "records", count)
	if err = embedded.Rewrite(server, streams, eraser(erased)); err == nil {
		var parts []schemas.RecordsArchived
		if parts, err = bus.Archived(ctx, conn); err == nil {
			err = eraseArchived(ctx, conn, log, parts, logger)
		}
	}
	if err != nil {
		return fmt.Errorf("erase what is forgotten: %w. The next start goes on with it", err)
	}
	if err := backup.Sweep(filepath.Dir(views), filepath.Base(views)); err != nil { // with those that were put aside
		return fmt.Errorf("erase what is forgotten from the views: %w. The next start goes on with it", err)
	}
	return atomicfile.Write(note, []byte(all), 0o600)
}

// change says what the header and the body of a record are from now on.
type change = func(stream string, seq uint64, subject string, header, body []byte) (h, b []byte)

// eraser leaves of records what is left of them once they are forgotten.
func eraser(erased map[schemas.Stream]map[uint64]schemas.LostLeaf) change {
	var hasher evidence.Hasher
	return func(stream string, seq uint64, subject string, header, body []byte) ([]byte, []byte) {
		leaf, is := erased[schemas.Stream(stream)][seq]
		if !is {
			return header, body
		}
		m := schemas.Message{Subject: subject, Block: header, Body: body}
		if hash := hasher.Leaf(m); bytes.Equal(hash[:], leaf.Now) {
			return header, body
		}
		left := schemas.Forget(m)
		return left.Block, left.Body
	}
}
