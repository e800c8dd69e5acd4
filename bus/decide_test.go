package bus_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// prompts is a state: the prompts of a session, as its log has them.
type prompts []string

func withPrompt(s prompts, e schemas.Event) prompts {
	p, _ := e.Data.(schemas.PromptSubmitted)
	return append(s[:len(s):len(s)], fmt.Sprintf("%s#%d %s", p.Prompt, e.Position.Seq, e.ID[len(e.ID)-2:]))
}

// book is a log in memory with the way into it.
type book struct {
	*memoryLog
	*bus.Writer
	loads int
}

func newBook(t testing.TB) *book {
	b := &book{memoryLog: newMemoryLog()}
	if err := b.EnsureStreams(context.Background(), bus.Retention{}); err != nil {
		t.Fatal(err)
	}
	b.Writer = b.memoryLog.Writer(bus.WriterOptions{Source: "/test", Now: func() time.Time { return noon }, Redact: func(p schemas.Payload) schemas.Payload {
		if s, ok := p.(schemas.PromptSubmitted); ok {
			s.Prompt = strings.ReplaceAll(s.Prompt, "secret", "***")
			return s
		}
		return p
	}})
	return b
}

// load folds what the log has of the session.
func (b *book) load(ctx context.Context) (s prompts, seq uint64, err error) {
	b.loads++
	for record, err := range b.Tail(ctx, schemas.Session("s"), 0) {
		if err != nil {
			return s, seq, err
		}
		events, err := record.Events()
		if err != nil {
			return s, seq, err
		}
		for _, e := range events {
			s = withPrompt(s, e)
		}
		seq = record.Seq
	}
	return s, seq, nil
}

func saying(texts ...string) (all []schemas.Payload) {
	for _, text := range texts {
		all = append(all, schemas.PromptSubmitted{Prompt: text})
	}
	return all
}

var inSession = bus.Change{Event: schemas.Event{ID: "event-id", Aggregate: schemas.Session("s"), Actor: schemas.Writ("test")}}

// The state that Decide returns is the one that the log gives, without secrets.
func TestDecideStateIsTheLogs(t *testing.T) {
	b := newBook(t)
	waited := schemas.Position{}
	change := inSession
	change.Await = func(_ context.Context, at schemas.Position) error { waited = at; return nil }
	state, at, err := bus.Decide(t.Context(), b.Writer, b.load, withPrompt,
		func(s prompts) ([]schemas.Payload, error) { return saying("a secret", "another secret"), nil }, change)
	if err != nil || at.Seq != 1 || waited != at || fmt.Sprint(state) != "[a ***#1 id another ***#1 /1]" {
		t.Fatalf("%q at %v, waited for %v, %v", state, at, waited, err)
	}
	if again, _, err := b.load(t.Context()); err != nil || fmt.Sprint(again) != fmt.Sprint(state) {
		t.Errorf("the log gives %q, %v", again, err)
	}
	last, err := b.LastOf(t.Context(), schemas.Session("s"))
	if err != nil {
		t.Fatal(err)
	}
	if events, err := last.Events(); err != nil || events[0].Source != "/test" || !events[0].Time.Equal(noon) || events[0].Actor.Part() != "test" {
		t.Errorf("stored %+v, %v", events, err)
	}
}

