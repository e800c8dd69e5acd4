package relocate

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// Options are what a move needs. The caller holds the data directory: no daemon runs.
type Options struct {
	Dir         string // the data directory
	Credentials string // the folder of credentials in it
	Creds       string // a folder with those for the new place, "" where they are known
	Streams     string // the folder of the daemon's own server in it
	To          NATS
	Writer      bus.WriterOptions
	Note        func(text string) // tells of each step
	// Step is called before each step with its name, in tests; nil does nothing.
	Step func(name string)

	daemon string
}

// Part is what was compared of a stream.
type Part struct {
	Stream  schemas.Stream `json:"stream"`
	Records uint64         `json:"records"`
	Last    uint64         `json:"last"`
	Root    evidence.Hash  `json:"root"` // of the tree over the records that the stream holds
}

// Moved is what a move did.
type Moved struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Epoch uint64 `json:"epoch"`
	Parts []Part `json:"streams"`
	// Left is where a copy of the log still is, "" for nowhere; Kept says that there is no
	// move any more, and the log lies where it did.
	Left string `json:"left,omitempty"`
	Kept bool   `json:"kept,omitempty"`
}

// Text is what happened, for people.
func (m Moved) Text() string {
	text := fmt.Sprintf("The log lies at %s, as epoch %d.\n", m.To, m.Epoch)
	for _, p := range m.Parts {
		text += fmt.Sprintf("  %s: %d events up to %d, read at both places and the same\n", p.Stream, p.Records, p.Last)
	}
	if m.Kept {
		text = fmt.Sprintf("The log stays at %s; the move is called off.\n", m.To)
	}
	if m.Left != "" {
		text += "What was left there takes no more events, and may be deleted: " + m.Left + "\n"
	}
	return text + "`writ up --detach` goes on there, and `writ audit verify` compares it with what was signed.\n"
}

// end is one of the two places of a move.
type end struct {
	NATS
	conn        *bus.Conn
	server      *embedded.Server
	folder      string // of the own server
	credentials string // the folder of those that count there
}

func (e *end) close(ctx context.Context) (err error) {
	if e.conn != nil {
		e.conn.Close()
	}
	if e.server != nil {
		err = e.server.Shutdown(ctx)
	}
	e.conn, e.server = nil, nil
	return err
}

// Run brings the log to a place, goes on with a move there, or calls one off that is
// under way where the log lies there already. Whatever it returns, the log lies whole
// where [Load] says.
func Run(ctx context.Context, o Options) (done Moved, err error) {
	p, err := Load(o.Dir)
	if err == nil {
		err = p.arrive(o.Dir, o.Credentials)
	}
	if err != nil {
		return done, err
	}
	same := p.URL == o.To.URL
	if p.Leaving != nil {
		if done, err = putAway(ctx, o, &p); err != nil || same {
			return done, err
		}
	}
	switch {
	case p.Moving != nil && same:
		return callOff(ctx, o, p)
	case p.Moving != nil && p.Moving.To.URL != o.To.URL:
		return done, fmt.Errorf("%w: it is being moved from %s to %s. Go on with that, or call it off with `writ log move %s`", ErrElsewhere, p.Name(), p.Moving.To.Name(), p.Name())
	case same:
		return done, fmt.Errorf("the log lies at %s already", p.Name())
	}
	if o.daemon, err = DaemonID(o.Dir); err != nil {
		return done, err
	}
	m := newMover(o, p)
	defer func() {
		ctx := context.WithoutCancel(ctx)
		err = errors.Join(err, m.from.close(ctx), m.to.close(ctx))
	}()
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"reach both places", m.reach},
		{"note the move", m.note},
		{"fence the old place", m.fence},
		{"copy", m.copy},
		{"compare", m.compare},
		{"switch", m.commit},
		{"leave the old place", m.leave},
	} {
		if o.Step != nil {
			o.Step(step.name)
		}
		if err := step.do(ctx); err != nil {
			if m.place.Moving == nil {
				return m.done, fmt.Errorf("%s: %w. The log lies whole at %s", step.name, err, m.place.Name())
			}
			if !m.noted {
				err = errors.Join(err, m.forsake(ctx))
				return m.done, fmt.Errorf("%s: %w. Nothing has changed: the log lies whole at %s, where its daemon may go on (writ up --detach)", step.name, err, m.place.Name())
			}
			return m.done, fmt.Errorf("%s: %w. The log lies whole at %s, and no daemon starts until the move goes on (the same command) or is called off (`writ log move %s`)",
				step.name, err, m.place.Name(), m.place.Name())
		}
	}
	return m.done, nil
}

