package projections_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/writbus/writ/observer/agent/book"
	"github.com/writbus/writ/observer/agent/schedule"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

func TestNotesAndEntries(t *testing.T) {
	l := &script{memoryLog: newMemoryLog()}
	own, shared := schemas.NoteBook("/w", "dev"), schemas.NoteBook("/w", "")
	l.add(own, schemas.NoteWritten{Text: "one", Agent: "dev"})
	l.add(shared, schemas.NoteWritten{Text: "for all"})
	l.add(own, schemas.NoteWritten{Text: "two"}, schemas.NoteWritten{Text: "three"})
	l.add(shared, schemas.EntryAdded{EntryID: "e1", Kind: "fact", Title: "A"})
	l.add(shared, schemas.EntryAdded{EntryID: "e2", Kind: "fact", Title: "B"})
	l.add(shared, schemas.EntriesLinked{From: "e1", To: "e2", Kind: "needs"})
	l.add(shared, schemas.EntriesLinked{From: "e1", To: "e9", Kind: "needs"})
	l.add(shared, schemas.EntryInvalidated{EntryID: "e2"})
	w, _, _ := projections.NewAgentBooks(book.Touches, book.Evolve)
	r := view(t, l.memoryLog, w)
	mine, err := w.Whole(r, own)
	if notes := mine.Notes(); err != nil || len(notes) != 3 || notes[0].Text != "one" || notes[2].Text != "three" {
		t.Errorf("%v %v", notes, err)
	}
	all, err := w.Whole(r, shared)
	if entries := all.Entries(); err != nil || len(entries) != 2 || len(entries[1].Links) != 1 || entries[1].Status != book.Invalid || len(entries[0].Links) != 2 {
		t.Errorf("%s %v", asJSON(t, entries), err)
	}
	if all.Seq != 8 || all.Made != 2 {
		t.Errorf("%+v", all)
	}
	part, err := w.Part(r, shared, schemas.EntryInvalidated{EntryID: "e2"})
	if err != nil || part.Seq != 8 || part.Made != 2 || len(part.Items) != 1 || part.Items["e2"].Title != "B" {
		t.Errorf("%+v %v", part, err)
	}
	if none, err := w.Whole(r, schemas.NoteBook("/other", "")); err != nil || none.Seq != 0 || len(none.Items) != 0 {
		t.Errorf("%+v %v", none, err)
	}
}

func TestNotesAreCleared(t *testing.T) {
	l := &script{memoryLog: newMemoryLog()}
	a, b := schemas.NoteBook("/w", "a"), schemas.NoteBook("/w", "ab")
	l.add(a, schemas.NoteWritten{Text: "one"})
	l.add(b, schemas.NoteWritten{Text: "stays"})
	l.add(a, schemas.NotesCleared{})
	l.add(a, schemas.NoteWritten{Text: "later"})
	w, _, _ := projections.NewAgentBooks(book.Touches, book.Evolve)
	r := view(t, l.memoryLog, w)
	got, _ := w.Whole(r, a)
	other, _ := w.Whole(r, b)
	if notes := got.Notes(); len(notes) != 1 || notes[0].Text != "later" || len(other.Items) != 1 {
		t.Errorf("%v %v", got, other)
	}
}

func TestTodosAndLessons(t *testing.T) {
	l := &script{memoryLog: newMemoryLog()}
	tasks, lessons := schemas.TodoBook("/w", "dev"), schemas.LessonBook("/w")
	l.add(tasks, schemas.TodoAdded{TodoID: "t1", Subject: "a"})
	l.add(tasks, schemas.TodoAdded{TodoID: "t2", Subject: "b", Description: "long"})
	l.add(tasks, schemas.TodoChanged{TodoID: "t1", Status: "done"})
	l.add(tasks, schemas.TodoChanged{TodoID: "t9", Status: "done"})
	l.add(tasks, schemas.TodoDeleted{TodoID: "t2"})
	l.add(lessons, schemas.LessonRecorded{LessonID: "l1", Signature: "s", Text: "x"})
	l.add(lessons, schemas.LessonRecorded{LessonID: "l2", Signature: "s", Text: "y"})
	l.add(lessons, schemas.LessonDeleted{LessonID: "l1"})
	_, todos, learnt := projections.NewAgentBooks(book.Touches, book.Evolve)
	r := view(t, l.memoryLog, todos)
	all, err := todos.Whole(r, tasks)
	if task := all.Items["t1"]; err != nil || len(all.Items) != 1 || task.Status != "done" || task.Title != "a" {
		t.Errorf("%s %v", asJSON(t, all), err)
	}
	if all.Made != 2 || all.Seq != 5 {
		t.Errorf("%+v: a number would be given twice", all)
	}
	rl := view(t, l.memoryLog, learnt)
	if got, err := learnt.Whole(rl, lessons); err != nil || len(got.Items) != 1 || got.Items["l2"].Text != "y" {
		t.Errorf("%v %v", got, err)
	}
}

