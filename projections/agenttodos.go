package projections

import (
	"cmp"
	"slices"
	"time"

	"github.com/writbus/writ/schemas"
)

// AgentTodos is the tasks of agents. A query helper takes a Reader of
// ViewAgentTodos.
//
//	c/<book>         BookHead
//	t/<book>/<todo>  Todo
type AgentTodos struct{}

// Todo is one task.
type Todo struct {
	ID          string    `json:"id"`
	Subject     string    `json:"subject"`
	Description string    `json:"description,omitempty"`
	Status      string    `json:"status,omitempty"` // "" (open), started, done, cancelled
	Time        time.Time `json:"time"`             // of the last change
	Seq         uint64    `json:"seq"`              // of the first event
}

// NewAgentTodos returns the view.
func NewAgentTodos() AgentTodos { return AgentTodos{} }

// Name implements Projector.
func (AgentTodos) Name() string { return ViewAgentTodos }

// Version implements Projector.
func (AgentTodos) Version() int { return 1 }

// Types implements Projector.
func (AgentTodos) Types() []schemas.Type {
	return []schemas.Type{schemas.TodoAdded{}.EventType(), schemas.TodoChanged{}.EventType(), schemas.TodoDeleted{}.EventType()}
}

// Apply implements Projector.
func (AgentTodos) Apply(v View, e schemas.Event) error {
	book, made := e.Aggregate.ID, 0
	var err error
	switch p := e.Data.(type) {
	case schemas.TodoAdded:
		made = 1
		err = setDocument(v, idKey('t', book, p.TodoID), Todo{
			ID: p.TodoID, Subject: p.Subject, Description: p.Description, Time: e.Time, Seq: e.Position.Seq,
		})
	case schemas.TodoChanged:
		err = changeDocument(v, idKey('t', book, p.TodoID), func(t *Todo) {
			t.Status, t.Subject = cmp.Or(p.Status, t.Status), cmp.Or(p.Subject, t.Subject)
			t.Description, t.Time = cmp.Or(p.Description, t.Description), e.Time
		})
	case schemas.TodoDeleted:
		err = v.Delete(idKey('t', book, p.TodoID))
	}
	if err != nil {
		return err
	}
	return turnPage(v, e, made)
}

// Todos returns the tasks of a book, oldest first.
func (AgentTodos) Todos(r Reader, book schemas.Aggregate) ([]Todo, error) {
	all, err := collect[Todo](r, idPrefix('t', book.ID))
	slices.SortFunc(all, func(a, b Todo) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ID, b.ID)) })
	return all, err
}

// Todo returns one task.
func (AgentTodos) Todo(r Reader, book schemas.Aggregate, id string) (Todo, bool, error) {
	return getDocument[Todo](r, idKey('t', book.ID, id))
}
