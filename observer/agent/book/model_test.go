package book

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/integration"
)

var modelStart = time.Date(2024, 3, 4, 12, 0, 0, 0, time.UTC)

// row is an item as somebody who watched would have noted it.
type row struct {
	id, title, text, status string // a note has no id
	links                   []string
}

// model is a book, and beside it the rows that it should have, which know nothing
// of State.
type model struct {
	t      *rapid.T
	driven map[string]int
	now    time.Time
	log    []schemas.Message
	state  State
	read   State // what a slow writer last read

	rows []row
	made int
}

// The model test drives random wishes against books while another writer is at
// work, and checks every answer against the rows.
func TestModel(t *testing.T) {
	integration.Checks(t)
	driven := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		for _, step := range []func(*model){(*model).notes, (*model).tasks, (*model).lessons} {
			m := &model{t: rt, driven: driven, now: modelStart, state: State{Items: map[string]Item{}}}
			m.read = m.state
			for range 25 {
				m.now = m.now.Add(time.Minute)
				step(m)
				m.agree()
			}
		}
	})
	t.Logf("%v", driven)
	for _, answer := range []string{
		"note.written", "notes.cleared", "entry.added", "entries.linked", "entry.invalidated", "todo.added", "todo.changed",
		"todo.deleted", "lesson.recorded", "lesson.deleted", "refused", "nothing", "conflict",
	} {
		if driven["wishes"] >= 5_000 && driven[answer] < driven["wishes"]/200 {
			t.Errorf("only %d of %s: the model explores too little", driven[answer], answer)
		}
	}
}

func (m *model) intn(n int) int { return rapid.IntRange(0, n-1).Draw(m.t, "n") }

func (m *model) text() string { return fmt.Sprintf("text %d", m.intn(4)) }

// some is the id of a row, or one that may have been of one, or of none.
func (m *model) some(letter string) string { return fmt.Sprintf("%s%d", letter, 1+m.intn(m.made+2)) }

func (m *model) row(id string) *row {
	for i := range m.rows {
		if m.rows[i].id == id {
			return &m.rows[i]
		}
	}
	return nil
}

func (m *model) add(letter, title, text string) {
	m.made++
	m.rows = append(m.rows, row{id: fmt.Sprintf("%s%d", letter, m.made), title: title, text: text})
}

func (m *model) remove(gone func(row) bool) { m.rows = slices.DeleteFunc(m.rows, gone) }

func either(first bool, one, other string) string {
	if first {
		return one
	}
	return other
}

func (m *model) notes() {
	text, note := m.text(), func(r row) bool { return r.id == "" }
	switch m.intn(8) {
	case 0, 1:
		m.do(schemas.NoteWritten{Text: text}, "note.written", "added")
		m.rows = append(m.rows, row{text: text})
	case 2:
		written := slices.ContainsFunc(m.rows, note)
		m.do(schemas.NotesCleared{}, either(written, "notes.cleared", "nothing"), "")
		m.remove(note)
	case 3, 4:
		m.do(schemas.EntryAdded{Kind: "fact", Title: text, Text: "why"}, "entry.added", fmt.Sprintf("entry e%d added", m.made+1))
		m.add("e", text, "why")
	case 5, 6:
		m.link(m.some("e"), m.some("e"))
	default:
		id := m.some("e")
		entry := m.row(id)
		if entry == nil {
			m.do(schemas.EntryInvalidated{EntryID: id}, "refused", "there is no entry "+id)
			return
		}
		m.do(schemas.EntryInvalidated{EntryID: id}, either(entry.status == "", "entry.invalidated", "nothing"), "")
		entry.status = Invalid
	}
}

func (m *model) link(from, to string) {
	if m.row(from) == nil || m.row(to) == nil { // invariant 6
		m.do(schemas.EntriesLinked{From: from, To: to, Kind: "needs"}, "refused", "there is no entry ")
		return
	}
	m.do(schemas.EntriesLinked{From: from, To: to, Kind: "needs"}, "entries.linked", "linked "+from+" to "+to+" (needs)")
	for _, end := range []*row{m.row(from), m.row(to)} {
		if link := from + ">" + to; !slices.Contains(end.links, link) {
			end.links = append(end.links, link)
		}
	}
}

