package schemas

import (
	"github.com/writbus/writ/schemas/digest"
)

func registerAgentBooks(add func(Type, definition)) {
	add(define[NoteWritten](KindAgent))
	add(define[NotesCleared](KindAgent))
	add(define[EntryAdded](KindAgent))
	add(define[EntriesLinked](KindAgent))
	add(define[EntryInvalidated](KindAgent))
	add(define[TodoAdded](KindAgent))
	add(define[TodoChanged](KindAgent))
	add(define[TodoDeleted](KindAgent))
	add(define[LessonRecorded](KindAgent))
	add(define[LessonDeleted](KindAgent))
}

// Kinds of books: what agents keep across conversations. They begin the ids of
// aggregates. Persisted; never change.
const (
	bookNotes   = "notes "
	bookTodos   = "todos "
	bookLessons = "lessons "
)

// maxScope is how much of a workspace's path stands in an aggregate's id as it
// is; a longer one is named by its digest.
const maxScope = 256

// NoteBook returns the aggregate of an agent's notes and entries in a
// workspace; an agent "" is the book that all share.
func NoteBook(workspace, agent string) Aggregate { return book(bookNotes, workspace, agent) }

// TodoBook returns the aggregate of an agent's tasks in a workspace.
func TodoBook(workspace, agent string) Aggregate { return book(bookTodos, workspace, agent) }

// LessonBook returns the aggregate of a workspace's lessons, which all agents
// share.
func LessonBook(workspace string) Aggregate { return book(bookLessons, workspace, "") }

func book(kind, workspace, agent string) Aggregate {
	return Aggregate{KindAgent, kind + bounded(agent) + " " + bounded(workspace)}
}

func bounded(name string) string {
	if len(name) <= maxScope/2 {
		return name
	}
	return "sha256:" + digest.Hex(name)
}

// NoteWritten adds a note to a book.
type NoteWritten struct {
	Text  string `json:"text"`
	Agent string `json:"agent,omitempty"`
	Run   string `json:"run,omitempty"`
}

// EventType names the event "note.written".
func (NoteWritten) EventType() Type { return "note.written" }

// Check requires the text.
func (p NoteWritten) Check() error { return require("text", p.Text) }

// NotesCleared takes all notes out of a book; its entries stay.
type NotesCleared struct {
	Agent string `json:"agent,omitempty"`
	Run   string `json:"run,omitempty"`
}

// EventType names the event "notes.cleared".
func (NotesCleared) EventType() Type { return "notes.cleared" }

// EntryAdded adds an entry to a book.
type EntryAdded struct {
	EntryID string `json:"entry_id"`
	Kind    string `json:"kind"` // the agent's own word, such as fact or decision
	Title   string `json:"title"`
	Text    string `json:"text,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Run     string `json:"run,omitempty"`
}

// EventType names the event "entry.added".
func (EntryAdded) EventType() Type { return "entry.added" }

// Check requires id, kind and title.
func (p EntryAdded) Check() error {
	return require("entry_id", p.EntryID, "kind", p.Kind, "title", p.Title)
}

// EntriesLinked links two entries of a book.
type EntriesLinked struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Kind  string `json:"kind"`
	Agent string `json:"agent,omitempty"`
	Run   string `json:"run,omitempty"`
}

// EventType names the event "entries.linked".
func (EntriesLinked) EventType() Type { return "entries.linked" }

// Check requires both ends and the kind.
func (p EntriesLinked) Check() error { return require("from", p.From, "to", p.To, "kind", p.Kind) }

// EntryInvalidated marks an entry as no longer true.
type EntryInvalidated struct {
	EntryID string `json:"entry_id"`
	Agent   string `json:"agent,omitempty"`
	Run     string `json:"run,omitempty"`
}

// EventType names the event "entry.invalidated".
func (EntryInvalidated) EventType() Type { return "entry.invalidated" }

// Check requires the id.
func (p EntryInvalidated) Check() error { return require("entry_id", p.EntryID) }

// TodoAdded adds a task.
type TodoAdded struct {
	TodoID      string `json:"todo_id"`
	Subject     string `json:"subject"`
	Description string `json:"description,omitempty"`
	Agent       string `json:"agent,omitempty"`
	Run         string `json:"run,omitempty"`
}

// EventType names the event "todo.added".
func (TodoAdded) EventType() Type { return "todo.added" }

// Check requires id and subject.
func (p TodoAdded) Check() error { return require("todo_id", p.TodoID, "subject", p.Subject) }

// TodoChanged changes what is not empty.
type TodoChanged struct {
	TodoID      string `json:"todo_id"`
	Status      string `json:"status,omitempty"` // started, done, cancelled
	Subject     string `json:"subject,omitempty"`
	Description string `json:"description,omitempty"`
	Agent       string `json:"agent,omitempty"`
	Run         string `json:"run,omitempty"`
}

// EventType names the event "todo.changed".
func (TodoChanged) EventType() Type { return "todo.changed" }

// Check requires the id.
func (p TodoChanged) Check() error { return require("todo_id", p.TodoID) }

// TodoDeleted takes a task out.
type TodoDeleted struct {
	TodoID string `json:"todo_id"`
	Agent  string `json:"agent,omitempty"`
	Run    string `json:"run,omitempty"`
}

// EventType names the event "todo.deleted".
func (TodoDeleted) EventType() Type { return "todo.deleted" }

// Check requires the id.
func (p TodoDeleted) Check() error { return require("todo_id", p.TodoID) }

// LessonRecorded keeps what went wrong and how to avoid it.
type LessonRecorded struct {
	LessonID  string `json:"lesson_id"`
	Signature string `json:"signature"` // how the mistake is recognised
	Text      string `json:"text"`
	Agent     string `json:"agent,omitempty"`
	Run       string `json:"run,omitempty"`
}

// EventType names the event "lesson.recorded".
func (LessonRecorded) EventType() Type { return "lesson.recorded" }

// Check requires all but who recorded it.
func (p LessonRecorded) Check() error {
	return require("lesson_id", p.LessonID, "signature", p.Signature, "text", p.Text)
}

// LessonDeleted takes a lesson out.
type LessonDeleted struct {
	LessonID string `json:"lesson_id"`
	Agent    string `json:"agent,omitempty"`
	Run      string `json:"run,omitempty"`
}

// EventType names the event "lesson.deleted".
func (LessonDeleted) EventType() Type { return "lesson.deleted" }

// Check requires the id.
func (p LessonDeleted) Check() error { return require("lesson_id", p.LessonID) }