// What a view stores of the parts that events touch is the fold of the whole book.
func TestABookIsItsFold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l, a := &script{memoryLog: newMemoryLog()}, schemas.NoteBook("/w", "dev")
		var payloads []schemas.Payload
		for range rapid.IntRange(1, 30).Draw(rt, "events") {
			payloads = append(payloads, drawAgentPayload(rt))
			l.add(a, payloads[len(payloads)-1])
		}
		notes, todos, lessons := projections.NewAgentBooks(book.Touches, book.Evolve)
		for _, w := range []projections.AgentBooks[book.State, book.Item]{notes, todos, lessons} {
			want := book.State{Items: map[string]book.Item{}}
			for i, p := range payloads {
				if slices.Contains(w.Types(), p.EventType()) {
					at := schemas.Position{Stream: schemas.StreamAgents, Seq: uint64(i + 1)}
					want = book.Evolve(want, schemas.Event{Data: p, Time: epoch.Add(time.Duration(i+1) * time.Minute), Position: at})
				}
			}
			got, err := w.Whole(view(t, l.memoryLog, w), a)
			if err != nil || asJSON(t, got) != asJSON(t, want) {
				rt.Fatalf("%s: %v\n%s\nwant\n%s", w.Name(), err, asJSON(t, got), asJSON(t, want))
			}
		}
	})
}

func TestSchedules(t *testing.T) {
	l := &script{memoryLog: newMemoryLog()}
	a := schemas.AgentSchedule("s1")
	l.add(schemas.AgentSchedule("s2"), schemas.ScheduleFired{At: epoch, Run: "r"}) // was never added
	added := schemas.ScheduleAdded{ScheduleID: "s1", Line: "hourly: x", Zone: "UTC", Agent: "a", File: "/a.json", Workspace: "/w"}
	l.add(a, added)
	l.add(a, schemas.SchedulePaused{})
	l.add(a, schemas.ScheduleResumed{})
	l.add(a, schemas.ScheduleFired{At: epoch.Add(time.Hour), Run: "r1", Missed: 2})
	l.add(a, schemas.ScheduleAdded{ScheduleID: "s1", Line: "daily: y", Zone: "UTC", Agent: "b", File: "/a.json", Workspace: "/w"})
	changes := 0
	w := projections.NewAgentSchedules(schedule.Evolve, func() { changes++ })
	r := view(t, l.memoryLog, w)
	s, found, err := w.Schedule(r, "s1")
	if err != nil || !found || s.Added.Line != "hourly: x" || s.Seq != 5 || s.Fired != 1 || s.Last.Missed != 2 || s.Paused || !s.Resumed.Equal(epoch.Add(4*time.Minute)) {
		t.Errorf("%s %v %v", asJSON(t, s), found, err)
	}
	n := 0
	for _, err := range w.All(r) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 1 || changes == 0 {
		t.Errorf("%d schedules, %d changes", n, changes)
	}
}

func TestRunsAndArtifacts(t *testing.T) {
	l := &script{memoryLog: newMemoryLog()}
	one, two := schemas.AgentRun("one"), schemas.AgentRun("two")
	l.add(schemas.AgentRun("nobody's"), schemas.CommandDispatched{CommandID: "c", Verb: "read"})
	l.add(one, schemas.AgentStarted{Agent: "a", Trigger: "run", Message: "do"})
	l.add(two, schemas.AgentStarted{Agent: "b", Trigger: "agent", Parent: "one"})
	l.add(two, schemas.AgentReplied{Turn: 1, Text: "x", OutputTokens: 5, Model: "m"}, schemas.DiagnosticReported{Kind: "indented"})
	l.add(two, schemas.AgentFinished{Outcome: "answered"})
	l.add(one, schemas.CommandDenied{CommandID: "d", Verb: "exec", Reason: "no"})
	for i := range 11 {
		l.add(one, schemas.ArtifactKept{ArtifactID: fmt.Sprint(i + 1), Name: "p", Size: 2, Content: []byte{0, byte(i)}})
	}
	w := projections.AgentRuns{}
	r := view(t, l.memoryLog, w)
	var all []string
	for s, err := range w.List(r) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(s.Run, s.Agent, s.Outcome, s.Calls, s.Denied, s.Tokens, s.Parent))
	}
	if want := []string{"onea0 1 0", "twobanswered1 0 5one"}; !slices.Equal(all, want) {
		t.Errorf("%q, want %q", all, want)
	}
	if working, err := w.AtWork(r); err != nil || len(working) != 1 || working[0].Run != "one" {
		t.Errorf("%v %v", working, err)
	}
	artifacts := projections.AgentArtifacts{}
	ra := view(t, l.memoryLog, artifacts)
	list, err := artifacts.List(ra, "one")
	if err != nil || len(list) != 11 || list[1].ID != "2" || list[10].ID != "11" {
		t.Errorf("%v %v", list, err)
	}
	if a, content, found, err := artifacts.Artifact(ra, "one", "11"); err != nil || !found || a.Name != "p" || !slices.Equal(content, []byte{0, 10}) {
		t.Errorf("%v %v %v", content, found, err)
	}
	if _, _, found, err := artifacts.Artifact(ra, "two", "1"); found || err != nil {
		t.Errorf("%v %v", found, err)
	}
}
