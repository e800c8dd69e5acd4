package book

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/writbus/writ/schemas"
)

// State is a book as its events leave it, or the part of it that Touches names.
// Invariants, whatever the log holds:
//
//  1. Seq is the sequence of the last event that it was folded from. TestModel.
//  2. Made counts the events that numbered an item, and never falls. TestModel.
//  3. An item stands under its own ID. A link stands once at each of its ends.
//     TestModel, TestALinkStandsOnceAtEachEnd.
//  4. An event changes Seq, Made and the items that Touches names of it, and
//     depends on no others. TestAPartIsFoldedAsTheWhole.
type State struct {
	Seq   uint64          // what a change expects; 0 for a book without events
	Made  int             // how many items were ever numbered
	Items map[string]Item // by ID
}

// Item is one note, entry, task or lesson. It is stored as JSON.
type Item struct {
	// ID is the number that a decision gave; that of a note is its place in the
	// log, behind a "#".
	ID string `json:"id"`
	// Kind is an agent's own word for an entry, such as fact or decision. Only
	// entries have one.
	Kind  string `json:"kind,omitempty"`
	Title string `json:"title,omitempty"` // of an entry; a task's subject, a lesson's signature
	Text  string `json:"text,omitempty"`  // a task's description
	Agent string `json:"agent,omitempty"` // who wrote it
	// Status of a task is "" (open), started, done or cancelled, that of an entry
	// "" or Invalid.
	Status string    `json:"status,omitempty"`
	Links  []Link    `json:"links,omitempty"` // those that an entry is an end of
	Time   time.Time `json:"time"`            // a task's: of its last change
	Seq    uint64    `json:"seq"`             // where its first event is
	Part   int       `json:"part,omitempty"`  // within the message of Seq
}

// Invalid is the status of an entry that is no longer true. Persisted.
const Invalid = "invalid"

// Link is a link between two entries.
type Link struct {
	From string `json:"from"`
	To   string `json:"to"`
	Kind string `json:"kind"`
}

// Entry reports whether it is an entry.
func (i Item) Entry() bool { return i.Kind != "" }

// All returns the items, oldest first.
func (s State) All() []Item {
	return slices.SortedFunc(maps.Values(s.Items), func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Part, b.Part), cmp.Compare(a.ID, b.ID))
	})
}

// Notes returns the notes of a book of notes and entries, oldest first.
func (s State) Notes() []Item { return slices.DeleteFunc(s.All(), Item.Entry) }

// Entries returns its entries, oldest first.
func (s State) Entries() []Item {
	return slices.DeleteFunc(s.All(), func(i Item) bool { return !i.Entry() })
}

// Touches names the items that an event changes, or that a decision about it
// looks at; all means every one.
func Touches(p schemas.Payload) (ids []string, all bool) {
	switch p := p.(type) {
	case schemas.NotesCleared:
		return nil, true
	case schemas.EntryAdded:
		return []string{p.EntryID}, false
	case schemas.EntriesLinked:
		return []string{p.From, p.To}, false
	case schemas.EntryInvalidated:
		return []string{p.EntryID}, false
	case schemas.TodoAdded:
		return []string{p.TodoID}, false
	case schemas.TodoChanged:
		return []string{p.TodoID}, false
	case schemas.TodoDeleted:
		return []string{p.TodoID}, false
	case schemas.LessonRecorded: // without a number, it is held against every other
		return []string{p.LessonID}, p.LessonID == ""
	case schemas.LessonDeleted:
		return []string{p.LessonID}, false
	}
	return nil, false
}

// Evolve folds one event of a book. It cannot fail: what an event says about an
// item that is not there changes nothing but Seq. The state that it is given
// stays as it is.
func Evolve(s State, e schemas.Event) State {
	items := maps.Clone(s.Items)
	if items == nil {
		items = map[string]Item{}
	}
	add := func(made int, i Item) {
		i.Time, i.Seq, i.Part = e.Time, e.Position.Seq, e.Position.Part
		items[i.ID] = i
		s.Made += made
	}
	change := func(id string, to func(*Item)) {
		if i, found := items[id]; found {
			to(&i)
			items[id] = i
		}
	}
	switch p := e.Data.(type) {
	case schemas.NoteWritten:
		add(0, Item{ID: fmt.Sprintf("#%d.%d", e.Position.Seq, e.Position.Part), Text: p.Text, Agent: p.Agent})
	case schemas.NotesCleared:
		maps.DeleteFunc(items, func(_ string, i Item) bool { return !i.Entry() })
	case schemas.EntryAdded:
		add(1, Item{ID: p.EntryID, Kind: p.Kind, Title: p.Title, Text: p.Text, Agent: p.Agent})
	case schemas.EntriesLinked:
		link := Link{p.From, p.To, p.Kind}
		for _, end := range []string{p.From, p.To} {
			change(end, func(i *Item) {
				if !slices.Contains(i.Links, link) {
					i.Links = append(slices.Clip(i.Links), link)
				}
			})
		}
	case schemas.EntryInvalidated:
		change(p.EntryID, func(i *Item) { i.Status = Invalid })
	case schemas.TodoAdded:
		add(1, Item{ID: p.TodoID, Title: p.Subject, Text: p.Description, Agent: p.Agent})
	case schemas.TodoChanged:
		change(p.TodoID, func(i *Item) {
			i.Status, i.Title = cmp.Or(p.Status, i.Status), cmp.Or(p.Subject, i.Title)
			i.Text, i.Time = cmp.Or(p.Description, i.Text), e.Time
		})
	case schemas.TodoDeleted:
		delete(items, p.TodoID)
	case schemas.LessonRecorded:
		add(1, Item{ID: p.LessonID, Title: p.Signature, Text: p.Text, Agent: p.Agent})
	case schemas.LessonDeleted:
		delete(items, p.LessonID)
	default:
		return s
	}
	s.Seq, s.Items = e.Position.Seq, items
	return s
}
