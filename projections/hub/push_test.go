package hub_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded/hubtest"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/projections/hubcopies"
	"github.com/writbus/writ/schemas"
)

// rounds is how often nodes are killed: WRIT_HUB_KILLS says how often in a long run.
func rounds() int {
	if n, err := strconv.Atoi(os.Getenv("WRIT_HUB_KILLS")); err == nil {
		return n
	}
	return 2
}

// TestMemberBringsEachCopyOnce holds what two machines were told against what a hub of
// three nodes has, while nodes are killed, a machine is cut off and another one is
// started again.
func TestMemberBringsEachCopyOnce(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t, 3, "alice", "bob")
	way := hubtest.NewProxy(t, h.Nodes[0].Leaf)
	alice, bob := newMachine(t, h, "alice", h.URLs()), newMachine(t, h, "bob", "tls://"+way.Address)
	for round := range rounds() {
		way.Cut(true)
		h.Kill(1 + round%2)
		var both sync.WaitGroup
		for _, m := range []*machine{alice, bob} {
			both.Go(func() { m.happen(150, 5) })
		}
		both.Wait()
		alice.end()
		alice.start(h)
		alice.happen(20, 3)
		h.Run(1 + round%2)
		way.Cut(false)
		bob.happen(20, 3)
		compare(t, h, bob)
		compare(t, h, alice)
	}
	for _, member := range []string{"alice", "bob"} {
		if _, epochs := brought(t, h, member); epochs != 1 {
			t.Errorf("%s began %d epochs", member, epochs)
		}
	}
	if ids, _ := brought(t, h, "alice"); len(ids) < 300 {
		t.Errorf("only %d events were brought", len(ids))
	}
}

// TestARestoredLogBeginsAnEpoch puts an earlier log back, and has an epoch of its own
// begin, whether or not the log says that it was restored.
func TestARestoredLogBeginsAnEpoch(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t, 1, "alice")
	alice := newMachine(t, h, "alice", h.URLs())
	alice.happen(30, 3)
	compare(t, h, alice)
	streams := filepath.Join(alice.dir, "streams")
	for round, said := range []bool{false, true} {
		alice.end()
		backup := t.TempDir()
		alice.must(os.CopyFS(backup, os.DirFS(streams)))
		told := len(alice.told)
		alice.start(h)
		alice.happen(20, 3)
		compare(t, h, alice)
		alice.end()
		alice.must(os.RemoveAll(streams))
		alice.must(os.CopyFS(streams, os.DirFS(backup)))
		alice.told = alice.told[:told]
		alice.start(h)
		if said {
			_, err := bus.Record(t.Context(), alice.writer, schemas.Event{
				ID: bus.NewID(), Aggregate: schemas.RestoredLog(), Actor: schemas.Writ("restore"), Data: schemas.LogRestored{Manifest: strings.Repeat("a", 64)},
			})
			alice.must(err)
			alice.end()
			alice.start(h)
		}
		alice.happen(40, 3)
		h.Eventually("an epoch begins", func() error {
			if _, epochs := brought(t, h, "alice"); epochs != round+2 {
				return fmt.Errorf("%d epochs", epochs)
			}
			return nil
		})
		compare(t, h, alice)
	}
}

// TestOneOfTwoGoesOn lets a copy of a machine run beside it: one of them goes on, the
// other stops and says so.
func TestOneOfTwoGoesOn(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t, 1, "alice")
	one := newMachine(t, h, "alice", h.URLs())
	one.happen(10, 2)
	compare(t, h, one)
	one.end()
	two := &machine{t: t, dir: t.TempDir(), hub: one.hub, member: "alice", auditor: one.auditor, told: append([]string(nil), one.told...)}
	two.must(os.CopyFS(two.dir, os.DirFS(one.dir)))
	secrets, err := filepath.Glob(filepath.Join(two.dir, "credentials", "*"))
	two.must(err)
	for _, file := range secrets {
		two.must(os.Chmod(file, 0o600))
	}
	two.start(h)
	t.Cleanup(two.end)
	one.start(h)
	one.happen(5, 2)
	two.happen(5, 2)
	goesOn := one
	h.Eventually("one of them stops", func() error {
		for i, m := range []*machine{one, two} {
			reply, err := m.ask(schemas.TeamRequest{Act: schemas.TeamStatus})
			if err != nil {
				return err
			}
			if strings.Contains(reply.Problem, "leave and join again") {
				goesOn = []*machine{two, one}[i]
				return nil
			}
		}
		return errors.New("both go on")
	})
	goesOn.happen(5, 2)
	compare(t, h, goesOn)
	if _, epochs := brought(t, h, "alice"); epochs != 2 {
		t.Errorf("%d epochs began", epochs)
	}
}

