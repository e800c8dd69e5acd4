package hub_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/writbus/writ/bus/embedded/hubtest"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/projections/hubcopies"
	"github.com/writbus/writ/schemas"
)

// TestManyMembers has many machines, of ten sessions each, bring what they do to a hub of
// one node: each has a server and a log of its own, is a leaf, and brings by the code of
// the daemon; no hook is asked. WRIT_TEAM_MEMBERS says how many, for half a minute.
func TestManyMembers(t *testing.T) {
	many, err := strconv.Atoi(os.Getenv("WRIT_TEAM_MEMBERS"))
	if err != nil {
		t.Skip("WRIT_TEAM_MEMBERS says how many members bring at once")
	}
	var names []string
	for i := range many {
		names = append(names, fmt.Sprintf("m%d", i))
	}
	h := hubtest.Start(t, 1, names...)
	machines := make([]*machine, many)
	for i, name := range names {
		machines[i] = &machine{t: t, dir: t.TempDir(), hub: h.URLs(), member: name, auditor: newAuditor(t), every: time.Second} // a daemon's is half a minute
		machines[i].join(h)
	}
	before := h.Memory(0)
	took := arrivals(t, h)
	end := time.Now().Add(30 * time.Second)
	var working sync.WaitGroup
	for _, m := range machines {
		working.Go(func() {
			for session := 0; time.Now().Before(end); session++ {
				m.happenIn(session % 10)
				<-time.After(200 * time.Millisecond) // an event every two seconds of each session
			}
		})
	}
	working.Wait()
	told := 0
	for _, m := range machines {
		told += len(m.told)
	}
	h.Eventually("the hub has all", func() error {
		if came := len(took()); came < told {
			return fmt.Errorf("%d of %d", came, told)
		}
		return nil
	})
	there := copiesAt(t, h)
	for _, m := range machines {
		if !slices.Equal(there[m.member], m.told) {
			t.Errorf("the hub has %d events of %s, which was told of %d", len(there[m.member]), m.member, len(m.told))
		}
	}
	all := took()
	p95 := all[len(all)*95/100]
	t.Logf("%d members, %d sessions: %d copies at the hub after %s (p50), %s (p95), %s at most; its memory was %s and is %s",
		many, 10*many, len(all), all[len(all)/2], p95, all[len(all)-1], before, h.Memory(0))
	if p95 > time.Second {
		t.Errorf("copies came after %s (p95)", p95)
	}
	var kib int
	if _, err := fmt.Sscanf(h.Memory(0), "%d kB", &kib); err == nil && kib > 512<<10 {
		t.Errorf("the hub takes %d MiB", kib>>10)
	}
}

// arrivals are how long copies took from their event to a subscriber at the hub.
func arrivals(t *testing.T, h *hubtest.Hub) (took func() []time.Duration) {
	t.Helper()
	var mu sync.Mutex
	var all []time.Duration
	_, err := h.As(rights.AdminUser).Subscribe("writ.at.>", func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range copiesIn(t, m.Data) {
			all = append(all, time.Since(c.Time))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() []time.Duration {
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(all)
		return all
	}
}

func copiesIn(t testing.TB, batch []byte) (all []hubcopies.Copy) {
	for _, line := range bytes.Split(batch, []byte("\n"))[1:] {
		var c hubcopies.Copy
		if err := json.Unmarshal(line, &c); err != nil || c.Event == "" {
			continue // of the beginning of an epoch
		}
		all = append(all, c)
	}
	return all
}

// copiesAt are the ids of the events at the hub, by member, in their order.
func copiesAt(t *testing.T, h *hubtest.Hub) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, m := range h.Messages(rights.Copies) {
		if member := strings.Split(m.Subject, ".")[2]; strings.HasSuffix(m.Subject, string(schemas.StreamSessions)) {
			for _, c := range copiesIn(t, m.Data) {
				all[member] = append(all[member], c.Event)
			}
		}
	}
	return all
}
