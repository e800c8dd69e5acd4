package test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded/hubtest"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/integration"
)

// TestDirect has a log go from alone to leaf, direct, and alone again, with a second
// daemon direct beside it, while hooks ask, servers are killed, leaders moved and moves
// killed: what was told is in its own log once, in no other, and at the hub; the audit
// agrees at each place, and no view is built anew. WRIT_DIRECT_ROUNDS says how often it
// is disturbed, WRIT_DIRECT_SEED when.
func TestDirect(t *testing.T) {
	rounds, seed := fromEnv(t, "WRIT_DIRECT_ROUNDS", 0), fromEnv(t, "WRIT_DIRECT_SEED", int(time.Now().UnixNano()&0xffffff))
	if rounds == 0 {
		t.Skip("WRIT_DIRECT_ROUNDS says how often it is disturbed; test/ci/sim.sh does")
	}
	t.Logf("WRIT_DIRECT_SEED=%d", seed)
	random := rand.New(rand.NewPCG(uint64(seed), 1)) //nolint:gosec // chooses moments
	realServers(t)
	h := hubtest.StartFor(t, rights.Manifest{Members: []string{"alice"}, Direct: []string{"alice", "bob"}, Replicas: 3})
	alice, bob := newMember(t, "alice"), newMember(t, "bob")
	t.Cleanup(func() {
		if log, _ := os.ReadFile(filepath.Join(alice.data(), "log", "writd.log")); t.Failed() {
			t.Logf("the daemon of alice said at the end: %s", log[max(0, len(log)-4000):])
		}
	})
	alice.works(10)
	alice.join(h, h.URLs())
	alice.works(11)
	alice.settle(h)
	alice.checkedAround(func() { alice.moveKilled(h, random, h.Clients()) })
	bob.moveKilled(h, random, h.Clients())
	for _, m := range []*member{alice, bob} {
		m.must("up", "--detach")
		if out := m.must("status"); !strings.Contains(out, "as its administrator set it") {
			t.Error(out)
		}
	}
	bob.reachesOnly(alice)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var working sync.WaitGroup
	for caller := range 3 {
		working.Go(func() { alice.work(ctx, caller) })
		working.Go(func() { bob.work(ctx, caller) })
	}
	var longest time.Duration
	for round := range rounds {
		before := alice.asked.Load() + bob.asked.Load()
		began := time.Now()
		switch i := random.IntN(3); round % 4 {
		case 0, 2:
			h.Kill(i)
			<-time.After(time.Duration(100+random.IntN(900)) * time.Millisecond)
			h.Run(i)
		case 1:
			h.StepDownAs(rights.DirectUser("alice", rights.Daemon), string(schemas.StreamSessions))
		case 3:
			alice.kill()
			h.Eventually("a daemon starts again", func() error {
				if out, ok := alice.run("", "up", "--detach"); !ok {
					return errors.New(out)
				}
				return nil
			})
		}
		h.Eventually("hooks are answered again", func() error {
			if alice.asked.Load()+bob.asked.Load() < before+20 {
				return fmt.Errorf("%d", before)
			}
			return nil
		})
		longest = max(longest, time.Since(began))
	}
	stop()
	working.Wait()
	for _, m := range []*member{alice, bob} {
		h.Eventually("each stream has a leader again", m.readable)
		m.compare(0)
		m.onlyItsOwn()
	}
	t.Logf("%d disturbances; calls answered %d and %d, not answered %d and %d, of them at once %d and %d; no connection %d and %d times; the longest until twenty more were %s",
		rounds, alice.asked.Load(), bob.asked.Load(), alice.wrong.Load(), bob.wrong.Load(), alice.soon.Load(), bob.soon.Load(), alice.refused.Load(), bob.refused.Load(), longest.Round(time.Millisecond))
	alice.checkedAround(func() { alice.moveKilled(h, random, "here") })
	alice.must("up", "--detach")
	alice.works(12)
	alice.compare(0)
	alice.settle(h)
	alice.compareHub(h)
}

// works has hooks ask for a while, as a caller of its own each time.
func (m *member) works(caller int) {
	ctx, stop := context.WithTimeout(m.t.Context(), time.Second)
	defer stop()
	m.work(ctx, caller)
}