// TestAForgedEpochStopsNobody: a beginning that names the last epoch there is, signed with
// another key, keeps neither the member from going on nor the witness from looking.
func TestAForgedEpochStopsNobody(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t, 1, "alice")
	alice := newMachine(t, h, "alice", h.URLs())
	alice.happen(5, 1)
	compare(t, h, alice)
	text, err := evidence.NewKey("forged")
	alice.must(err)
	key, public, err := evidence.ReadKey(text)
	alice.must(err)
	line := fmt.Sprintf(`{"member":"alice","epoch":%d,"claim":"x","key":%q,"list":"","why":"x","time":"2026-01-01T00:00:00Z"}`+"\n", uint64(math.MaxUint64), public)
	signed, err := note.Sign(&note.Note{Text: line}, key)
	alice.must(err)
	as := h.As("alice", nats.CustomInboxPrefix(bus.InboxPrefix(rights.MemberUser("alice"))))
	_, err = as.Request(rights.BeginSubject("alice"), signed, time.Minute)
	alice.must(err)
	alice.end()
	alice.start(h)
	alice.happen(5, 1)
	h.Eventually("all is brought", func() error {
		reply, err := alice.ask(schemas.TeamRequest{Act: schemas.TeamStatus})
		for _, s := range reply.Streams {
			if s.Through < s.Last || s.Stream == schemas.StreamSessions && s.Last == 0 {
				return fmt.Errorf("%+v", reply)
			}
		}
		return errors.Join(err, map[bool]error{true: errors.New(reply.Problem)}[reply.Problem != ""])
	})
	if seen := watch(t, h, t.TempDir()); seen.Epoch != 2 || seen.Streams[sessions].Copies != 10 {
		t.Errorf("the witness saw %+v", seen)
	}
}

// TestNothingLeavesUnasked: nothing is brought of a list that nobody accepted, nor after
// leaving; joining again begins an epoch.
func TestNothingLeavesUnasked(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t, 1, "alice")
	m := &machine{t: t, dir: t.TempDir(), hub: h.URLs(), member: "alice", auditor: newAuditor(t)}
	m.start(nil)
	t.Cleanup(m.end)
	join := schemas.TeamRequest{Act: schemas.TeamJoin, URL: h.URLs(), Credential: hubtest.Credential("alice"), CA: h.CA, List: hubcopies.ListDigest()}
	for what, change := range map[string]func(*schemas.TeamRequest){
		"another list": func(r *schemas.TeamRequest) { r.List = strings.Repeat("0", 64) },
		"no list":      func(r *schemas.TeamRequest) { r.List = "" },
		"a name":       func(r *schemas.TeamRequest) { r.Member = "alice.*" },
		"a credential": func(r *schemas.TeamRequest) { r.Credential = "secret" },
		"authorities":  func(r *schemas.TeamRequest) { r.CA = filepath.Join(m.dir, "none.pem") },
		"a witness":    func(r *schemas.TeamRequest) { r.Witness = "w+1+2" },
		"no address":   func(r *schemas.TeamRequest) { r.URL = "" },
		"not TLS":      func(r *schemas.TeamRequest) { r.URL = "nats://hub.example.org:7422" },
	} {
		wrong := join
		change(&wrong)
		if _, err := m.ask(wrong); err == nil {
			t.Errorf("%s: it was joined", what)
		}
	}
	if _, err := m.ask(schemas.TeamRequest{Act: schemas.TeamLeave}); err == nil {
		t.Error("what was never joined was left")
	}
	m.happen(5, 1)
	_, err := m.ask(join)
	m.must(err)
	m.end()
	m.start(h)
	compare(t, h, m)
	_, err = m.ask(schemas.TeamRequest{Act: schemas.TeamLeave})
	m.must(err)
	m.end()
	if all, _ := filepath.Glob(filepath.Join(m.dir, "credentials", "team.*")); len(all) != 0 {
		t.Errorf("%v is kept", all)
	}
	m.start(nil)
	m.happen(5, 1)
	before := len(h.Messages(rights.Copies))
	_, err = m.ask(join)
	m.must(err)
	if after := len(h.Messages(rights.Copies)); after != before {
		t.Errorf("%d messages came after leaving", after-before)
	}
	m.end()
	m.start(h)
	compare(t, h, m)
	if _, epochs := brought(t, h, "alice"); epochs != 2 {
		t.Errorf("%d epochs", epochs)
	}
}
