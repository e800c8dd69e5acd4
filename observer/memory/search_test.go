package memory

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/retrieval/embed/choice"
	"github.com/writbus/writ/schemas"
)

// plainSearch looks at every entry: what snapshot finds by looking at few.
func plainSearch(s *snapshot, q query) (hits []hit) {
	k := max(candidatesLeast, 4*q.limit)
	var all []hit
	for _, p := range s.parts {
		asked := p.words.Resolve(q.text, 0)
		var scored []hit
		byWords, byMeaning := map[int]float64{}, map[int]float64{}
		for place := p.own; place < p.to; place++ {
			e, doc := s.entries[place], int32(place-p.from)
			scored = append(scored, hit{})
			if e == nil || e.short || !observation.MayRecall(&e.verdict, q.includeHold, q.includeDiscard) || !q.concerns(e) {
				continue
			}
			cosine := make([]float64, 1)
			if p.meanings != nil {
				p.meanings.Cosines(q.vector, []int32{doc}, cosine)
				byMeaning[place] = cosine[0]
			}
			if words := asked.Score(doc); words > 0 {
				byWords[place] = words
			}
			scored[place-p.own] = score(e, asked, doc, cosine[0], p.meanings != nil, q.now)
		}
		best := map[int]bool{}
		for _, of := range []map[int]float64{byWords, byMeaning} {
			places := slices.SortedFunc(maps.Keys(of), func(a, b int) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
			for _, place := range places[:min(k, len(places))] {
				best[place] = true
			}
		}
		for place := range best {
			all = append(all, scored[place-p.own])
		}
	}
	slices.SortFunc(all, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.time.Compare(a.time), cmp.Compare(a.key.Scope, b.key.Scope), cmp.Compare(a.key.ID, b.key.ID))
	})
	told := map[string]bool{}
	for _, h := range all {
		if said := h.key.Scope + " " + cmp.Or(h.mergedInto, h.key.ID); h.score >= q.minScore && h.score > 0 && len(hits) < q.limit && !told[said] {
			told[said] = true
			hits = append(hits, h)
		}
	}
	return hits
}