// verified is what the audit says of a log, and how often a view was built anew.
func (m *member) verified() (streams map[string]any, rebuilt int) {
	m.t.Helper()
	var said struct {
		Streams []map[string]any `json:"streams"`
	}
	streams = map[string]any{}
	for {
		out, ok := m.run("", "audit", "verify", "--json")
		if !ok && strings.Contains(out, "Try again in a moment") {
			continue
		}
		if err := json.Unmarshal([]byte(out), &said); err != nil || !ok {
			m.t.Fatalf("%v: %s", err, out)
		}
		break
	}
	for _, s := range said.Streams {
		streams[fmt.Sprint(s["stream"])] = s["records"]
	}
	log, err := os.ReadFile(filepath.Join(m.data(), "log", "writd.log"))
	if err != nil {
		m.t.Fatal(err)
	}
	return streams, strings.Count(string(log), "view rebuild")
}

// checkedAround holds what the audit says before a move against what it says after it.
func (m *member) checkedAround(move func()) {
	m.t.Helper()
	was, built := m.verified()
	m.must("down")
	move()
	m.must("up", "--detach")
	is, again := m.verified()
	if built != again {
		m.t.Errorf("%d views were built anew", again-built)
	}
	for stream, n := range was {
		if fmt.Sprint(n) == "<nil>" || fmt.Sprint(is[stream]) < fmt.Sprint(n) && len(fmt.Sprint(is[stream])) <= len(fmt.Sprint(n)) {
			m.t.Errorf("%s: %v records were verified, and %v now", stream, n, is[stream])
		}
	}
}

// moveKilled brings the log to a place, and kills what does so, until it is there.
func (m *member) moveKilled(h *hubtest.Hub, random *rand.Rand, to string) {
	m.t.Helper()
	m.must("down")
	args := []string{"log", "move", to}
	if to != "here" {
		args = append(args, "--replicas", "3", "--ca", h.CA, "--creds", h.Credentials(m.name))
	}
	killed := 0
	for try := 0; ; try++ {
		c := exec.Command(filepath.Join(bin, "writ"), args...)
		c.Env, c.Dir, c.SysProcAttr = m.env(), m.home, &syscall.SysProcAttr{Setpgid: true}
		var out strings.Builder
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			m.t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- c.Wait() }()
		patience := time.Minute
		if try < 6 {
			patience = time.Duration(50+random.IntN(200*(try+1))) * time.Millisecond
		}
		select {
		case err := <-done:
			if err == nil || strings.Contains(out.String(), "lies at") {
				m.t.Logf("%s: to %s, killed %d times: %s", m.name, to, killed, strings.ReplaceAll(out.String(), "\n", "; "))
				return
			}
			if try > 20 {
				m.t.Fatal(out.String())
			}
		case <-time.After(patience):
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
			<-done
			killed++
		}
	}
}

// reachesOnly asks another daemon, and what its account has, with all roles of this one.
func (m *member) reachesOnly(other *member) {
	m.t.Helper()
	for _, role := range rights.Roles() {
		if role == rights.Agent {
			continue // comes in by the daemon's own door
		}
		o, err := m.options(string(role))
		theirs, bad := other.options(string(role))
		if err != nil || bad != nil {
			m.t.Fatal(err, bad)
		}
		o.Daemon = theirs.Daemon
		c, err := bus.Connect(m.t.Context(), o)
		if err != nil {
			m.t.Fatal(err)
		}
		if _, err := c.Request(m.t.Context(), bus.Request{Subject: schemas.SvcStatus, Body: []byte("{}")}); !errors.Is(err, bus.ErrUnavailable) && !errors.Is(err, bus.ErrDenied) {
			m.t.Errorf("%s of %s is answered by the daemon of %s: %v", role, m.name, other.name, err)
		}
		if role == rights.Hook {
			if state, err := c.State(m.t.Context(), schemas.StreamSessions); err == nil {
				m.t.Errorf("%s sees a stream: %+v", role, state)
			}
		} else if state, err := c.State(m.t.Context(), schemas.StreamSessions); err != nil || state.Last > 3 {
			m.t.Errorf("%s of %s sees the log of another: %+v, %v", role, m.name, state, err) // bob asked nothing yet
		}
		c.Close()
	}
}