func (m *model) tasks() {
	id := m.some("t")
	task := m.row(id)
	missing := "there is no task " + id
	switch m.intn(6) {
	case 0, 1:
		text := m.text()
		m.do(schemas.TodoAdded{Subject: text}, "todo.added", fmt.Sprintf("task t%d added", m.made+1))
		m.add("t", text, "")
	case 2:
		if task == nil {
			m.do(schemas.TodoDeleted{TodoID: id}, "refused", missing)
			return
		}
		m.do(schemas.TodoDeleted{TodoID: id}, "todo.deleted", id+" is taken out")
		m.remove(func(r row) bool { return r.id == id })
	default:
		wish := []schemas.TodoChanged{{Status: "done"}, {Status: "started"}, {Subject: m.text()}, {Description: m.text()}}[m.intn(4)]
		wish.TodoID = id
		if task == nil {
			m.do(wish, "refused", missing)
			return
		}
		m.do(wish, "todo.changed", id+" "+either(wish.Status != "", "is "+wish.Status, "has a new "))
		switch {
		case wish.Status != "":
			task.status = wish.Status
		case wish.Subject != "":
			task.title = wish.Subject
		default:
			task.text = wish.Description
		}
	}
}

func (m *model) lessons() {
	if m.intn(3) > 0 {
		title, text := fmt.Sprintf("sig %d", m.intn(4)), m.text()
		wish := schemas.LessonRecorded{Signature: title, Text: " " + strings.ReplaceAll(text, " ", "\t ") + "\n"}
		for _, r := range m.rows { // invariant 7
			if r.title == title && strings.Join(strings.Fields(r.text), " ") == text {
				m.do(wish, "nothing", "lesson "+r.id+" says so already")
				return
			}
		}
		m.do(wish, "lesson.recorded", fmt.Sprintf("lesson l%d kept", m.made+1))
		m.add("l", title, strings.TrimSpace(wish.Text))
		return
	}
	id := m.some("l")
	if m.row(id) == nil {
		m.do(schemas.LessonDeleted{LessonID: id}, "refused", "there is no lesson "+id)
		return
	}
	m.do(schemas.LessonDeleted{LessonID: id}, "lesson.deleted", "lesson "+id+" is taken out")
	m.remove(func(r row) bool { return r.id == id })
}

// do decides as a writer does: on the part that the wish touches, and anew if
// somebody else was first. want is "refused", "nothing" or the type of the event;
// the answer begins with says.
func (m *model) do(wish schemas.Payload, want, says string) {
	m.driven["wishes"]++
	if d, err := Decide(part(m.t, m.read, wish), wish); err == nil && len(d.Record) > 0 && m.read.Seq != m.state.Seq {
		m.driven["conflict"]++ // the log refuses it
	}
	if m.read.Seq == m.state.Seq && encode(m.t, m.read) != encode(m.t, m.state) { // invariant 5
		m.t.Fatalf("a writer that read\n%s\nwould be taken for one that read\n%s", encode(m.t, m.read), encode(m.t, m.state))
	}
	before := encode(m.t, m.state)
	d, err := Decide(part(m.t, m.state, wish), wish)
	whole, fault := Decide(m.state, wish)
	if !reflect.DeepEqual(d, whole) || !reflect.DeepEqual(err, fault) { // invariant 4
		m.t.Fatalf("%#v: %+v, %v of the part, and %+v, %v of the whole", wish, d, err, whole, fault)
	}
	got, said := "nothing", d.Message
	var refused Refused
	switch {
	case errors.As(err, &refused):
		got, said = "refused", refused.What
		if !reflect.DeepEqual(d, Decision{}) || refused.Adapt == "" { // invariant 8
			m.t.Fatalf("%#v is refused by %+v and decides %+v", wish, refused, d)
		}
	case err != nil || len(d.Record) > 1 || d.Message == "":
		m.t.Fatalf("%#v: %+v, %v", wish, d, err)
	case len(d.Record) == 1:
		got = string(d.Record[0].EventType())
	}
	m.driven[got]++
	if got != want || !strings.HasPrefix(said, says) {
		m.t.Fatalf("%#v: %s (%s), want %s (%s)", wish, got, said, want, says)
	}
	if encode(m.t, m.state) != before {
		m.t.Fatalf("%#v changed the state that it was decided on", wish)
	}
	if len(d.Record) == 1 {
		m.fold(d.Record[0])
	}
	if m.intn(3) == 0 {
		m.read = m.state
	}
}

