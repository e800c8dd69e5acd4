package book

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

const (
	// MaxText bounds one note, description or lesson, in bytes.
	MaxText = 16 << 10
	// MaxTitle bounds titles and signatures, in bytes.
	MaxTitle = 300
)

// Decision is what Decide answers.
type Decision struct {
	// Record is to be appended, one event. Empty: nothing changes.
	Record []schemas.Payload
	// Message tells what was done, or why there was nothing to do.
	Message string
	// What is the sort of item that was given a number, and ID the number; "" where
	// none was.
	What, ID string
}

// Refused says why what was wanted changes nothing, and what to do instead.
type Refused struct{ What, Adapt string }

func (r Refused) Error() string { return r.What + "; " + r.Adapt }

// Decide answers an event that somebody wants in a book as it is; items that it
// adds are without a number. A refusal is a Refused; the only other error is that
// of an event that no book has.
func Decide(s State, want schemas.Payload) (Decision, error) {
	if err := tooLong(want); err != nil {
		return Decision{}, err
	}
	switch p := want.(type) {
	case schemas.NoteWritten:
		return done(p, "added")
	case schemas.NotesCleared:
		notes := len(s.Notes())
		if notes == 0 {
			return Decision{Message: "there are no notes"}, nil
		}
		return done(p, fmt.Sprintf("took %d note(s) out", notes))
	case schemas.EntryAdded:
		p.EntryID = s.next("e")
		return Decision{[]schemas.Payload{p}, "entry " + p.EntryID + " added", "entry", p.EntryID}, nil
	case schemas.EntriesLinked:
		for _, id := range []string{p.From, p.To} {
			if !s.Items[id].Entry() {
				return noEntry(id)
			}
		}
		return done(p, fmt.Sprintf("linked %s to %s (%s)", p.From, p.To, p.Kind))
	case schemas.EntryInvalidated:
		switch entry := s.Items[p.EntryID]; {
		case !entry.Entry():
			return noEntry(p.EntryID)
		case entry.Status == Invalid:
			return Decision{Message: p.EntryID + " is marked already"}, nil
		}
		return done(p, p.EntryID+" is marked as no longer true")
	case schemas.TodoAdded:
		p.TodoID = s.next("t")
		return Decision{[]schemas.Payload{p}, "task " + p.TodoID + " added", "todo", p.TodoID}, nil
	case schemas.TodoChanged:
		return s.task(p, p.TodoID, changed(p))
	case schemas.TodoDeleted:
		return s.task(p, p.TodoID, "is taken out")
	case schemas.LessonRecorded:
		return s.lesson(p)
	case schemas.LessonDeleted:
		if _, found := s.Items[p.LessonID]; !found {
			return Decision{}, Refused{"there is no lesson " + p.LessonID, "/lesson list shows them"}
		}
		return done(p, "lesson "+p.LessonID+" is taken out")
	}
	return Decision{}, fmt.Errorf("book: %T is no event of a book", want)
}

func done(p schemas.Payload, message string) (Decision, error) {
	return Decision{Record: []schemas.Payload{p}, Message: message}, nil
}

func noEntry(id string) (Decision, error) {
	return Decision{}, Refused{"there is no entry " + id, "/mem entries lists them"}
}

// next is the number of the next item of a book.
func (s State) next(letter string) string { return fmt.Sprintf("%s%d", letter, s.Made+1) }

// task decides about a task that has to be there.
func (s State) task(p schemas.Payload, id, message string) (Decision, error) {
	if _, found := s.Items[id]; !found {
		return Decision{}, Refused{"there is no task " + id, "/todo list shows them"}
	}
	return done(p, id+" "+message)
}

// changed tells what became of a task.
func changed(p schemas.TodoChanged) string {
	switch {
	case p.Status != "":
		return "is " + p.Status
	case p.Description != "":
		return "has a new description"
	}
	return "has a new subject"
}

// lesson keeps a lesson, unless another one says the same.
func (s State) lesson(p schemas.LessonRecorded) (Decision, error) {
	for _, l := range s.All() {
		if excerpt.Line(l.Title) == excerpt.Line(p.Signature) && excerpt.Line(l.Text) == excerpt.Line(p.Text) {
			return Decision{Message: "lesson " + l.ID + " says so already"}, nil
		}
	}
	p.LessonID, p.Text = s.next("l"), strings.TrimSpace(p.Text)
	return Decision{[]schemas.Payload{p}, "lesson " + p.LessonID + " kept; it is shown again when it matters", "lesson", p.LessonID}, nil
}

// tooLong refuses an event with a text beyond its bound.
func tooLong(want schemas.Payload) error {
	switch p := want.(type) {
	case schemas.NoteWritten:
		return Fits("note", p.Text, MaxText)
	case schemas.EntryAdded:
		return cmp.Or(Fits("title", p.Kind+p.Title, MaxTitle), Fits("text", p.Text, MaxText))
	case schemas.TodoAdded:
		return cmp.Or(Fits("subject", p.Subject, MaxTitle), Fits("description", p.Description, MaxText))
	case schemas.TodoChanged:
		return cmp.Or(Fits("description", p.Description, MaxText), Fits("subject", p.Subject, MaxTitle))
	case schemas.LessonRecorded:
		return cmp.Or(Fits("signature", p.Signature, MaxTitle), Fits("lesson", p.Text, MaxText))
	}
	return nil
}

// Fits refuses a text beyond its bound.
func Fits(what, text string, most int) error {
	if len(text) <= most {
		return nil
	}
	return Refused{fmt.Sprintf("the %s has %d bytes, at most %d are kept", what, len(text), most), "keep the essence of it"}
}