// A decision that was stored before it was asked for again is not stored again, nor
// folded in twice, whatever came after it.
func TestDecideOnceByItsID(t *testing.T) {
	b := newBook(t)
	decide := func() (prompts, schemas.Position) {
		state, at, err := bus.Decide(t.Context(), b.Writer, b.load, withPrompt,
			func(prompts) ([]schemas.Payload, error) { return saying("own"), nil }, inSession)
		if err != nil {
			t.Fatal(err)
		}
		return state, at
	}
	_, first := decide()
	for _, want := range []string{"[own#1 id]", "[own#1 id other#2 er]"} {
		if state, at := decide(); at != first || fmt.Sprint(state) != want {
			t.Errorf("asked again, it is at %v, and the state %q; want %s", at, state, want)
		}
		other := schemas.Event{ID: "the-other", Aggregate: schemas.Session("s"), Data: saying("other")[0]}
		if _, err := bus.Record(t.Context(), b.Writer, other); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDecideAnew(t *testing.T) {
	for _, c := range []struct {
		name             string
		others, tries    int
		seen             string
		conflict, wanted bool
	}{
		{name: "nobody else", wanted: true, seen: "0"},
		{name: "once", others: 1, wanted: true, seen: "0 1"},
		{name: "as often as it tries", others: 3, tries: 3, conflict: true, seen: "0 1 2"},
		{name: "for ever", others: 1 << 30, conflict: true, seen: "0 1 2 3 4 5 6 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBook(t)
			var seen []string
			change := inSession
			change.Tries = c.tries
			_, at, err := bus.Decide(t.Context(), b.Writer, b.load, withPrompt, func(s prompts) ([]schemas.Payload, error) {
				if seen = append(seen, fmt.Sprint(len(s))); len(seen) <= c.others {
					other := schemas.Event{Aggregate: schemas.Session("s"), Data: saying("other")[0]}
					if _, err := bus.Record(t.Context(), b.Writer, other); err != nil {
						t.Fatal(err)
					}
				}
				return saying("own"), nil
			}, change)
			if errors.Is(err, bus.ErrConflict) != c.conflict || (at.Seq != 0) != c.wanted || strings.Join(seen, " ") != c.seen {
				t.Errorf("decided on %s prompts, stored at %v, %v; want %s", seen, at, err, c.seen)
			}
		})
	}
}

func TestDecideOfStream(t *testing.T) {
	b := newBook(t)
	end := func(ctx context.Context) (seq, at uint64, err error) {
		state, err := b.State(ctx, schemas.StreamSessions)
		return state.Last, state.Last, err
	}
	change := inSession
	change.OfStream = true
	tries := 0
	_, at, err := bus.Decide(t.Context(), b.Writer, end, nil, func(uint64) ([]schemas.Payload, error) {
		if tries++; tries == 1 {
			_, err := bus.Record(t.Context(), b.Writer, schemas.Event{Aggregate: schemas.Session("other"), Data: saying("first")[0]})
			return saying("own"), err
		}
		return saying("own"), nil
	}, change)
	if err != nil || at.Seq != 2 || tries != 2 {
		t.Errorf("stored at %v after %d tries, %v", at, tries, err)
	}
}

func TestDecideRefusesAndRecordsNothing(t *testing.T) {
	b := newBook(t)
	refusal := errors.New("no")
	for want, decide := range map[error]func(prompts) ([]schemas.Payload, error){
		refusal: func(prompts) ([]schemas.Payload, error) { return saying("x"), refusal },
		nil:     func(prompts) ([]schemas.Payload, error) { return nil, nil },
	} {
		_, at, err := bus.Decide(t.Context(), b.Writer, b.load, withPrompt, decide, inSession)
		if !errors.Is(err, want) || at != (schemas.Position{}) {
			t.Errorf("got %v at %v, want %v", err, at, want)
		}
	}
	if state, err := b.State(t.Context(), schemas.StreamSessions); err != nil || state.Last != 0 {
		t.Errorf("the log has %d records, %v", state.Last, err)
	}
}

// An append of which nobody knows whether it was stored is made once more, with
// the same event.
func TestRecordOnceMore(t *testing.T) {
	b := newBook(t)
	lost := 1
	log := bus.NewWriter(func(ctx context.Context, main schemas.Event, also []schemas.Payload, e bus.Expect) (schemas.Position, error) {
		at, err := b.Append(ctx, main, also, e)
		if lost--; lost >= 0 {
			return schemas.Position{}, bus.ErrUnavailable
		}
		return at, err
	}, bus.WriterOptions{})
	fact := schemas.Event{Aggregate: schemas.Session("s"), Data: saying("p")[0]}
	if at, err := bus.Record(t.Context(), log, fact); err != nil || at.Seq != 1 {
		t.Errorf("stored at %v, %v", at, err)
	}
	lost = 2
	if _, err := bus.Record(t.Context(), log, fact); !errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if state, err := b.State(t.Context(), schemas.StreamSessions); err != nil || state.Last != 2 {
		t.Errorf("the log has %d records, %v", state.Last, err)
	}
}

// An aggregate with a pure core: evolve folds, and what atMostTwo decides
// depends on the state alone.
func ExampleDecide() {
	memory := newMemoryLog()
	_ = memory.EnsureStreams(context.Background(), bus.Retention{})
	log := memory.Writer(bus.WriterOptions{Source: "/example"})

	type state struct{ prompts int }
	evolve := func(s state, e schemas.Event) state {
		if _, ok := e.Data.(schemas.PromptSubmitted); ok {
			s.prompts++
		}
		return s
	}
	load := func(ctx context.Context) (s state, seq uint64, err error) {
		for record, err := range memory.Tail(ctx, schemas.Session("s"), 0) {
			if err != nil {
				return s, seq, err
			}
			events, err := record.Events()
			if err != nil {
				return s, seq, err
			}
			for _, e := range events {
				s = evolve(s, e)
			}
			seq = record.Seq
		}
		return s, seq, nil
	}
	atMostTwo := func(s state) ([]schemas.Payload, error) {
		if s.prompts == 2 {
			return nil, errors.New("two prompts are enough")
		}
		return []schemas.Payload{schemas.PromptSubmitted{Prompt: "again"}}, nil
	}
	for range 3 {
		s, at, err := bus.Decide(context.Background(), log, load, evolve, atMostTwo, bus.Change{
			Event: schemas.Event{Aggregate: schemas.Session("s"), Actor: schemas.Person("terminal", "terminal")},
		})
		fmt.Println(s.prompts, at.Seq, err)
	}
	// Output:
	// 1 1 <nil>
	// 2 2 <nil>
	// 2 0 two prompts are enough
}