// fold appends an event and folds it, the whole and the part.
func (m *model) fold(p schemas.Payload) {
	message, err := schemas.Encode(schemas.Event{
		ID: fmt.Sprintf("event-%d", len(m.log)+1), Source: "/writ/test", Aggregate: schemas.TodoBook("/w", "a"), Time: m.now, Data: p,
	})
	if err != nil {
		m.t.Fatalf("%T cannot be encoded: %v", p, err)
	}
	m.log = append(m.log, message)
	events, err := schemas.Decode(message)
	if err != nil {
		m.t.Fatal(err)
	}
	e := events[0]
	e.Position = schemas.Position{Stream: schemas.StreamAgents, Seq: uint64(len(m.log))}
	m.state = folded(m.t, m.state, e)
}

// folded folds an event of a whole book, as it is and by the part that the event
// touches, as a view does: both have to be the same.
func folded(t fataler, s State, e schemas.Event) State {
	before, whole := encode(t, s), Evolve(s, e)
	some := part(t, s, e.Data)
	changed := Evolve(some, e)
	stored := maps.Clone(s.Items)
	for id := range some.Items {
		delete(stored, id)
	}
	maps.Copy(stored, changed.Items)
	if joined := (State{changed.Seq, changed.Made, stored}); encode(t, joined) != encode(t, whole) { // invariant 4
		t.Fatalf("%T: the part became\n%s\nand the whole\n%s", e.Data, encode(t, joined), encode(t, whole))
	}
	if encode(t, s) != before {
		t.Fatalf("%T changed the state that it was folded into", e.Data)
	}
	return whole
}

// part is what a view gives of a book.
func part(t fataler, s State, p schemas.Payload) State {
	ids, all := Touches(p)
	some := State{s.Seq, s.Made, map[string]Item{}}
	for id, item := range s.Items {
		if all || slices.Contains(ids, id) {
			var stored Item
			if err := json.Unmarshal([]byte(encode(t, item)), &stored); err != nil {
				t.Fatalf("%v", err)
			}
			some.Items[id] = stored
		}
	}
	return some
}

// agree holds the state against the rows.
func (m *model) agree() {
	if m.state.Seq != uint64(len(m.log)) || m.state.Made != m.made { // invariants 1 and 2
		m.t.Fatalf("%d events and %d items made %+v", len(m.log), m.made, m.state)
	}
	var rows []row
	for _, i := range m.state.All() {
		r := row{id: i.ID, title: i.Title, text: i.Text, status: i.Status}
		for _, l := range i.Links {
			r.links = append(r.links, l.From+">"+l.To)
		}
		if m.state.Items[i.ID].ID != i.ID { // invariant 3
			m.t.Fatalf("%s does not stand under its id", i.ID)
		}
		if strings.HasPrefix(i.ID, "#") {
			r.id = ""
		}
		rows = append(rows, r)
	}
	if !slices.EqualFunc(rows, m.rows, func(a, b row) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		m.t.Fatalf("%v, want %v", rows, m.rows)
	}
	if len(m.state.Notes())+len(m.state.Entries()) != len(rows) {
		m.t.Fatalf("%d notes and %d entries of %d items", len(m.state.Notes()), len(m.state.Entries()), len(rows))
	}
}

type fataler interface{ Fatalf(string, ...any) }

func encode(t fataler, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return string(b)
}
