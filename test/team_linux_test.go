package test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded/hubtest"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/projections/hub"
	"github.com/writbus/writ/projections/hubcopies"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/filelock"
)

// member is a daemon, and the hooks that it answers.
type member struct {
	killedDaemon
	name  string
	asked atomic.Int64
	wrong atomic.Int64 // answers that were none, of those the ones that came within soon:
	soon  atomic.Int64
	// refused are attempts to connect that came to nothing: no call was made.
	refused atomic.Int64
}

func newMember(t *testing.T, name string) *member {
	return startMember(&member{name: name, killedDaemon: killedDaemon{flipWorld: flipWorld{t: t, home: t.TempDir()}}})
}

func startMember(m *member) *member {
	t := m.t
	m.told = map[string]time.Time{}
	m.project = filepath.Join(m.home, "project")
	if err := errors.Join(os.MkdirAll(filepath.Join(m.project, ".writ"), 0o700), os.MkdirAll(m.data(), 0o700),
		os.WriteFile(filepath.Join(m.project, ".writ", "config.yaml"), []byte("mode: work\n"), 0o600),
		os.WriteFile(filepath.Join(m.data(), "config.yaml"), []byte("audit_every: 2s\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.kill)
	m.must("up", "--detach")
	return m
}

// join makes a daemon a leaf, once its rules were brought in.
func (m *member) join(h *hubtest.Hub, url string) {
	m.t.Helper()
	creds := filepath.Join(m.home, "hub.json")
	if err := os.WriteFile(creds, []byte(hubtest.Credential(m.name)), 0o600); err != nil {
		m.t.Fatal(err)
	}
	h.Eventually(m.name+" joins", func() error {
		if out, ok := m.run("", "team", "join", url, "--creds", creds, "--ca", h.CA, "--yes"); !ok {
			return errors.New(out)
		}
		return nil
	})
	h.Eventually(m.name+" is a leaf", func() error {
		if out, ok := m.run("", "team", "status"); !ok || !strings.Contains(out, ", connected") {
			return errors.New(out)
		}
		return nil
	})
}

// soon is sooner than a hook gives up: who was answered so tries again.
const soon = 100 * time.Millisecond

// work asks, one call after the other, until the context ends.
func (m *member) work(ctx context.Context, caller int) {
	var conn *bus.Conn
	defer func() {
		if conn != nil {
			conn.Close()
		}
	}()
	for i := 0; ctx.Err() == nil; i++ {
		if conn == nil {
			conn = m.dial(ctx)
			continue
		}
		id, began := fmt.Sprintf("%s-%d-%d", m.name, caller, i), time.Now()
		if !m.ask(ctx, conn, fmt.Sprintf("%s-s%d", m.name, (caller+i)%6), id) {
			if ctx.Err() == nil {
				m.wrong.Add(1)
				if time.Since(began) < soon {
					m.soon.Add(1)
				}
			}
			conn.Close()
			conn = nil
			continue
		}
		m.asked.Add(1)
		m.mu.Lock()
		m.told[id] = time.Now()
		m.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond): // the pace of a session
		}
	}
}

// dial connects as hooks do: not while no daemon has the folder, since somebody else's NATS
// says at once that nobody answers there.
func (m *member) dial(ctx context.Context) *bus.Conn {
	o, err := m.options("hook")
	if err != nil || !filelock.Held(filepath.Join(m.data(), "daemon.lock")) {
		m.refused.Add(1)
		<-time.After(10 * time.Millisecond) // the pace of somebody who tries again
		return nil
	}
	conn, err := bus.Connect(ctx, o)
	if err != nil {
		m.refused.Add(1)
		return nil
	}
	return conn
}

// arrivals are how long copies took from their event to a subscriber at the hub.
func arrivals(h *hubtest.Hub) (took func() []time.Duration) {
	var mu sync.Mutex
	var all []time.Duration
	_, err := h.As(rights.AdminUser).Subscribe("writ.at.>", func(m *nats.Msg) {
		for _, line := range bytes.Split(m.Data, []byte("\n"))[1:] {
			var c hubcopies.Copy
			if json.Unmarshal(line, &c) == nil && c.Type != "" {
				mu.Lock()
				all = append(all, time.Since(c.Time))
				mu.Unlock()
			}
		}
	})
	return func() []time.Duration {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			return nil
		}
		slices.Sort(all)
		return all
	}
}

