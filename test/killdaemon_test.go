package test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
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
	"github.com/writbus/writ/test/integration"
)

// TestKilledDaemon kills a daemon at random moments under hooks of many sessions,
// start included, while old events leave for the archive, and has another one go on:
// each decision that a hook was told is in the log once, none is there twice, and the
// audit agrees. WRIT_KILL_ROUNDS sets
// how often in each durability, WRIT_KILL_SEED when.
func TestKilledDaemon(t *testing.T) {
	t.Parallel()
	rounds, seed := fromEnv(t, "WRIT_KILL_ROUNDS", integration.Rounds(1, 2)), fromEnv(t, "WRIT_KILL_SEED", int(time.Now().UnixNano()&0xffffff))
	for _, durability := range []string{"power-loss", "interval"} {
		t.Run(durability, func(t *testing.T) {
			t.Parallel()
			t.Logf("WRIT_KILL_SEED=%d", seed)
			k := newKilledDaemon(t, t.TempDir(), durability)
			defer k.kill()
			random := rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // chooses moments
			for round := range rounds {
				k.round(round, 20+random.IntN(400), random)
			}
			k.up()
			k.compare(rounds)
		})
	}
}

// killedDaemon is a daemon that dies, and what its callers were told.
type killedDaemon struct {
	flipWorld
	project string

	end   func()                   // ends it
	reach func() (net.Conn, error) // the server of a daemon in another network; nil for this one
	loses time.Duration            // what was told so long before the end may be lost

	mu    sync.Mutex
	told  map[string]time.Time // ids of calls, and when
	ended []time.Time
}

func newKilledDaemon(t *testing.T, home, durability string) *killedDaemon {
	t.Helper()
	k := &killedDaemon{flipWorld: flipWorld{t: t, home: home, durability: durability}, told: map[string]time.Time{}}
	k.project, k.end = filepath.Join(k.home, "project"), k.kill
	if err := errors.Join(os.MkdirAll(filepath.Join(k.project, ".writ"), 0o700), os.MkdirAll(k.data(), 0o700),
		os.WriteFile(filepath.Join(k.project, ".writ", "config.yaml"), []byte("mode: work\n"), 0o600),
		os.WriteFile(filepath.Join(k.data(), "config.yaml"), []byte("scripts: allow\nshipped_rules: false\nmax_bytes: 3000000\n"), 0o600)); err != nil { // old events leave for the archive
		t.Fatal(err)
	}
	return k
}

func (k *killedDaemon) connect(role string) *bus.Conn {
	k.t.Helper()
	conn, err := k.dial(role)
	if err != nil {
		k.t.Fatal(err)
	}
	return conn
}

func (k *killedDaemon) dial(role string) (*bus.Conn, error) {
	o, err := k.options(role)
	if err != nil {
		return nil, err
	}
	return bus.Connect(k.t.Context(), o)
}

// tells keeps the id of what was told.
func (k *killedDaemon) tells(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.told[id] = time.Now()
}

const (
	killedSessions = 24   // of a round
	killedMost     = 1000 // answers before the kill, beyond those of the round
)

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
	if k.reach != nil {
		trust = nil // as within one process
	}
	return bus.Options{Dial: k.reach, URL: at.URL, Daemon: at.Daemon, TLS: trust, Name: "killed", Timeout: 10 * time.Second, Archive: bus.NewArchive(filepath.Join(k.data(), "archive"))}.As(credential), err
}

