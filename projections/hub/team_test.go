package hub_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/bus/embedded/hubtest"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/projections/hub"
	"github.com/writbus/writ/projections/hubcopies"
	"github.com/writbus/writ/schemas"
)

func TestMain(m *testing.M) {
	hubtest.Main()
	os.Exit(m.Run())
}

// auditor has a key, and no tree.
type auditor struct {
	key    note.Signer
	public string
}

func newAuditor(t testing.TB) auditor {
	t.Helper()
	text, err := evidence.NewKey("writ-" + fmt.Sprintf("%016x", time.Now().UnixNano()))
	if err != nil {
		t.Fatal(err)
	}
	key, public, err := evidence.ReadKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return auditor{key, public}
}

// machine is a log with a server of its own, a leaf of a hub.
type machine struct {
	t       testing.TB
	dir     string
	hub     string
	member  string
	auditor auditor

	server *embedded.Server
	log    *bus.Conn
	writer *bus.Writer
	team   *hub.Member
	stop   func()
	told   []string // ids of events that it was told are stored
	trees  map[schemas.Stream]*tree
	every  time.Duration // between two looks for checkpoints, 0 for a tenth of a second
	ahead  time.Duration // of its clock
}

func newMachine(t testing.TB, h *hubtest.Hub, member, urls string) *machine {
	t.Helper()
	m := &machine{t: t, dir: t.TempDir(), hub: urls, member: member, auditor: newAuditor(t)}
	m.join(h)
	return m
}

// join has a new machine be a leaf, until the test ends.
func (m *machine) join(h *hubtest.Hub) {
	m.t.Helper()
	m.start(nil)
	_, err := m.ask(schemas.TeamRequest{Act: schemas.TeamJoin, URL: m.hub, Credential: hubtest.Credential(m.member), CA: h.CA, List: hubcopies.ListDigest()})
	m.must(err)
	m.end()
	m.start(h)
	m.t.Cleanup(m.end)
}

