package agent

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writbus/writ/observer/agent/book"
	"github.com/writbus/writ/observer/agent/verbs"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// ask runs one command of a book.
func (b *books) ask(t testing.TB, agent, command string, body ...string) verbs.Result {
	t.Helper()
	verb, args := cutWord(strings.TrimPrefix(command, "/"))
	call := verbs.NewCall(verb, args, nil)
	if len(body) > 0 {
		call.Body = []byte(body[0])
	}
	call.Agent, call.Workspace, call.Run = agent, "/w", "r1"
	r, err := (&Books{Log: b.writer(), Views: b, Find: byWords{}}).Handlers()[verb].Handle(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Each step is a command of an agent and what its result says.
func TestBooks(t *testing.T) {
	for name, steps := range map[string][][]string{
		"notes": {
			{"dev", "/mem read", "OK: there are no notes"},
			{"dev", "/mem write the build needs make", "OK: added to your notes"},
			{"dev", "/mem write second", "OK:"},
			{"dev", "/mem read", "- 2026-11-21 12:00 dev: second\n- 2026-11-21 12:00 dev: the build needs make\n"},
			{"ops", "/mem read", "there are no notes"},
			{"ops", "/mem shared write for all", "OK: added to the shared notes"},
			{"dev", "/mem shared read", "ops: for all"},
			{"dev", "/mem search build", "note of dev: the build needs make"},
			{"dev", "/mem clear", "OK: took 2 note(s) out of your notes"},
			{"dev", "/mem clear", "there are no notes"},
			{"dev", "/mem shared clear", "took 1 note(s)"},
			{"dev", "/mem write", "ERR: /mem write is not understood. Adapt: write /mem write TEXT."},
			{"dev", "/mem read x", "ERR:"},
			{"dev", "/mem nonsense", "ERR: /mem nonsense names no sub-verb"},
			{"dev", "/mem write " + strings.Repeat("x", book.MaxText+1), "ERR: the note has"},
		},
		"entries": {
			{"dev", "/mem add entry fact Go builds fast", "OK: entry e1 added", "Because.\nReally.\n"},
			{"ops", "/mem add entry decision Use make", "OK: entry e2 added", ""},
			{"dev", "/mem add entry fact", "ERR: an entry needs a type and a title", "x"},
			{"dev", "/mem add link e1 e2 supports", "OK: linked e1 to e2 (supports)"},
			{"dev", "/mem add link e1 e9", "ERR: there is no entry e9"},
			{"dev", "/mem add link e1 e1", "ERR:"},
			{"dev", "/mem entries", "- e2 decision: Use make\n- e1 fact: Go builds fast\n"},
			{"dev", "/mem entries fact", "- e1 fact: Go builds fast\n"},
			{"dev", "/mem entries none", "OK: there are no entries none"},
			{"dev", "/mem entry e1", "- e1 fact: Go builds fast\n    Because.\n    Really.\n→ supports e2 decision: Use make\n"},
			{"dev", "/mem expand e2", "← supports e1 fact: Go builds fast\n    Because.\n    Really.\n"},
			{"dev", "/mem density", "OK: 2 entries, 1 links, 1.00 per entry"},
			{"dev", "/mem search make", "- e2 decision: Use make\n"},
			{"dev", "/mem invalidate e2", "OK: e2 is marked as no longer true"},
			{"dev", "/mem invalidate e2", "marked already"},
			{"dev", "/mem invalidate e7", "ERR: there is no entry e7"},
			{"dev", "/mem search make", "OK: nothing found"},
			{"dev", "/mem show", "- e2 decision: Use make (no longer true)"},
			{"dev", "/mem entry", "ERR:"},
		},
		"todos": {
			{"dev", "/todo list", "OK: there are no tasks"},
			{"dev", "/todo add  write   the parser ", "OK: task t1 added", "with care\n"},
			{"dev", "/todo add test it", "OK: task t2 added"},
			{"ops", "/todo list", "no tasks"},
			{"dev", "/todo start t1", "OK: t1 is started"},
			{"dev", "/todo list", "[~] t1 write the parser\n    with care\n[ ] t2 test it\n"},
			{"dev", "/todo done t1", "OK: t1 is done"},
			{"dev", "/todo cancel t2", "OK:"},
			{"dev", "/todo subject t2 test all of it", "OK:"},
			{"dev", "/todo describe t2 slowly", "OK:"},
			{"dev", "/todo list", "[x] t1 write the parser\n    with care\n[-] t2 test all of it\n    slowly\n"},
			{"dev", "/todo delete t1", "OK: t1 is taken out"},
			{"dev", "/todo delete t1", "ERR: there is no task t1"},
			{"dev", "/todo done", "ERR: /todo done is not understood. Adapt: write /todo done ID."},
			{"dev", "/todo describe t2", "ERR:"},
			{"dev", "/todo done t2 now", "ERR:"},
			{"dev", "/todo add third", "OK: task t3 added"},
		},
		"lessons": {
			{"dev", "/lesson flaky clock test: inject the clock", "OK: lesson l1 kept"},
			{"dev", "/lesson flaky clock  test: inject   the clock", "OK: lesson l1 says so already"},
			{"ops", "/lesson lost port", "OK: lesson l2 kept", "Bind port 0\nand ask.\n"},
			{"ops", "/lesson list", "- l1 flaky clock test\n    inject the clock\n- l2 lost port\n    Bind port 0\n    and ask.\n"},
			{"ops", "/lesson search clock", "- l1 flaky"},
			{"ops", "/lesson search nothing-of-it", "OK: there are no lessons about that"},
			{"ops", "/lesson only a signature", "ERR: a lesson needs a signature and a text"},
			{"ops", "/lesson delete l1", "OK: lesson l1 is taken out"},
			{"ops", "/lesson delete l1", "ERR: there is no lesson l1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBooks(func() time.Time { return noon })
			for _, s := range steps {
				r := b.ask(t, s[0], s[1], s[3:]...)
				if !strings.Contains(r.Text, s[2]) {
					t.Fatalf("%s: %q, want %q", s[1][:min(len(s[1]), 60)], r.Text, s[2])
				}
				if said := strings.HasPrefix(r.Text, "OK:") || strings.HasPrefix(r.Text, "ERR:"); said == (r.Trust != "") {
					t.Errorf("%s: trust %q", s[1], r.Trust)
				}
				if (r.Outcome == verbs.Failed) != strings.HasPrefix(r.Text, "ERR:") {
					t.Errorf("%s: outcome %q of %q", s[1], r.Outcome, r.Text)
				}
			}
		})
	}
}

// Numbers are given once, although many give them, and each of them finds what it
// added.
func TestNumbersAreGivenOnce(t *testing.T) {
	b := newBooks(func() time.Time { return noon })
	var wait sync.WaitGroup
	for i := range 5 {
		wait.Go(func() { b.ask(t, "dev", fmt.Sprintf("/todo add task %d", i)) })
	}
	wait.Wait()
	list := b.ask(t, "dev", "/todo list").Text
	for i := range 5 {
		if !strings.Contains(list, fmt.Sprintf("task %d\n", i)) || !strings.Contains(list, fmt.Sprintf("t%d ", i+1)) {
			t.Errorf("task %d or number t%d is not in\n%s", i, i+1, list)
		}
	}
}

// Who is overtaken between reading and appending decides anew, and takes nothing
// back.
func TestTheOvertakenDecideAnew(t *testing.T) {
	for _, c := range []struct{ before, first, then, says, show, shows string }{
		{"", "/todo add one", "/todo add two", "task t2 added", "/todo list", "[ ] t1 one\n[ ] t2 two\n"},
		{"/todo add one", "/todo delete t1", "/todo done t1", "there is no task t1", "/todo list", "OK: there are no tasks"},
		{"/todo add one", "/todo start t1", "/todo subject t1 uno", "t1 has a new subject", "/todo list", "[~] t1 uno\n"},
		{"", "/lesson a: b", "/lesson a: b", "lesson l1 says so already", "/lesson list", "- l1 a\n    b\n"},
		{"/lesson a: b", "/lesson delete l1", "/lesson delete l1", "there is no lesson l1", "/lesson list", "OK: there are no lessons"},
		{"/mem write a", "/mem write b", "/mem clear", "took 2 note(s) out of your notes", "/mem read", "OK: there are no notes"},
		{"/mem write a", "/mem clear", "/mem clear", "OK: there are no notes", "/mem read", "OK: there are no notes"},
		{"", "/mem add entry fact one", "/mem add entry fact two", "entry e2 added", "/mem entries", "- e2 fact: two\n- e1 fact: one\n"},
		{"/mem add entry fact one", "/mem invalidate e1", "/mem invalidate e1", "e1 is marked already", "/mem entries", "- e1 fact: one (no longer true)\n"},
	} {
		t.Run(c.then, func(t *testing.T) {
			b := newBooks(func() time.Time { return noon })
			if c.before != "" {
				b.ask(t, "dev", c.before)
			}
			b.overtake = func() { b.ask(t, "dev", c.first) }
			if got := b.ask(t, "dev", c.then).Text; !strings.Contains(got, c.says) {
				t.Errorf("%q, want %q", got, c.says)
			}
			if got := b.ask(t, "dev", c.show).Text; got != c.shows {
				t.Errorf("%q, want %q", got, c.shows)
			}
		})
	}
}

func TestPitfalls(t *testing.T) {
	b := newBooks(func() time.Time { return noon })
	b.ask(t, "dev", "/lesson clock in tests: inject it")
	b.ask(t, "dev", "/lesson long one", strings.Repeat("word\n", 1000))
	books := &Books{Log: b.writer(), Views: b, Find: byWords{}}
	block, err := books.Pitfalls(t.Context(), "/w", "a test with a clock")
	if err != nil || block != pitfallsHeading+"- clock in tests: inject it" {
		t.Errorf("%q %v", block, err)
	}
	if block, err := books.Pitfalls(t.Context(), "/other", "clock"); block != "" || err != nil {
		t.Errorf("%q %v", block, err)
	}
	if block, _ := books.Pitfalls(t.Context(), "/w", "long"); len(block) > 1000 || !strings.Contains(block, "shows it whole") {
		t.Errorf("%d bytes", len(block))
	}
}
