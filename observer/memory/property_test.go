package memory

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/integration"
)

// modelled is an observation as the test believes it to be.
type modelled struct {
	original  []byte
	verdict   string
	forgotten bool
	sources   []string // of a note
}

// open says that the observation may surface unasked.
func (m *modelled) open() bool { return m.verdict == "allow" && !m.forgotten }

// TestWhatIsKeptBackNeverSurfaces runs random histories of observations of any
// bytes, regates, forgettings, reflections with merges, decisions about what
// they propose, restarts, crashes, and rebuilds of the views from the log. After
// each step, recall unasked, the block of a prompt and the proposals hold what
// is allowed and nothing else; reflection reads nothing else, once. At the end
// all bytes come back, and a rebuild gives the same views to the byte.
func TestWhatIsKeptBackNeverSurfaces(t *testing.T) {
	notes, merges, seed, seeds := 0, 0, 0, 4
	if testing.Short() || !integration.Wanted() {
		seed, seeds = 2, 3 // a history with a note and merges
	}
	if v := os.Getenv("WRIT_MEMORY_HISTORIES"); v != "" {
		var err error
		if seeds, err = strconv.Atoi(v); err != nil {
			t.Fatal(err)
		}
	}
	for ; seed < seeds; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			h := &history{t: t, r: r, data: t.TempDir(), model: map[string]*modelled{}, read: map[string]bool{}}
			h.d, h.shut = inside(t, h.data)
			for step := range 50 {
				h.step(step)
				h.check(step)
			}
			h.checkExport()
			h.checkRebuild()
			for _, m := range h.model {
				notes += min(len(m.sources), 1)
			}
			for state := range h.states() {
				merges += min(len(state.MergedInto), 1)
			}
		})
	}
	if notes == 0 || merges == 0 {
		t.Errorf("%d notes and %d merges: the histories prove less than they should", notes, merges)
	}
}

type history struct {
	t     *testing.T
	r     *rand.Rand
	data  string
	d     *fixture
	shut  func()
	model map[string]*modelled
	ids   []string
	read  map[string]bool // by reflection
}

func (h *history) step(step int) {
	switch n := h.r.IntN(26); {
	case n < 10 || len(h.ids) == 0:
		h.observeOne(fmt.Sprintf("id%d", step))
	case n < 15:
		id, verdict := h.ids[h.r.IntN(len(h.ids))], []string{"allow", "hold", "discard"}[h.r.IntN(3)]
		_, err := h.d.regate(h.t.Context(), schemas.MemoryRegateRequest{ID: id, Verdict: verdict, Reason: "r"})
		if (err == nil) == h.model[id].forgotten {
			h.t.Fatalf("step %d: regating %s: %v", step, id, err)
		}
		if err == nil {
			h.model[id].verdict = verdict
			h.keepBack(id, verdict)
		}
	case n < 17:
		id := h.ids[h.r.IntN(len(h.ids))]
		if _, err := h.d.forget(h.t.Context(), schemas.MemoryForgetRequest{ID: id, Reason: "f"}); (err == nil) == h.model[id].forgotten {
			h.t.Fatalf("step %d: forgetting %s: %v", step, id, err)
		}
		h.forget(id)
	case n < 21:
		h.reflect(step)
	case n < 23:
		h.triage(step)
	case n == 23:
		h.crash()
	default:
		h.shut()
		if n == 25 { // the views are lost
			if err := os.RemoveAll(h.d.views()); err != nil {
				h.t.Fatal(err)
			}
		}
		h.d, h.shut = inside(h.t, h.data)
	}
}

// keepBack gives the notes that rest on an observation a stricter verdict.
func (h *history) keepBack(id, verdict string) {
	for _, note := range h.model {
		if verdict != "allow" && !note.forgotten && slices.Contains(note.sources, id) && note.verdict != "discard" {
			note.verdict = verdict
		}
	}
}

func (h *history) forget(id string) {
	h.model[id].forgotten = true
	for _, note := range h.model {
		if slices.Contains(note.sources, id) {
			note.forgotten = true
		}
	}
}

// reflect reflects, and checks what was read.
func (h *history) reflect(step int) {
	h.t.Helper()
	if _, err := h.d.reflection().reflect(h.t.Context(), schemas.MemoryReflectRequest{}); err != nil {
		h.t.Fatal(err)
	}
	for state := range h.states() {
		switch id := state.ID; {
		case state.Reflected == "" || h.read[id]:
		case !h.model[id].open() || h.model[id].sources != nil:
			h.t.Fatalf("step %d: reflection read %s: %+v", step, id, h.model[id])
		default:
			h.read[id] = true
		}
	}
}

func (h *history) states() iter.Seq[observation.State] {
	return func(yield func(observation.State) bool) {
		m := h.d.kept
		if err := m.read(func(r projections.Reader) error {
			for state, err := range m.view.All(r, 0) {
				if err != nil || !yield(state) {
					return err
				}
			}
			return nil
		}); err != nil {
			h.t.Fatal(err)
		}
	}
}