// round has callers ask until some calls were answered, and kills the daemon then, or
// within the next second and a half: the archive takes what earlier rounds left.
func (k *killedDaemon) round(round, answers int, random *rand.Rand) {
	k.up()
	conn := k.connect("hook")
	defer conn.Close()
	ctx, stop := context.WithCancel(k.t.Context())
	defer stop()
	after := time.Duration(random.IntN(2)*random.IntN(1500)) * time.Millisecond
	for i, until := 0, time.Now().Add(time.Minute); round > 0 && i < killedSessions; {
		if session := fmt.Sprintf("s-%d-%d", round-1, i); k.endSession(ctx, conn, session) {
			i += 2 // the others were killed
		} else if time.Now().After(until) {
			k.t.Fatalf("in round %d, %s does not end", round, session)
		}
	}
	var left atomic.Int64
	left.Store(int64(answers))
	var wait sync.WaitGroup
	for caller := range 16 {
		wait.Go(func() {
			for i := 0; ctx.Err() == nil && left.Load() > -killedMost; i++ {
				id := fmt.Sprintf("t-%d-%d-%d", round, caller, i)
				if !k.ask(ctx, conn, fmt.Sprintf("s-%d-%d", round, (caller+i)%killedSessions), id) {
					if left.Load() > 0 && !filelock.Held(filepath.Join(k.data(), "daemon.lock")) {
						k.t.Errorf("in round %d the daemon ended by itself", round)
						stop()
					}
					continue
				}
				k.tells(id)
				if left.Add(-1) == 0 {
					<-time.After(after)
					k.ended = append(k.ended, time.Now())
					k.end()
					stop()
				}
			}
		})
	}
	wait.Wait()
}

// up has a daemon answer, which a busy machine may take longer for than writ up waits.
func (k *killedDaemon) up() {
	k.t.Helper()
	said, ok := k.run("", "up", "--detach")
	for tries := 1; !ok && tries < 20 && strings.Contains(said, "waiting for the daemon"); tries++ {
		said, ok = k.run("", "up", "--detach")
	}
	if !ok {
		k.t.Fatal(said)
	}
}

// ask says whether a decision was told.
func (k *killedDaemon) ask(ctx context.Context, conn *bus.Conn, session, id string) bool {
	body := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Write","tool_use_id":%q,"tool_input":{"file_path":%q,"content":"x"}}`,
		session, k.project, id, filepath.Join(k.project, "a.go"))
	said, ok := k.request(ctx, conn, "PreToolUse", body)
	return ok && strings.Contains(said, "ENF-GATE")
}

// endSession says whether a session has ended.
func (k *killedDaemon) endSession(ctx context.Context, conn *bus.Conn, session string) bool {
	said, ok := k.request(ctx, conn, "SessionEnd", fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":"SessionEnd","reason":"exit"}`, session, k.project))
	return ok && !strings.Contains(said, "SessionEnd:")
}

// request sends a hook.
func (k *killedDaemon) request(ctx context.Context, conn *bus.Conn, event, body string) (said string, ok bool) {
	reply, err := conn.Request(ctx, bus.Request{Subject: schemas.SvcHook, Body: []byte(body), Header: schemas.Header{
		schemas.HookHeaderAgent: {"claude"}, schemas.HookHeaderEvent: {event},
		schemas.HookHeaderDir: {k.project}, schemas.HookHeaderProject: {k.project}, schemas.HookHeaderHome: {k.home},
	}})
	return string(reply.Body), err == nil
}

func (k *killedDaemon) compare(rounds int) {
	conn := k.connect("dashboard")
	defer conn.Close()
	times := map[string]int{}
	for _, stream := range []schemas.Stream{schemas.StreamSessions, schemas.StreamMemory, schemas.StreamRules} {
		err := conn.Follow(k.t.Context(), stream, 0, bus.FollowOptions{UntilEnd: true}, func(records []schemas.Record) error {
			for _, r := range records {
				events, err := r.Events()
				if err != nil {
					return err
				}
				for _, e := range events {
					switch d := e.Data.(type) {
					case schemas.ToolDecided:
						times[d.ToolUseID]++
					case schemas.ProposalMade:
						times[e.ID]++
					case schemas.ObservationRecorded:
						times[d.ObservationID]++
					case schemas.RuleEdited:
						times[d.Reason]++
					}
				}
			}
			return nil
		})
		if err != nil {
			k.t.Fatal(err)
		}
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
		round, age := 0, time.Duration(0)
		_, _ = fmt.Sscanf(id, "t-%d-", &round) // others than decisions have no round
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
	segments, err := filepath.Glob(filepath.Join(k.data(), "archive", "*.zst"))
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Logf("%d kills, %d facts told, %d in the log, %d segments in the archive; %d lost, told up to %s before (%s allowed, and a sync)", rounds, len(k.told), len(times), len(segments), lost, oldest, k.loses)
}