func (m *machine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// start runs the machine: alone, or as a leaf.
func (m *machine) start(h *hubtest.Hub) {
	m.t.Helper()
	creds, err := embedded.LoadOrCreateCredentials(filepath.Join(m.dir, "credentials"))
	m.must(err)
	o := embedded.Options{Dir: filepath.Join(m.dir, "streams"), Durability: embedded.Interval, Users: creds.Users()}
	if h != nil {
		o.Hub, err = hub.Hub(m.dir, filepath.Join(m.dir, "credentials"))
		m.must(err)
	}
	m.server, err = embedded.Start(context.Background(), o)
	m.must(err)
	own := creds[embedded.RoleDaemon]
	dial := func() (net.Conn, error) { return m.server.Dial() }
	m.log, err = bus.Connect(context.Background(), bus.Options{Dial: dial, User: own.User, Password: own.Password, Timeout: 3 * time.Minute})
	m.must(err)
	m.must(m.log.EnsureStreams(context.Background(), bus.Retention{}))
	m.trees = map[schemas.Stream]*tree{}
	m.writer = m.log.Writer(bus.WriterOptions{Source: "/writ/test", Now: time.Now, Redact: func(p schemas.Payload) schemas.Payload { return p }})
	options := hub.Options{
		Folder: m.dir, Credentials: filepath.Join(m.dir, "credentials"), Log: m.log, Key: m.auditor.key, Public: m.auditor.public, Seed: []byte(m.auditor.public),
		Grown: m.grown,
		Clean: func(text string) string { return text }, Now: func() time.Time { return time.Now().Add(m.ahead) }, Every: cmp.Or(m.every, 100*time.Millisecond), Restart: func() {},
	}
	options.Hub, options.Reached = m.server.Hub()
	var stop func()
	m.team, stop, err = hub.Begin(context.Background(), options)
	m.must(err)
	m.stop = func() {
		stop()
		m.log.Close()
		m.must(m.server.Shutdown(context.Background()))
	}
}

// leaves are hashes of records, which a tree is read from.
type leaves []tlog.Hash

func (l leaves) ReadHashes(at []int64) (all []tlog.Hash, err error) {
	for _, i := range at {
		all = append(all, l[i])
	}
	return all, nil
}

// tree is the log's own tree over a stream, as far as it was read.
type tree struct {
	evidence.Frontier
	stored leaves
}

func (t *tree) add(records []schemas.Record) error {
	for _, r := range records {
		leaf := new(evidence.Hasher).Leaf(r.Message)
		more, err := tlog.StoredHashesForRecordHash(t.Size(), leaf, t.stored)
		if err != nil {
			return err
		}
		t.stored = append(t.stored, more...)
		t.Add(leaf)
	}
	return nil
}

// grown signs the log's own tree as it stands.
func (m *machine) grown(s schemas.Stream, than int64) (string, int64, []evidence.Hash, error) {
	t := cmp.Or(m.trees[s], &tree{})
	m.trees[s] = t
	err := m.log.Follow(context.Background(), s, uint64(t.Size()), bus.FollowOptions{UntilEnd: true}, t.add)
	if err != nil || t.Size() <= than {
		return "", 0, nil, err
	}
	var proof []evidence.Hash
	if than > 0 {
		if proof, err = tlog.ProveTree(t.Size(), than, t.stored); err != nil {
			return "", 0, nil, err
		}
	}
	signed, err := evidence.Sign(evidence.Checkpoint{Log: m.auditor.key.Name(), Stream: s, Size: t.Size(), Root: t.Root(), First: 1, Time: time.Now().UTC().Truncate(time.Second)}, m.auditor.key)
	return string(signed), t.Size(), proof, err
}

func (m *machine) end() {
	if m.stop != nil {
		m.stop()
	}
	m.stop = nil
}

func (m *machine) ask(r schemas.TeamRequest) (reply schemas.TeamReply, err error) {
	m.t.Helper()
	body, err := json.Marshal(r)
	m.must(err)
	answer, err := m.team.Endpoints()[0].Handle(m.t.Context(), bus.Request{Subject: schemas.SvcTeam, Body: body})
	if err == nil {
		err = json.Unmarshal(answer, &reply)
	}
	return reply, err
}

// happen appends events of some sessions, and keeps what the machine was told is stored.
func (m *machine) happen(n, sessions int) {
	m.t.Helper()
	for i := range n {
		m.happenIn(i % sessions)
	}
}

// happenIn appends an event of a session.
func (m *machine) happenIn(session int) {
	m.t.Helper()
	e := schemas.Event{
		ID: bus.NewID(), Aggregate: schemas.Session(fmt.Sprintf("%s-s%d", m.member, session)), Actor: schemas.Writ("test"),
		Data: schemas.ToolFinished{Tool: "Write", ToolUseID: fmt.Sprintf("t%d", len(m.told)), Files: []schemas.FileState{{Path: "a.go", SHA256: strings.Repeat("ab", 32)}}},
	}
	_, err := bus.Record(context.Background(), m.writer, e)
	m.must(err)
	m.told = append(m.told, e.ID)
}

// brought are the ids of the events at the hub, of the newest epoch of a member, after
// the heads of all its batches were held against their copies.
func brought(t testing.TB, h *hubtest.Hub, member string) (ids []string, epochs int) {
	t.Helper()
	for _, one := range h.Messages(rights.Copies) {
		if !strings.HasPrefix(one.Subject, "writ.at."+member+".") {
			continue
		}
		if one.Subject == rights.BeginSubject(member) {
			ids, epochs = nil, epochs+1
			continue
		}
		for _, line := range bytes.Split(one.Data, []byte("\n"))[1:] {
			var c hubcopies.Copy
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatalf("%s: %v in %.100s", one.Subject, err, line)
			}
			ids = append(ids, c.Event)
		}
	}
	return ids, epochs
}

// compare is the ledger outside: it holds what a machine was told against what the hub
// has.
func compare(t testing.TB, h *hubtest.Hub, m *machine) {
	t.Helper()
	var ids []string
	h.Eventually("the hub has all of "+m.member, func() error {
		reply, err := m.ask(schemas.TeamRequest{Act: schemas.TeamStatus})
		if err != nil {
			return err
		}
		for _, s := range reply.Streams {
			if s.Stream == schemas.KindSession.Stream() && s.Through < s.Last {
				return fmt.Errorf("through %d of %d: %s", s.Through, s.Last, reply.Problem)
			}
		}
		if len(reply.Streams) == 0 || reply.Epoch == 0 {
			return errors.New("nothing yet")
		}
		return nil
	})
	ids, _ = brought(t, h, m.member)
	if len(ids) != len(m.told) {
		t.Errorf("%s was told of %d events, and the hub has %d", m.member, len(m.told), len(ids))
	}
	for i := range min(len(ids), len(m.told)) {
		if ids[i] != m.told[i] {
			t.Fatalf("%s: event %d is %s at the hub, and %s was told", m.member, i, ids[i], m.told[i])
		}
	}
}