// triage decides about one of the open proposals.
func (h *history) triage(step int) {
	h.t.Helper()
	list := h.proposals(step)
	if len(list) == 0 {
		return
	}
	p := list[h.r.IntN(len(list))]
	request := schemas.MemoryTriageRequest{ID: p.ID, Decision: []string{"accepted", "rejected"}[h.r.IntN(2)], Reason: "r"}
	reply, err := h.d.reflection().triage(h.t.Context(), request)
	if err != nil {
		h.t.Fatalf("step %d: %v", step, err)
	}
	if id := reply.ObservationID; id != "" {
		h.model[id] = &modelled{original: []byte(p.Text), verdict: "allow", sources: p.Observations}
		h.ids = append(h.ids, id)
	}
}

// proposals lists those that are shown, and checks them.
func (h *history) proposals(step int) []schemas.MemoryProposal {
	h.t.Helper()
	list, err := h.d.reflection().proposals(h.t.Context(), schemas.MemoryProposalsRequest{})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, p := range list.Proposals {
		for _, id := range p.Observations {
			if !h.model[id].open() {
				h.t.Fatalf("step %d: a proposal rests on %s, which is %+v", step, id, h.model[id])
			}
		}
		h.mustNotTell(step, "a proposal", p.Text)
	}
	return list.Proposals
}

// mustNotTell fails on a text of an observation that is kept back.
func (h *history) mustNotTell(step int, what, text string) {
	h.t.Helper()
	for id, m := range h.model {
		if !m.open() && m.sources == nil && strings.Contains(text, "walrus "+id+" ") {
			h.t.Fatalf("step %d: %s tells %s, which is %+v: %s", step, what, id, m, text)
		}
	}
}

// crash goes on with a copy of the log that was made while the daemon ran.
func (h *history) crash() {
	h.t.Helper()
	next := filepath.Join(h.t.TempDir(), "data")
	if err := copyLive(filepath.Join(next, "streams"), h.d.log()); err != nil {
		h.t.Fatal(err)
	}
	keys, err := os.ReadFile(filepath.Join(h.data, "memory.keys"))
	if err == nil {
		err = os.WriteFile(filepath.Join(next, "memory.keys"), keys, 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.shut()
	h.data = next
	h.d, h.shut = inside(h.t, h.data)
}

// copyLive copies a folder in which files are replaced meanwhile: what vanishes
// under its eyes, a file that took another's place by now, is left out.
func copyLive(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(from, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil || relErr != nil:
			return errors.Join(err, relErr)
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), content, 0o600)
	})
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
	if h.r.IntN(3) == 0 { // much like others
		noise = []byte("swims where the ice is thin and the water cold because it likes to eat what lives on the ground of every northern sea in winter")
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
	into := map[string]string{}
	for state := range h.states() {
		if state.MergedInto != "" {
			into[state.ID] = state.MergedInto
		}
	}
	said := func(id string) string {
		if to := into[id]; to != "" {
			return to
		}
		return id
	}
	shown := map[string]bool{}
	for _, hit := range reply.Hits {
		if !h.model[hit.ObservationID].open() {
			h.t.Fatalf("step %d: recalled %s, which is %+v", step, hit.ObservationID, h.model[hit.ObservationID])
		}
		shown[said(hit.ObservationID)] = true
		h.mustNotTell(step, "recall", hit.Text)
	}
	for id, m := range h.model {
		if m.open() && !shown[said(id)] {
			h.t.Fatalf("step %d: %s is allowed and not recalled", step, id)
		}
	}
	block, _ := h.d.ForPrompt(h.t.Context(), fmt.Sprintf("session %d", step), "", "walrus", 9000)
	h.mustNotTell(step, "the prompt", block)
	h.proposals(step)
}

// checkRebuild compares the views with those that are built anew from the log.
func (h *history) checkRebuild() {
	h.t.Helper()
	dump := func() (all []string) {
		if _, err := h.d.upToDate(h.t.Context()); err != nil {
			h.t.Fatal(err)
		}
		for _, view := range []string{h.d.kept.view.Name(), h.d.Verdicts.Name()} {
			if err := h.d.Views.Await(h.t.Context(), schemas.StreamMemory, view); err != nil {
				h.t.Fatal(err)
			}
			if err := h.d.Views.Read(view, func(r projections.Reader) error {
				for e, err := range r.Scan(nil) {
					if err != nil {
						return err
					}
					all = append(all, fmt.Sprintf("%s %q %q", view, e.Key, e.Value))
				}
				return nil
			}); err != nil {
				h.t.Fatal(err)
			}
		}
		return all
	}
	before := dump()
	h.shut()
	if err := os.RemoveAll(h.d.views()); err != nil {
		h.t.Fatal(err)
	}
	h.d, h.shut = inside(h.t, h.data)
	if after := dump(); !slices.Equal(before, after) || len(before) < 20 {
		h.t.Errorf("%d entries, rebuilt %d", len(before), len(after))
	}
}

func (h *history) checkExport() {
	h.t.Helper()
	seen := 0
	for after := uint64(0); ; {
		page, err := h.d.export(h.t.Context(), schemas.MemoryExportRequest{After: after, Limit: 5})
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