type mover struct {
	Options
	place    Place
	noted    bool // the move is: no daemon starts
	from, to *end
	done     Moved
}

// newMover goes on with the move that a place says is under way, or plans one.
func newMover(o Options, p Place) *mover {
	m := &mover{Options: o, place: p, noted: p.Moving != nil}
	m.from = &end{NATS: p.NATS, folder: o.Streams, credentials: o.Credentials}
	m.to = &end{NATS: o.To, folder: o.Streams + ".moving", credentials: o.Credentials}
	if !m.noted {
		m.place.Log = cmp.Or(p.Log, newID())
		m.place.Epoch++
		m.place.Moving = &Moving{ID: newID(), Since: o.Writer.Now().UTC().Truncate(time.Second)}
	}
	m.place.Moving.To = o.To // replicas may be others
	m.done.From, m.done.To, m.done.Epoch = p.Name(), o.To.Name(), m.place.Epoch
	return m
}

// open reaches one of both places.
func (m *mover) open(ctx context.Context, e *end) error {
	archive := bus.NewArchive(filepath.Join(m.Dir, "archive"))
	if e.URL != "" {
		to, err := e.Options(m.Dir, e.credentials, bus.Credential{})
		if err == nil {
			to.Archive = archive
			e.conn, err = bus.Connect(ctx, to)
		}
		return err
	}
	streams, err := m.retention(e).Configurations()
	if err != nil {
		return err
	}
	user := embedded.User{Name: "move", Password: rand.Text(), Role: embedded.RoleDaemon}
	if e.server, err = embedded.Start(ctx, embedded.Options{Dir: e.folder, Streams: streams, Users: []embedded.User{user}}); err != nil {
		return err
	}
	for _, f := range e.server.Findings() {
		if !errors.Is(f.Err, embedded.ErrMended) {
			return fmt.Errorf("%w. Repair it first: `writ repair`", f.Err)
		}
	}
	e.conn, err = bus.Connect(ctx, bus.Options{Dial: e.server.Dial, User: user.Name, Password: user.Password, Archive: archive, Name: "writ log move"})
	return err
}

