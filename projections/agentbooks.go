package projections

import (
	"cmp"
	"slices"
	"time"

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

// BookHead says where a book stands: what a change to it expects, and how many
// things were ever numbered in it.
type BookHead struct {
	Seq  uint64 `json:"seq"` // of the book's last event
	Made int    `json:"made"`
}

// Head returns where a book stands in a view of books; the zero value for one
// without events.
func Head(r Reader, book schemas.Aggregate) (BookHead, error) {
	head, _, err := getDocument[BookHead](r, idKey('c', book.ID))
	return head, err
}

// turnPage moves a book's head to an event that made so many things.
func turnPage(v View, e schemas.Event, made int) error {
	key := idKey('c', e.Aggregate.ID)
	head, _, err := getDocument[BookHead](v, key)
	if err != nil {
		return err
	}
	head.Seq, head.Made = e.Position.Seq, head.Made+made
	return setDocument(v, key, head)
}

// AgentNotes is the notes and entries of agents. A query helper takes a Reader of
// ViewAgentNotes.
//
//	c/<book>              BookHead
//	n/<book>/<seq><part>  Note
//	e/<book>/<entry>      NoteEntry
type AgentNotes struct{}

// Note is one note.
type Note struct {
	Text  string    `json:"text"`
	Agent string    `json:"agent,omitempty"`
	Time  time.Time `json:"time"`
}

// NoteEntry is one entry with the links it is an end of.
type NoteEntry struct {
	ID      string      `json:"id"`
	Kind    string      `json:"kind"`
	Title   string      `json:"title"`
	Text    string      `json:"text,omitempty"`
	Agent   string      `json:"agent,omitempty"`
	Time    time.Time   `json:"time"`
	Seq     uint64      `json:"seq"`
	Links   []EntryLink `json:"links,omitempty"`
	Invalid bool        `json:"invalid,omitempty"` // it is no longer true
}

// EntryLink is a link between two entries.
type EntryLink struct {
	From string `json:"from"`
	To   string `json:"to"`
	Kind string `json:"kind"`
}

// NewAgentNotes returns the view.
func NewAgentNotes() AgentNotes { return AgentNotes{} }

// Name implements Projector.
func (AgentNotes) Name() string { return ViewAgentNotes }

// Version implements Projector.
func (AgentNotes) Version() int { return 1 }

// Types implements Projector.
func (AgentNotes) Types() []schemas.Type {
	return []schemas.Type{
		schemas.NoteWritten{}.EventType(), schemas.NotesCleared{}.EventType(), schemas.EntryAdded{}.EventType(),
		schemas.EntriesLinked{}.EventType(), schemas.EntryInvalidated{}.EventType(),
	}
}

// Apply implements Projector.
func (AgentNotes) Apply(v View, e schemas.Event) error {
	book, made := e.Aggregate.ID, 0
	var err error
	switch p := e.Data.(type) {
	case schemas.NoteWritten:
		key := ordinal(ordinal(idPrefix('n', book), e.Position.Seq), uint64(e.Position.Part))
		err = setDocument(v, key, Note{p.Text, p.Agent, e.Time})
	case schemas.NotesCleared:
		err = deleteAll(v, idPrefix('n', book))
	case schemas.EntryAdded:
		made = 1
		err = setDocument(v, idKey('e', book, p.EntryID), NoteEntry{
			ID: p.EntryID, Kind: p.Kind, Title: p.Title, Text: p.Text, Agent: p.Agent, Time: e.Time, Seq: e.Position.Seq,
		})
	case schemas.EntriesLinked:
		err = linkEntries(v, book, EntryLink{p.From, p.To, p.Kind})
	case schemas.EntryInvalidated:
		err = changeDocument(v, idKey('e', book, p.EntryID), func(entry *NoteEntry) { entry.Invalid = true })
	}
	if err != nil {
		return err
	}
	return turnPage(v, e, made)
}

func linkEntries(v View, book string, link EntryLink) error {
	for _, end := range []string{link.From, link.To} {
		err := changeDocument(v, idKey('e', book, end), func(entry *NoteEntry) {
			if !slices.Contains(entry.Links, link) {
				entry.Links = append(entry.Links, link)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// changeDocument changes a document that is there, and leaves one alone that is
// not.
func changeDocument[T any](v View, key []byte, change func(*T)) error {
	doc, found, err := getDocument[T](v, key)
	if err != nil || !found {
		return err
	}
	change(&doc)
	return setDocument(v, key, doc)
}

func deleteAll(v View, prefix []byte) error {
	var keys [][]byte
	for e, err := range v.Scan(prefix) {
		if err != nil {
			return err
		}
		keys = append(keys, slices.Clone(e.Key))
	}
	for _, key := range keys {
		if err := v.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

// Notes returns the notes of a book, oldest first.
func (AgentNotes) Notes(r Reader, book schemas.Aggregate) ([]Note, error) {
	return collect[Note](r, idPrefix('n', book.ID))
}

// Entries returns the entries of a book, oldest first.
func (AgentNotes) Entries(r Reader, book schemas.Aggregate) ([]NoteEntry, error) {
	all, err := collect[NoteEntry](r, idPrefix('e', book.ID))
	slices.SortFunc(all, func(a, b NoteEntry) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ID, b.ID)) })
	return all, err
}

// Entry returns one entry of a book.
func (AgentNotes) Entry(r Reader, book schemas.Aggregate, id string) (NoteEntry, bool, error) {
	return getDocument[NoteEntry](r, idKey('e', book.ID, id))
}

func collect[T any](r Reader, prefix []byte) ([]T, error) {
	var all []T
	for doc, err := range documents[T](r, prefix) {
		if err != nil {
			return nil, err
		}
		all = append(all, doc)
	}
	return all, nil
}