// TestSearchingIsLookingAtEverything compares recall with a look at every entry,
// over an index that grows, whose entries change, and that is merged while it is
// searched; and the index in the end with one that is built at once.
func TestSearchingIsLookingAtEverything(t *testing.T) {
	t.Parallel()
	m := NewStore(choice.Open(choice.Settings{Name: "static"}), limits)
	var err error
	m.keys, err = openKeys(filepath.Join(t.TempDir(), "memory.keys"))
	check(t, err)
	t.Cleanup(func() { _ = m.keys.close() })
	r := rand.New(rand.NewPCG(3, 4))
	words := strings.Fields("deploy cache retry token schema migration invoice staging nightly build flaky timeout release branch config secret " +
		"queue worker index shard backup restore memory leak socket parser error handler review merge lint test race detector")
	sentence := func(most int) string {
		var s []string
		for range 1 + r.IntN(most) {
			s = append(s, words[min(r.IntN(len(words)), r.IntN(len(words)))])
		}
		return strings.Join(s, " ")
	}
	var states []observation.State
	put := func(i int) {
		t.Helper()
		if err := m.index.put(m, states[i]); err != nil {
			t.Fatal(err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	compared, found, merged := 0, 0, 0
	for step := range 24 {
		for range r.IntN(220) {
			states = append(states, observation.State{
				ObservationKey: schemas.ObservationKey{Scope: []string{"global", "/p"}[r.IntN(2)], ID: fmt.Sprint(len(states))},
				Time:           time.Unix(int64(r.IntN(1e6)), 0),
				Recorded: schemas.ObservationRecorded{
					Text: sentence(12), Category: []string{"", "go", "ops"}[r.IntN(3)], Verdict: []string{"allow", "hold", "discard", "", "odd"}[r.IntN(5)],
				},
			})
			put(len(states) - 1)
		}
		for range r.IntN(6) {
			s := &states[r.IntN(len(states))]
			switch r.IntN(4) {
			case 0:
				s.Regated = append(s.Regated, observation.Regated{Verdict: []string{"allow", "hold"}[r.IntN(2)]})
			case 1:
				s.Shown++
			case 2:
				s.MergedInto = fmt.Sprint(r.IntN(len(states)))
			case 3:
				if step%5 == 4 {
					s.Forgotten = &observation.Regated{}
				}
			}
			put(slices.IndexFunc(states, func(o observation.State) bool { return o.ObservationKey == s.ObservationKey }))
		}
		was := m.index.current.Load()
		counted := len(was.entries)
		must(m.index.publish())
		if large := m.index.large; step%3 == 2 {
			must(m.index.merge())
			if m.index.large != large {
				merged++
			}
		}
		if len(was.entries) != counted {
			t.Fatal("a snapshot grew")
		}
		search := m.index.current.Load()
		verdicts := map[string]int{}
		for i, e := range search.entries {
			if e == nil {
				continue
			}
			verdicts[e.verdict]++
			if e.verdict != states[i].Verdict() || search.unasked[i] != (observation.MayRecall(&e.verdict, false, false) && !e.short) {
				t.Fatalf("step %d: %s is %q, unasked %v", step, e.key.ID, e.verdict, search.unasked[i])
			}
		}
		if !maps.Equal(verdicts, search.verdicts) {
			t.Fatalf("step %d: verdicts %v, counted %v", step, search.verdicts, verdicts)
		}
		for range 3 {
			q := m.query(sentence(6))
			q.now, q.limit, q.minScore = time.Unix(2e6, 0), 1+r.IntN(20), []float64{0, 0.2, 0.4}[r.IntN(3)]
			q.includeHold, q.includeDiscard = r.IntN(2) == 0, r.IntN(3) == 0
			if r.IntN(3) == 0 {
				q.category, q.scopes = "GO", []string{"/p"}
			}
			got, want := search.search(q), plainSearch(search, q)
			if !slices.Equal(got, want) {
				t.Fatalf("step %d, %q: found %v, want %v", step, q.text, told(got), told(want))
			}
			compared, found = compared+1, found+len(got)
		}
	}
	if merged == 0 || found < 5*compared {
		t.Errorf("%d merges, %d hits of %d searches: this proves less than it should", merged, found, compared)
	}
	alone := NewStore(choice.Open(choice.Settings{Name: "static"}), limits)
	alone.keys = m.keys
	for _, s := range states {
		if s.Forgotten != nil { // taken in as it was, and then forgotten, so that the places are the same
			forgotten := s
			s.Forgotten = nil
			must(alone.index.put(alone, s))
			s = forgotten
		}
		must(alone.index.put(alone, s))
	}
	must(alone.index.publish())
	m.index.large = nil
	must(m.index.publish())
	for range 20 {
		q := m.query(sentence(6))
		q.now = time.Unix(2e6, 0)
		if got, want := told(m.index.current.Load().search(q)), told(alone.index.current.Load().search(q)); !slices.Equal(got, want) {
			t.Errorf("%q: grown %v, at once %v", q.text, got, want)
		}
	}
}

func told(hits []hit) (all []string) {
	for _, h := range hits {
		all = append(all, fmt.Sprintf("%s %v %v", h.key.ID, h.score, h.why))
	}
	return all
}

func FuzzPackedTerms(f *testing.F) {
	f.Add("the payment tests need a race detector", "jc:go", 3)
	f.Add("", "\x00\xff", 300)
	f.Fuzz(func(t *testing.T, text, category string, times int) {
		fields := fieldsOf(strings.Repeat(text+" ", max(times%400, 1)), category)
		back := fieldsOf("what was there before", "it")
		packTerms(fields).unpack(&back)
		for i := range fields {
			if !slices.Equal(back[i], fields[i]) {
				t.Fatalf("%v came back as %v", fields[i], back[i])
			}
		}
	})
}

// TestAStopDoesNotWaitForTheIndex: a part that is being made when the service
// stops is given up, and what is searched stays as it is.
func TestAStopDoesNotWaitForTheIndex(t *testing.T) {
	t.Parallel()
	m := NewStore(choice.Open(choice.Settings{Name: "static"}), limits)
	put := func(from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			state := observation.State{
				ObservationKey: schemas.ObservationKey{Scope: "global", ID: fmt.Sprint(i)},
				Recorded:       schemas.ObservationRecorded{Text: fmt.Sprintf("the nightly build number %d is flaky", i), Verdict: "allow"},
			}
			if err := m.index.put(m, state); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(0, 10)
	m.index.stopped.Store(true)
	if err := m.index.publish(); !errors.Is(err, errStopped) || len(m.index.current.Load().parts) > 0 {
		t.Fatalf("a first part: %v", err)
	}
	m.index.stopped.Store(false)
	if err := m.index.publish(); err != nil {
		t.Fatal(err)
	}
	put(10, 10+2*tailLeast)
	if err := m.index.publish(); err != nil {
		t.Fatal(err)
	}
	was := m.index.current.Load()
	m.index.stopped.Store(true)
	if err := m.index.merge(); !errors.Is(err, errStopped) || m.index.current.Load() != was {
		t.Fatalf("a merge: %v", err)
	}
	put(10+2*tailLeast, 20+2*tailLeast)
	if err := m.index.publish(); !errors.Is(err, errStopped) || m.index.current.Load() != was {
		t.Fatalf("what is beside: %v", err)
	}
}