// readable says which stream cannot be read: a server that was killed last may have led it.
func (m *member) readable() error {
	conn, err := m.killedDaemon.dial("dashboard")
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, s := range schemas.Streams() {
		_, err = conn.State(m.t.Context(), s)
		if err != nil {
			return err
		}
	}
	return nil
}

// onlyItsOwn says whether all verdicts in a log are of its own machine.
func (m *member) onlyItsOwn() {
	m.t.Helper()
	if out := m.must("log", "--type", "tool.decided", "--json"); strings.Count(out, `"tool_use_id":"`+m.name+"-") != strings.Count(out, `"tool_use_id":"`) {
		m.t.Errorf("the log of %s has others' verdicts", m.name)
	}
}

// TestHeldCommandsLookUpWhereTheLogWasMoved: what an agent's held commands may ask is
// answered as it is where the log lies here, and they read nothing of what the other NATS
// is reached with.
func TestHeldCommandsLookUpWhereTheLogWasMoved(t *testing.T) {
	t.Parallel()
	integration.Only(t, "the tests of projections/relocate, and the script confine")
	realServers(t)
	h := hubtest.StartFor(t, rights.Manifest{Direct: []string{"alice"}, Replicas: 1})
	alice := newMember(t, "alice")
	held := func(line string) (string, bool) {
		return alice.run("", "confine", "--profile", "read-only", "--project", alice.project, "-c", line)
	}
	writ := filepath.Join(bin, "writ")
	if out, ok := held(writ + " status"); !ok {
		t.Skipf("no command is held here: %s", out)
	}
	alice.must("down")
	alice.must("log", "move", h.Clients(), "--ca", h.CA, "--creds", h.Credentials("alice"))
	alice.must("up", "--detach")
	for _, ask := range []string{"status", "query 'retry a payment'", "rule show HTTP-RETRY-IDEMPOTENT-001", "find retry", "session list", "recall anything"} {
		if out, ok := held(writ + " " + ask); !ok {
			t.Errorf("held, writ %s: %s", ask, out)
		}
	}
	for _, never := range []string{
		writ + " down", writ + " mode set work --session s1", writ + " memory forget x",
		"cat " + filepath.Join(alice.data(), "credentials", "nats", "hook.json"), "cat " + filepath.Join(alice.data(), "credentials", "hook.json"),
	} {
		if out, ok := held(never); ok {
			t.Errorf("held, %s: %s", never, out)
		}
	}
	alice.works(0)
	alice.compare(0)
}

// TestALogWithAnArchiveAndALossMoves has a log of which old events left for the archive,
// and a record was given up, go from alone to leaf, direct, and alone again: each question
// is answered as before, and the audit names the loss at each place.
func TestALogWithAnArchiveAndALossMoves(t *testing.T) {
	t.Parallel()
	integration.Only(t, "the tests of projections/relocate")
	realServers(t)
	f := newFlipped(t)
	alice := &member{name: "alice", killedDaemon: killedDaemon{flipWorld: f.copied(t), told: map[string]time.Time{}, project: f.project}}
	t.Cleanup(alice.kill)
	h := hubtest.StartFor(t, rights.Manifest{Members: []string{"alice"}, Direct: []string{"alice"}, Replicas: 1})
	alice.wreck("WRIT_SESSIONS", "stripes stripes stripes")
	alice.must("repair")
	alice.must("up", "--detach")
	for _, line := range f.lines {
		f.facts[line] = alice.fact(line)
	}
	same := func(where string) {
		t.Helper()
		for _, line := range f.lines {
			if missing := lost(f.facts[line], alice.fact(line)); missing != "" {
				t.Errorf("%s, writ %s: %s", where, line, missing)
			}
		}
		if out := alice.must("audit", "verify"); strings.Count(out, "1 record lost") != 1 {
			t.Errorf("%s the audit does not name what is lost: %s", where, out)
		}
	}
	same("alone")
	alice.join(h, h.URLs())
	alice.settle(h)
	same("as a leaf")
	for _, to := range [][]string{{h.Clients(), "--ca", h.CA, "--creds", h.Credentials("alice")}, {"here"}} {
		alice.must("down")
		alice.must(append([]string{"log", "move"}, to...)...)
		alice.must("up", "--detach")
		same(to[0])
	}
	alice.settle(h)
}
