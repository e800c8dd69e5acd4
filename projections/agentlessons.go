package projections

import (
	"cmp"
	"slices"
	"time"

	"github.com/writbus/writ/schemas"
)

// AgentLessons is what agents learnt. A query helper takes a Reader of
// ViewAgentLessons.
//
//	c/<book>           BookHead
//	l/<book>/<lesson>  Lesson
type AgentLessons struct{}

// Lesson is what went wrong and how to avoid it.
type Lesson struct {
	ID        string    `json:"id"`
	Signature string    `json:"signature"`
	Text      string    `json:"text"`
	Agent     string    `json:"agent,omitempty"`
	Time      time.Time `json:"time"`
	Seq       uint64    `json:"seq"`
}

// NewAgentLessons returns the view.
func NewAgentLessons() AgentLessons { return AgentLessons{} }

// Name implements Projector.
func (AgentLessons) Name() string { return ViewAgentLessons }

// Version implements Projector.
func (AgentLessons) Version() int { return 1 }

// Types implements Projector.
func (AgentLessons) Types() []schemas.Type {
	return []schemas.Type{schemas.LessonRecorded{}.EventType(), schemas.LessonDeleted{}.EventType()}
}

// Apply implements Projector.
func (AgentLessons) Apply(v View, e schemas.Event) error {
	book, made := e.Aggregate.ID, 0
	var err error
	switch p := e.Data.(type) {
	case schemas.LessonRecorded:
		made = 1
		err = setDocument(v, idKey('l', book, p.LessonID), Lesson{p.LessonID, p.Signature, p.Text, p.Agent, e.Time, e.Position.Seq})
	case schemas.LessonDeleted:
		err = v.Delete(idKey('l', book, p.LessonID))
	}
	if err != nil {
		return err
	}
	return turnPage(v, e, made)
}

// Lessons returns the lessons of a book, oldest first.
func (AgentLessons) Lessons(r Reader, book schemas.Aggregate) ([]Lesson, error) {
	all, err := collect[Lesson](r, idPrefix('l', book.ID))
	slices.SortFunc(all, func(a, b Lesson) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ID, b.ID)) })
	return all, err
}
