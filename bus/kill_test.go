package bus_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/integration"
)

// TestKillLosesNothing kills the server's process under four publishers, after
// a random number of acknowledged appends, and starts it again on its store:
// every acknowledged event is where its publisher was told, and the stream has
// no gap. WRIT_KILL_ROUNDS sets the rounds for each durability, WRIT_KILL_SEED
// the seed.
func TestKillLosesNothing(t *testing.T) {
	rounds := envInt(t, "WRIT_KILL_ROUNDS", integration.Rounds(1, 3))
	seed := uint64(envInt(t, "WRIT_KILL_SEED", int(time.Now().UnixNano())))
	t.Logf("WRIT_KILL_SEED=%d", seed)
	for _, durability := range []embedded.Durability{embedded.PowerLoss, embedded.Interval} {
		t.Run(string(durability), func(t *testing.T) {
			k := &killing{t: t, dir: t.TempDir(), durability: durability, random: rand.New(rand.NewPCG(seed, 0)), acked: map[uint64]string{}}
			for round := range rounds {
				k.round(round)
			}
			k.verify()
			t.Logf("%d rounds, %d acknowledged events, none lost", rounds, len(k.acked))
		})
	}
}

func envInt(t *testing.T, name string, fallback int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}

type killing struct {
	t          *testing.T
	dir        string
	durability embedded.Durability
	random     *rand.Rand

	mu    sync.Mutex
	acked map[uint64]string // by sequence
	until int               // acknowledged appends after which the server is killed
}

func (k *killing) connect() (*child, *bus.Conn) {
	k.t.Helper()
	server := startChild(k.t, "server", k.dir, k.durability)
	url := server.says(k.t, "url")
	one, err := bus.LoadCredential(filepath.Join(k.dir, "credentials"), string(embedded.RoleDaemon))
	must(k.t, err)
	return server, connect(k.t, bus.Options{URL: url, User: one.User, Password: one.Password, Timeout: time.Minute})
}

func (k *killing) round(round int) {
	server, c := k.connect()
	defer c.Close()
	must(k.t, c.EnsureStreams(k.t.Context(), bus.Retention{}))
	k.until = len(k.acked) + 1 + k.random.IntN(400)
	ctx, cancel := context.WithCancel(k.t.Context())
	defer cancel()
	var publishers sync.WaitGroup
	for p := range 4 {
		publishers.Go(func() { k.publish(ctx, c, server, fmt.Sprintf("%d-%d", round, p), cancel) })
	}
	publishers.Wait()
	server.kill()
}

// publish appends, each event expecting the one before, until the server is
// gone. The publisher whose append is the last to be waited for kills it, with
// the others' under way.
func (k *killing) publish(ctx context.Context, c *bus.Conn, server *child, session string, done func()) {
	last := uint64(0)
	for i := 0; ; i++ {
		id := fmt.Sprintf("%s-%d", session, i)
		p, err := c.Append(ctx, bustest.Event(session, id, "under fire"), nil, bus.LastSeq(last))
		if err != nil {
			if !errors.Is(err, bus.ErrUnavailable) && !errors.Is(err, context.Canceled) {
				k.t.Error(err)
			}
			return
		}
		last = p.Seq
		k.mu.Lock()
		k.acked[p.Seq] = id
		enough := len(k.acked) == k.until
		k.mu.Unlock()
		if enough {
			_ = server.cmd.Process.Kill()
			done()
			return
		}
	}
}

func (k *killing) verify() {
	server, c := k.connect()
	defer server.kill()
	found, next := 0, uint64(1)
	must(k.t, c.Follow(k.t.Context(), schemas.StreamSessions, 0, bus.FollowOptions{UntilEnd: true}, func(batch []schemas.Record) error {
		for _, r := range batch {
			if r.Seq != next {
				k.t.Errorf("record %d after %d", r.Seq, next-1)
			}
			next = r.Seq + 1
			want, acked := k.acked[r.Seq]
			if acked && want != r.ID() {
				k.t.Errorf("record %d is %s, %s was acknowledged there", r.Seq, r.ID(), want)
			}
			if acked {
				found++
			}
		}
		return nil
	}))
	if found != len(k.acked) {
		k.t.Fatalf("%d of %d acknowledged events are left", found, len(k.acked))
	}
}