// reach opens both places and looks whether the log can go from one to the other. It
// changes neither.
func (m *mover) reach(ctx context.Context) error {
	err := m.keepCredentials()
	if err == nil {
		err = m.open(ctx, m.from)
	}
	if err == nil && m.to.URL == "" {
		err = m.emptyFolder()
	}
	if err == nil {
		err = m.open(ctx, m.to)
	}
	if err != nil {
		return err
	}
	for _, s := range schemas.Streams() {
		if m.from.URL != "" {
			has, err := bus.Labels(ctx, m.from.conn, s)
			if err == nil && has[labelLog] != m.place.Log {
				err = fmt.Errorf("%w: %s at %s is of another log", ErrElsewhere, s, m.from.URL)
			}
			if err != nil {
				return err
			}
		}
		if _, err := m.leftover(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// forsake removes what was brought for a move of which nothing is noted.
func (m *mover) forsake(ctx context.Context) error {
	if p, err := Load(m.Dir); err != nil || p.Moving != nil {
		return err // it is noted after all, and goes on with that
	}
	err := m.to.close(context.WithoutCancel(ctx))
	return errors.Join(err, os.RemoveAll(m.to.folder), os.RemoveAll(filepath.Join(m.Credentials, brought)))
}

// keepCredentials puts those for the new place beside those that count, until the log
// lies there.
func (m *mover) keepCredentials() (err error) {
	folder := filepath.Join(m.Credentials, brought)
	switch {
	case m.Creds != "":
		err = KeepCredentials(folder, m.Creds)
	case !m.noted:
		err = os.RemoveAll(folder) // of a move that came to nothing
	}
	m.useBrought()
	return err
}

// useBrought has the new place be reached with the credentials for it, where there are any.
func (m *mover) useBrought() {
	folder := filepath.Join(m.Credentials, brought)
	if _, err := os.Stat(filepath.Join(folder, bus.Elsewhere)); err == nil && m.to.URL != "" {
		m.to.credentials = folder
	}
}

// emptyFolder makes a folder for the streams. What says of records that they were given
// up lies beside those.
func (m *mover) emptyFolder() error {
	if err := os.RemoveAll(m.to.folder); err != nil {
		return err
	}
	if err := os.MkdirAll(m.to.folder, 0o700); err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(m.to.folder, moveFile), []byte(m.place.Moving.ID), 0o600); err != nil {
		return err
	}
	for _, name := range embedded.Notes {
		raw, err := os.ReadFile(filepath.Join(m.Streams+leftBehind, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = atomicfile.Write(filepath.Join(m.to.folder, name), raw, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leftover says whether an earlier move of this log left a stream at the new place. It
// returns ErrElsewhere for any other stream.
func (m *mover) leftover(ctx context.Context, s schemas.Stream) (is bool, err error) {
	has, err := bus.Labels(ctx, m.to.conn, s)
	switch {
	case errors.Is(err, bus.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	case has[labelLog] != m.place.Log || has[labelMoving] == "":
		return false, fmt.Errorf("%w: there is a stream %s at %s, which no move of this log left there. Give this daemon an account of its own (writ help log)", ErrElsewhere, s, m.to.Name())
	}
	return true, nil
}

// makeRoom deletes what an earlier move of this log left at the new place.
func (m *mover) makeRoom(ctx context.Context, s schemas.Stream) error {
	is, err := m.leftover(ctx, s)
	if is {
		err = bus.Drop(ctx, m.to.conn, s)
	}
	return err
}

// note says in the data directory that the log is on its way: no daemon starts from then on.
func (m *mover) note(context.Context) error {
	err := m.place.save(m.Dir)
	m.noted = m.noted || err == nil
	return err
}

// fence records the move in the log, and has a NATS take nothing more.
func (m *mover) fence(ctx context.Context) error {
	said := false
	for record, err := range m.from.conn.Tail(ctx, schemas.MovedLog(), 0) {
		if err != nil {
			return err
		}
		said = said || record.ID() == "moved-"+m.place.Moving.ID
	}
	if !said {
		_, err := bus.Record(ctx, m.from.conn.Writer(m.Writer), schemas.Event{
			ID: "moved-" + m.place.Moving.ID, Aggregate: schemas.MovedLog(), Actor: schemas.Writ("move"),
			Data: schemas.LogMoved{Epoch: m.place.Epoch, From: m.place.Name(), To: m.To.Name(), Move: m.place.Moving.ID},
		})
		if err != nil {
			return err
		}
	}
	if m.from.URL == "" {
		return nil // this process has the folder
	}
	r := m.retention(m.from)
	r.Fenced, r.Labels = true, m.place.labels(m.daemon, newID(), m.place.Moving.ID)
	return m.from.conn.EnsureStreams(ctx, r)
}

func (m *mover) retention(e *end) bus.Retention {
	r := bus.Retention{Replicas: e.Replicas}
	if e.URL == "" {
		r.Silence = bus.ReaderSilence
	}
	return r
}
