package daemon

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// modelled is an observation as the test believes it to be.
type modelled struct {
	original  []byte
	verdict   string
	forgotten bool
}

// TestWhatIsKeptBackNeverSurfaces runs random histories of observations of any
// bytes, regates, forgettings, restarts and rebuilds of the views from the log.
// After each step, recall unasked and the block of a prompt hold what is
// allowed and nothing else, and at the end all bytes come back.
func TestWhatIsKeptBackNeverSurfaces(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			h := &history{t: t, r: r, data: t.TempDir(), model: map[string]*modelled{}}
			h.d, h.shut = inside(t, h.data)
			for step := range 40 {
				h.step(step)
				h.check(step)
			}
			h.checkExport()
		})
	}
}

type history struct {
	t     *testing.T
	r     *rand.Rand
	data  string
	d     *Daemon
	shut  func()
	model map[string]*modelled
	ids   []string
}

func (h *history) step(step int) {
	switch n := h.r.IntN(20); {
	case n < 10 || len(h.ids) == 0:
		h.observeOne(fmt.Sprintf("id%d", step))
	case n < 15:
		id, verdict := h.ids[h.r.IntN(len(h.ids))], []string{"allow", "hold", "discard"}[h.r.IntN(3)]
		_, err := h.d.memoryRegate(h.t.Context(), schemas.MemoryRegateRequest{ID: id, Verdict: verdict, Reason: "r"})
		if (err == nil) == h.model[id].forgotten {
			h.t.Fatalf("step %d: regating %s: %v", step, id, err)
		}
		if err == nil {
			h.model[id].verdict = verdict
		}
	case n < 17:
		id := h.ids[h.r.IntN(len(h.ids))]
		if _, err := h.d.memoryForget(h.t.Context(), schemas.MemoryForgetRequest{ID: id, Reason: "f"}); (err == nil) == h.model[id].forgotten {
			h.t.Fatalf("step %d: forgetting %s: %v", step, id, err)
		}
		h.model[id].forgotten = true
	default:
		h.shut()
		if n == 19 { // the views are lost
			if err := os.RemoveAll(h.d.layout.Views()); err != nil {
				h.t.Fatal(err)
			}
		}
		h.d, h.shut = inside(h.t, h.data)
	}
}

// observeOne observes random bytes behind a random annotation, or none. All
// hold one word, so that a query finds them.
func (h *history) observeOne(id string) {
	noise := make([]byte, h.r.IntN(40))
	for i := range noise {
		noise[i] = byte(h.r.IntN(256))
	}
	verdict := []string{"allow", "hold", "discard", ""}[h.r.IntN(4)]
	var input []byte
	if verdict == "" {
		verdict = "allow"
	} else {
		input = []byte("[gate=" + verdict + "] ")
	}
	input = append(append(input, "walrus "+id+" "...), noise...)
	h.model[id] = &modelled{original: input, verdict: verdict}
	h.ids = append(h.ids, id)
	o := schemas.Observation{ID: id, Input: input}
	if _, err := h.d.observe(h.t.Context(), schemas.ObserveRequest{Observations: []schemas.Observation{o, o}}); err != nil {
		h.t.Fatal(err)
	}
}

func (h *history) check(step int) {
	h.t.Helper()
	none := 0.0
	reply, err := h.d.recall(h.t.Context(), schemas.RecallRequest{Text: "walrus", Limit: recallMost, MinScore: &none})
	if err != nil {
		h.t.Fatal(err)
	}
	var got, want []string
	for _, hit := range reply.Hits {
		got = append(got, hit.ObservationID)
	}
	for id, m := range h.model {
		if m.verdict == "allow" && !m.forgotten {
			want = append(want, id)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		h.t.Fatalf("step %d: recalled %v, allowed are %v", step, got, want)
	}
	block, _ := h.d.memoriesFor(h.t.Context(), fmt.Sprintf("session %d", step), "", "walrus", 9000)
	for id, m := range h.model {
		if (m.verdict != "allow" || m.forgotten) && strings.Contains(block, "walrus "+id+" ") {
			h.t.Fatalf("step %d: the prompt got %s, which is %s: %s", step, id, m.verdict, block)
		}
	}
}

func (h *history) checkExport() {
	h.t.Helper()
	seen := 0
	for after := uint64(0); ; {
		page, err := h.d.memoryExport(h.t.Context(), schemas.MemoryExportRequest{After: after, Limit: 5})
		if err != nil {
			h.t.Fatal(err)
		}
		for _, item := range page.Items {
			seen++
			m := h.model[item.ObservationID]
			switch {
			case m.forgotten != (item.Forgotten != nil), !m.forgotten && !bytes.Equal(item.Original, m.original), m.forgotten && len(item.Original) > 0:
				h.t.Errorf("%s: %q came back as %q, forgotten %v", item.ObservationID, m.original, item.Original, item.Forgotten)
			case item.Current() != m.verdict:
				h.t.Errorf("%s is %s, not %s", item.ObservationID, item.Current(), m.verdict)
			}
		}
		if after = page.Next; after == 0 {
			break
		}
	}
	if seen != len(h.model) {
		h.t.Errorf("exported %d of %d", seen, len(h.model))
	}
}
