package projections

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/writbus/writ/schemas"
)

// Names of the views of what agents keep. Persisted: a new name is a new view.
const (
	ViewAgentNotes     = "agent-notes"
	ViewAgentTodos     = "agent-todos"
	ViewAgentLessons   = "agent-lessons"
	ViewAgentSchedules = "agent-schedules"
	ViewAgentArtifacts = "agent-artifacts"
	ViewAgentRuns      = "agent-runs"
)

// Book is a book of agents as its events leave it, or the part of it that was
// read: any struct with these fields, so that a fold and its state need not know
// of the views. What the events mean is not decided here: the fold is handed in.
type Book[I any] interface {
	~struct {
		Seq   uint64       // of the book's last event
		Made  int          // how many items were ever numbered in it
		Items map[string]I // by id
	}
}

// book is the shape that every Book has.
type book[I any] struct {
	Seq   uint64
	Made  int
	Items map[string]I
}

// bookHead says where a book stands.
type bookHead struct {
	Seq  uint64 `json:"seq"`
	Made int    `json:"made"`
}

// AgentBooks is the books that agents keep, of one sort. A query helper takes a
// Reader of that view.
//
//	c/<book>         bookHead
//	i/<book>/<item>  I
type AgentBooks[S Book[I], I any] struct {
	name    string
	types   []schemas.Type
	touches func(schemas.Payload) (ids []string, all bool)
	evolve  func(S, schemas.Event) S
}

// NewAgentBooks returns the views of a fold: notes with entries, tasks, lessons.
// touches names the items that an event changes. evolve cannot fail and depends on
// its arguments alone, and of the items only on those; I is stored as JSON.
func NewAgentBooks[S Book[I], I any](touches func(schemas.Payload) (ids []string, all bool), evolve func(S, schemas.Event) S) (notes, todos, lessons AgentBooks[S, I]) {
	notes = AgentBooks[S, I]{ViewAgentNotes, []schemas.Type{
		schemas.NoteWritten{}.EventType(), schemas.NotesCleared{}.EventType(), schemas.EntryAdded{}.EventType(),
		schemas.EntriesLinked{}.EventType(), schemas.EntryInvalidated{}.EventType(),
	}, touches, evolve}
	todos = AgentBooks[S, I]{ViewAgentTodos, []schemas.Type{
		schemas.TodoAdded{}.EventType(), schemas.TodoChanged{}.EventType(), schemas.TodoDeleted{}.EventType(),
	}, touches, evolve}
	lessons = AgentBooks[S, I]{ViewAgentLessons, []schemas.Type{
		schemas.LessonRecorded{}.EventType(), schemas.LessonDeleted{}.EventType(),
	}, touches, evolve}
	return notes, todos, lessons
}

// Name implements Projector.
func (w AgentBooks[S, I]) Name() string { return w.name }

// Version implements Projector.
func (AgentBooks[S, I]) Version() int { return 2 }

// Types implements Projector.
func (w AgentBooks[S, I]) Types() []schemas.Type { return w.types }

// Apply implements Projector. It folds the part of the book that the event
// touches, and stores the difference.
func (w AgentBooks[S, I]) Apply(v View, e schemas.Event) error {
	part, err := w.Part(v, e.Aggregate, e.Data)
	if err != nil {
		return err
	}
	was, is := book[I](part), book[I](w.evolve(part, e))
	for id := range was.Items {
		if _, stays := is.Items[id]; !stays {
			if err := v.Delete(idKey('i', e.Aggregate.ID, id)); err != nil {
				return err
			}
		}
	}
	for id, item := range is.Items {
		if before, had := was.Items[id]; !had || !reflect.DeepEqual(before, item) {
			if err := setDocument(v, idKey('i', e.Aggregate.ID, id), item); err != nil {
				return err
			}
		}
	}
	return setDocument(v, idKey('c', e.Aggregate.ID), bookHead{is.Seq, is.Made})
}

// Part returns the part of a book that an event touches.
func (w AgentBooks[S, I]) Part(r contents, a schemas.Aggregate, p schemas.Payload) (S, error) {
	ids, all := w.touches(p)
	if all {
		return w.Whole(r, a)
	}
	part, err := pageOf[I](r, a)
	for _, id := range ids {
		item, found, fault := getDocument[I](r, idKey('i', a.ID, id))
		if fault != nil {
			return S(part), fault
		}
		if found {
			part.Items[id] = item
		}
	}
	return S(part), err
}

// Whole returns a book with all of its items.
func (w AgentBooks[S, I]) Whole(r contents, a schemas.Aggregate) (S, error) {
	whole, err := pageOf[I](r, a)
	if err != nil {
		return S(whole), err
	}
	prefix := idPrefix('i', a.ID)
	for e, err := range r.Scan(prefix) {
		var id string
		var item I
		if err == nil {
			id, err = schemas.DecodeToken(string(e.Key[len(prefix):]))
		}
		if err == nil {
			err = json.Unmarshal(e.Value, &item)
		}
		if err != nil {
			return S(whole), fmt.Errorf("projections: item %q: %w", e.Key, err)
		}
		whole.Items[id] = item
	}
	return S(whole), nil
}

// pageOf returns a book without its items.
func pageOf[I any](from getter, a schemas.Aggregate) (book[I], error) {
	head, _, err := getDocument[bookHead](from, idKey('c', a.ID))
	return book[I]{head.Seq, head.Made, map[string]I{}}, err
}
