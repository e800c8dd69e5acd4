package book

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/writbus/writ/schemas"
)

// Whatever the log holds, decided or not, an event changes what Touches names of
// it and looks at nothing else.
func TestAPartIsFoldedAsTheWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := State{Items: map[string]Item{}}
		id := rapid.SampledFrom([]string{"e1", "e2", "t1", "l1", "#1.0", ""})
		for seq := range rapid.IntRange(1, 30).Draw(rt, "events") {
			a, b := id.Draw(rt, "a"), id.Draw(rt, "b")
			p := rapid.SampledFrom([]schemas.Payload{
				schemas.NoteWritten{Text: a},
				schemas.NotesCleared{},
				schemas.EntryAdded{EntryID: a, Kind: "fact", Title: b},
				schemas.EntriesLinked{From: a, To: b, Kind: "needs"},
				schemas.EntryInvalidated{EntryID: a},
				schemas.TodoAdded{TodoID: a, Subject: b},
				schemas.TodoChanged{TodoID: a, Status: b},
				schemas.TodoDeleted{TodoID: a},
				schemas.LessonRecorded{LessonID: a, Signature: b},
				schemas.LessonDeleted{LessonID: a},
				schemas.SchedulePaused{},
			}).Draw(rt, "event")
			made, at := s.Made, schemas.Position{Seq: uint64(seq + 1)}
			s = folded(rt, s, schemas.Event{Time: modelStart, Position: at, Data: p})
			if _, other := p.(schemas.SchedulePaused); s.Made < made || !other && s.Seq != at.Seq {
				rt.Fatalf("after %T at %d: %d made, was %d, at %d", p, at.Seq, s.Made, made, s.Seq)
			}
			for id, item := range s.Items {
				if item.ID != id {
					rt.Fatalf("%q stands under %q", item.ID, id)
				}
			}
		}
	})
}

func TestALinkStandsOnceAtEachEnd(t *testing.T) {
	var s State
	for i, p := range []schemas.Payload{
		schemas.EntryAdded{EntryID: "e1", Kind: "fact"},
		schemas.EntryAdded{EntryID: "e2", Kind: "fact"},
		schemas.EntriesLinked{From: "e1", To: "e2", Kind: "needs"},
		schemas.EntriesLinked{From: "e1", To: "e2", Kind: "needs"},
		schemas.EntriesLinked{From: "e2", To: "e2", Kind: "needs"},
		schemas.EntriesLinked{From: "e1", To: "e9", Kind: "needs"},
	} {
		s = Evolve(s, schemas.Event{Position: schemas.Position{Seq: uint64(i + 1)}, Data: p})
	}
	both, loop, lost := Link{"e1", "e2", "needs"}, Link{"e2", "e2", "needs"}, Link{"e1", "e9", "needs"}
	if got := s.Items["e1"].Links; !reflect.DeepEqual(got, []Link{both, lost}) {
		t.Errorf("e1 has %v", got)
	}
	if got := s.Items["e2"].Links; !reflect.DeepEqual(got, []Link{both, loop}) {
		t.Errorf("e2 has %v", got)
	}
}

func TestRefusals(t *testing.T) {
	text, title := strings.Repeat("x", MaxText+1), strings.Repeat("x", MaxTitle+1)
	entry := Evolve(State{}, schemas.Event{Data: schemas.EntryAdded{EntryID: "e1", Kind: "fact"}})
	note := Evolve(State{}, schemas.Event{Data: schemas.NoteWritten{Text: "x"}})
	for want, c := range map[string]struct {
		in   State
		wish schemas.Payload
	}{
		"the note has 16385 bytes, at most 16384 are kept": {State{}, schemas.NoteWritten{Text: text}},
		"the title has 301 bytes, at most 300 are kept":    {State{}, schemas.EntryAdded{Kind: "x", Title: title[1:], Text: text}},
		"the text has 16385 bytes":                         {State{}, schemas.EntryAdded{Kind: "x", Title: "t", Text: text}},
		"the subject has 301 bytes":                        {State{}, schemas.TodoAdded{Subject: title, Description: text}},
		"the description has 16385 bytes":                  {State{}, schemas.TodoChanged{TodoID: "t1", Subject: title, Description: text}},
		"the signature has 301 bytes":                      {State{}, schemas.LessonRecorded{Signature: title, Text: text}},
		"the lesson has 16385 bytes":                       {State{}, schemas.LessonRecorded{Signature: "s", Text: text}},
		"there is no entry e2":                             {entry, schemas.EntriesLinked{From: "e1", To: "e2", Kind: "needs"}},
		"there is no entry e3":                             {entry, schemas.EntriesLinked{From: "e3", To: "e1", Kind: "needs"}},
		"there is no entry #0.0":                           {note, schemas.EntryInvalidated{EntryID: "#0.0"}},
	} {
		d, err := Decide(c.in, c.wish)
		var refused Refused
		if !errors.As(err, &refused) || !strings.HasPrefix(refused.What, want) || refused.Adapt == "" || len(d.Record) > 0 {
			t.Errorf("%T: %+v, %v, want %s", c.wish, d, err, want)
		}
	}
	for _, p := range []schemas.Payload{nil, schemas.SchedulePaused{}} {
		if d, err := Decide(State{}, p); err == nil || len(d.Record) > 0 {
			t.Errorf("%T: %+v", p, d)
		}
	}
}
