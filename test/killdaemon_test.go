package test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/filelock"
)

// TestKilledDaemon kills a daemon at random moments under hooks of many sessions,
// start included, and has another one go on: each decision that a hook was told is
// in the log once, none is there twice, and the audit agrees. WRIT_KILL_ROUNDS sets
// how often in each durability, WRIT_KILL_SEED when.
func TestKilledDaemon(t *testing.T) {
	t.Parallel()
	rounds, seed := fromEnv(t, "WRIT_KILL_ROUNDS", 2), fromEnv(t, "WRIT_KILL_SEED", int(time.Now().UnixNano()&0xffffff))
	for _, durability := range []string{"power-loss", "interval"} {
		t.Run(durability, func(t *testing.T) {
			t.Parallel()
			t.Logf("WRIT_KILL_SEED=%d", seed)
			k := newKilledDaemon(t, t.TempDir(), durability)
			defer k.kill()
			random := rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // chooses moments
			for round := range rounds {
				k.round(round, 20+random.IntN(400))
			}
			k.must("up", "--detach")
			k.compare(rounds)
		})
	}
}

// killedDaemon is a daemon that dies, and what its callers were told.
type killedDaemon struct {
	flipWorld
	project string

	end   func()        // ends it
	loses time.Duration // what was told so long before the end may be lost

	mu    sync.Mutex
	told  map[string]time.Time // ids of calls, and when
	ended []time.Time
}

func newKilledDaemon(t *testing.T, home, durability string) *killedDaemon {
	t.Helper()
	k := &killedDaemon{flipWorld: flipWorld{t: t, home: home, durability: durability}, told: map[string]time.Time{}}
	k.project, k.end = filepath.Join(k.home, "project"), k.kill
	if err := errors.Join(os.MkdirAll(filepath.Join(k.project, ".writ"), 0o700), os.MkdirAll(k.data(), 0o700),
		os.WriteFile(filepath.Join(k.project, ".writ", "config.yaml"), []byte("mode: work\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *killedDaemon) connect(role string) *bus.Conn {
	k.t.Helper()
	o, err := k.options(role)
	if err != nil {
		k.t.Fatal(err)
	}
	conn, err := bus.Connect(k.t.Context(), o)
	if err != nil {
		k.t.Fatal(err)
	}
	return conn
}

// options are how a role connects to the daemon that is announced, wherever its log is.
func (k *killedDaemon) options(role string) (o bus.Options, err error) {
	var at struct {
		URL, Daemon string
		TLS         bus.TLS
	}
	raw, err := os.ReadFile(filepath.Join(k.data(), "run", "endpoint.json"))
	if err == nil {
		err = json.Unmarshal(raw, &at)
	}
	if err != nil {
		return o, err
	}
	folder := filepath.Join(k.data(), "credentials")
	if at.Daemon != "" {
		folder = filepath.Join(folder, "nats")
	}
	credential, err := bus.LoadCredential(folder, role)
	if err != nil {
		return o, err
	}
	trust, err := at.TLS.Config()
	return bus.Options{URL: at.URL, Daemon: at.Daemon, TLS: trust, Name: "killed", Timeout: 10 * time.Second}.As(credential), err
}

// round has callers ask until some calls were answered, and kills the daemon then.
func (k *killedDaemon) round(round, answers int) {
	k.must("up", "--detach")
	conn := k.connect("hook")
	defer conn.Close()
	ctx, stop := context.WithCancel(k.t.Context())
	defer stop()
	var left atomic.Int64
	left.Store(int64(answers))
	var wait sync.WaitGroup
	for caller := range 16 {
		wait.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				id := fmt.Sprintf("t-%d-%d-%d", round, caller, i)
				if !k.ask(ctx, conn, fmt.Sprintf("s-%d", (caller+i)%24), id) {
					if left.Load() > 0 && !filelock.Held(filepath.Join(k.data(), "daemon.lock")) {
						k.t.Errorf("in round %d the daemon ended by itself", round)
						stop()
					}
					continue
				}
				k.mu.Lock()
				k.told[id] = time.Now()
				k.mu.Unlock()
				if left.Add(-1) == 0 {
					k.ended = append(k.ended, time.Now())
					k.end()
					stop()
				}
			}
		})
	}
	wait.Wait()
}

// ask says whether a decision was told.
func (k *killedDaemon) ask(ctx context.Context, conn *bus.Conn, session, id string) bool {
	body := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Write","tool_use_id":%q,"tool_input":{"file_path":%q,"content":"x"}}`,
		session, k.project, id, filepath.Join(k.project, "a.go"))
	reply, err := conn.Request(ctx, bus.Request{Subject: schemas.SvcHook, Body: []byte(body), Header: schemas.Header{
		schemas.HookHeaderAgent: {"claude"}, schemas.HookHeaderEvent: {"PreToolUse"},
		schemas.HookHeaderDir: {k.project}, schemas.HookHeaderProject: {k.project}, schemas.HookHeaderHome: {k.home},
	}})
	return err == nil && strings.Contains(string(reply.Body), "ENF-GATE")
}

func (k *killedDaemon) compare(rounds int) {
	conn := k.connect("dashboard")
	defer conn.Close()
	times := map[string]int{}
	err := conn.Follow(k.t.Context(), schemas.StreamSessions, 0, bus.FollowOptions{UntilEnd: true}, func(records []schemas.Record) error {
		for _, r := range records {
			events, err := r.Events()
			if err != nil {
				return err
			}
			for _, e := range events {
				if d, is := e.Data.(schemas.ToolDecided); is {
					times[d.ToolUseID]++
				}
			}
		}
		return nil
	})
	if err != nil {
		k.t.Fatal(err)
	}
	lost, oldest := 0, time.Duration(0)
	for id, told := range k.told {
		if times[id] > 0 {
			continue
		}
		if rounds == 0 {
			k.t.Errorf("%s was told and is not in the log", id)
			continue
		}
		var round int
		if _, err := fmt.Sscanf(id, "t-%d-", &round); err != nil {
			k.t.Fatal(err)
		}
		age := time.Duration(0)
		if round < len(k.ended) {
			age = max(0, k.ended[round].Sub(told)) // what is told while it ends is told at its end
		}
		if lost, oldest = lost+1, max(oldest, age); k.loses == 0 {
			k.t.Errorf("%s was told and is not in the log", id)
		}
	}
	for id, n := range times {
		if n > 1 {
			k.t.Errorf("%s is in the log %d times", id, n)
		}
	}
	for said, ok := "", false; !ok; {
		if said, ok = k.run("", "audit", "verify"); !ok && !strings.Contains(said, "Try again in a moment") {
			k.t.Error(said)
			break
		}
	}
	if status := k.must("status"); strings.Contains(status, "damaged") {
		k.t.Errorf("a kill is told as damage: %s", status)
	}
	k.t.Logf("%d kills, %d decisions told, %d in the log; %d lost, told up to %s before (%s allowed, and a sync)", rounds, len(k.told), len(times), lost, oldest, k.loses)
}