// realServers has hubs be nats-servers as they are installed.
func realServers(t *testing.T) {
	t.Helper()
	server := filepath.Join(t.TempDir(), "nats-server")
	if out, err := exec.Command("go", "build", "-o", server, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	hubtest.Node = func(config string) *exec.Cmd {
		c := exec.Command(server, "-c", config, "-l", config+".log")
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		return c
	}
}

// TestTeam has two daemons bring what leaves to three real nats-servers under TLS, with
// accounts, while hooks ask them, servers and a daemon are killed, leaders are moved and
// a member is cut off, and a witness looks on. A ledger outside holds what was told
// against what the hub has. WRIT_TEAM_ROUNDS says how often, WRIT_TEAM_SEED what;
// WRIT_TEAM_TURNS has hooks of a leaf and of a daemon alone be measured in turns.
func TestTeam(t *testing.T) {
	t.Parallel()
	rounds, seed := fromEnv(t, "WRIT_TEAM_ROUNDS", 0), fromEnv(t, "WRIT_TEAM_SEED", int(time.Now().UnixNano()&0xffffff))
	if rounds == 0 {
		t.Skip("WRIT_TEAM_ROUNDS says how often they are disturbed; .ci/run has ten rounds")
	}
	t.Logf("WRIT_TEAM_SEED=%d", seed)
	realServers(t)
	h := hubtest.Start(t, 3, "alice", "bob")
	way := hubtest.NewProxy(t, h.Nodes[0].Leaf)
	alice, bob := newMember(t, "alice"), newMember(t, "bob")
	alice.join(h, h.URLs())
	bob.join(h, "tls://"+way.Address)
	folder := t.TempDir()
	watching := hub.WitnessOptions{
		Access: hub.Access{URL: h.Clients(), Credential: hubtest.Credential(rights.WitnessUser), CA: h.CA}, Folder: folder, Now: time.Now, Out: t.Output(),
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var running sync.WaitGroup
	running.Go(func() {
		if _, err := hub.Watch(ctx, watching); err != nil {
			t.Error(err)
		}
	})
	took := arrivals(h)
	if turns := fromEnv(t, "WRIT_TEAM_TURNS", 0); turns > 0 {
		inTurns(t, h, turns, alice, newMember(t, "carol"))
	}
	for caller := range 3 {
		running.Go(func() { alice.work(ctx, caller) })
		running.Go(func() { bob.work(ctx, caller) })
	}
	h.Eventually("copies come", func() error {
		if len(took()) < 200 {
			return fmt.Errorf("%d", len(took()))
		}
		return nil
	})
	quiet := slices.Clone(took())
	random := rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // chooses moments
	for round := range rounds {
		disturb(h, way, alice, random, round)
	}
	stop()
	running.Wait()
	watching.Once = true
	for _, m := range []*member{alice, bob} {
		m.settle(h)
		m.compareHub(h)
		m.compare(rounds)
		h.Eventually("the doctor of "+m.name+" finds nothing", func() error {
			if out, ok := m.run("", "team", "doctor"); !ok || strings.Contains(out, "NOT") {
				return errors.New(out)
			}
			return nil
		})
	}
	h.Eventually("the witness has its last turn", func() error { // not during an election
		all, err := hub.Watch(t.Context(), watching)
		if err == nil && (len(all) != 2 || hub.Found(all) != nil) {
			t.Errorf("the witness: %+v", all)
		}
		return err
	})
	t.Logf("%d disturbances; calls answered %d and %d, not answered %d and %d; at the hub after %s (p50), %s (p95) of %d copies before the first; memory of the nodes %s, %s, %s",
		rounds, alice.asked.Load(), bob.asked.Load(), alice.wrong.Load(), bob.wrong.Load(), quiet[len(quiet)/2], quiet[len(quiet)*95/100], len(quiet), h.Memory(0), h.Memory(1), h.Memory(2))
	if bob.wrong.Load() > 0 {
		t.Errorf("%d calls were not answered by a daemon that nobody killed", bob.wrong.Load())
	}
}

// inTurns asks a leaf and a daemon alone, one after the other, and says how long each took.
func inTurns(t *testing.T, h *hubtest.Hub, turns int, leaf, alone *member) {
	took := [2][]time.Duration{}
	conns := [2]*bus.Conn{leaf.connect("hook"), alone.connect("hook")}
	h.Eventually("their rules are there", func() error {
		for _, m := range []*member{leaf, alone} {
			if out, ok := m.run("", "query", "error"); !ok {
				return errors.New(out)
			}
		}
		return nil
	})
	for i := range turns {
		for at, m := range []*member{leaf, alone} {
			id, began := fmt.Sprintf("%s-turn-%d", m.name, i), time.Now()
			if !m.ask(t.Context(), conns[at], m.name+"-turns", id) {
				t.Errorf("%s was not answered", id)
				continue
			}
			took[at] = append(took[at], time.Since(began))
			m.mu.Lock()
			m.told[id] = time.Now()
			m.mu.Unlock()
		}
	}
	for at, c := range conns {
		c.Close()
		slices.Sort(took[at])
	}
	t.Logf("a hook of %d, as a leaf and alone in turns: p50 %s and %s, p95 %s and %s", turns,
		took[0][len(took[0])/2], took[1][len(took[1])/2], took[0][len(took[0])*95/100], took[1][len(took[1])*95/100])
}

// disturb kills, moves or cuts, and lets it be again.
func disturb(h *hubtest.Hub, way *hubtest.Proxy, alice *member, random *rand.Rand, round int) {
	pause := time.Duration(100+random.IntN(900)) * time.Millisecond
	wait := func() { <-time.After(pause) } // lets the disturbance last
	switch round % 5 {
	case 0, 3:
		i := random.IntN(3)
		h.Kill(i)
		wait()
		h.Run(i)
	case 1:
		way.Cut(true)
		wait()
		way.Cut(false)
	case 2:
		h.StepDownAs(rights.AdminUser, rights.Copies)
	case 4:
		alice.kill()
		alice.must("up", "--detach")
	}
	wait()
}

// settle waits until all that is in a member's log was brought and cosigned.
func (m *member) settle(h *hubtest.Hub) {
	m.t.Helper()
	defer func() {
		if m.brought() != nil {
			log, _ := os.ReadFile(filepath.Join(m.data(), "log", "writd.log"))
			m.t.Logf("the daemon's log ends so:\n%s", log[max(0, len(log)-8000):])
		}
	}()
	h.Eventually("the hub has all of "+m.name, m.brought)
}

// brought says what of a member's log the hub lacks.
func (m *member) brought() error {
	out := m.must("team", "status", "--json")
	var r schemas.TeamReply
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		return err
	}
	for _, s := range r.Streams {
		if s.Through < s.Last || s.Stream == schemas.StreamSessions && s.Last == 0 {
			return errors.New(out)
		}
	}
	return nil
}

// compareHub holds what was told against the copies at the hub.
func (m *member) compareHub(h *hubtest.Hub) {
	m.t.Helper()
	times, last, epochs := map[string]int{}, uint64(0), 0
	for _, one := range h.Messages(rights.Copies) {
		if one.Subject == rights.BeginSubject(m.name) {
			epochs++
		}
		if one.Subject != rights.CopiesSubject(m.name, 1, string(schemas.StreamSessions)) {
			continue
		}
		for _, line := range bytes.Split(one.Data, []byte("\n"))[1:] {
			var c hubcopies.Copy
			if err := json.Unmarshal(line, &c); err != nil {
				m.t.Fatal(err)
			}
			if c.Seq < last {
				m.t.Errorf("record %d came behind %d", c.Seq, last)
			}
			last = c.Seq
			if data, is := c.Data.(map[string]any); is && c.Type == (schemas.ToolDecided{}).EventType() {
				times[fmt.Sprint(data["tool_use_id"])]++
			}
		}
	}
	if epochs != 1 {
		m.t.Errorf("%s began %d epochs", m.name, epochs)
	}
	for id := range m.told {
		if times[id] != 1 {
			m.t.Errorf("%s was told and is %d times at the hub", id, times[id])
		}
	}
	for id, n := range times {
		if n != 1 || !strings.HasPrefix(id, m.name+"-") {
			m.t.Errorf("%s is %d times at the hub, of %s", id, n, m.name)
		}
	}
}
