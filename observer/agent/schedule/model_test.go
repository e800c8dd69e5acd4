package schedule

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/writbus/writ/schemas"
)

var modelStart = time.Date(2024, 3, 4, 12, 0, 0, 0, time.UTC)

// notebook is what somebody who watched would know of the schedule. Phrases of
// the model are "in N minutes" and "every N minutes", so it needs no plan.
type notebook struct {
	given     time.Time
	every     time.Duration
	recurring bool
	status    Status
	from      time.Time // after which moments count
	fired     []time.Time
}

// due is the last moment that has come and how many came before it.
func (n notebook) due(now time.Time) (at time.Time, missed int, ok bool) {
	if n.status != Active {
		return at, 0, false
	}
	for next := n.given.Add(n.every); !next.After(now); next = next.Add(n.every) {
		if next.After(n.from) {
			if ok {
				missed++
			}
			at, ok = next, true
		}
		if !n.recurring {
			break
		}
	}
	return at, missed, ok
}

type model struct {
	t      *rapid.T
	driven map[string]int
	now    time.Time
	state  State
	log    []schemas.Message
	is     notebook
}

func (m *model) intn(n int) int { return rapid.IntRange(0, n-1).Draw(m.t, "n") }

// The model test drives random commands against one schedule while time passes,
// and checks every answer against a notebook that knows nothing of State.
func TestModel(t *testing.T) {
	driven := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{t: rt, driven: driven, now: modelStart}
		for range 60 {
			m.step()
		}
		if replayed := m.replay(len(m.log)); encode(rt, replayed) != encode(rt, m.state) {
			rt.Fatalf("the live state and its replay differ:\n%s\n%s", encode(rt, m.state), encode(rt, replayed))
		}
	})
	t.Logf("%v", driven)
	for _, event := range []string{"schedule.added", "schedule.fired", "schedule.paused", "schedule.resumed", "schedule.cancelled", "refused", "nothing"} {
		if driven["commands"] >= 5_000 && driven[event] < driven["commands"]/1000 {
			t.Errorf("only %d of %s: the model explores too little", driven[event], event)
		}
	}
}

func (m *model) step() {
	m.now = m.now.Add(time.Duration(m.intn(9)) * time.Minute)
	switch m.intn(12) {
	case 0, 1, 2:
		m.add()
	case 3, 4:
		m.act("pause")
	case 5, 6:
		m.act("resume")
	case 7:
		if m.intn(4) == 0 {
			m.act("cancel")
		}
	default:
		at, missed, ok := m.is.due(m.now)
		if !ok {
			m.do(Claim{Now: m.now, Run: "r"}, "nothing")
			return
		}
		if n := len(m.is.fired); n > 0 && !at.After(m.is.fired[n-1]) { // invariant 8
			m.t.Fatalf("%s is due after %s", at, m.is.fired[n-1])
		}
		m.do(Claim{Now: m.now, Run: "r"}, "schedule.fired")
		if last := m.state.Last; !last.At.Equal(at) || last.Missed != missed || last.At.After(m.now) {
			m.t.Fatalf("fired %+v at %s, want %s and %d missed", last, m.now, at, missed)
		}
		m.is.fired, m.is.from = append(m.is.fired, at), at
		if !m.is.recurring {
			m.is.status = Over
		}
		m.agree()
	}
}

func (m *model) add() {
	minutes := 1 + m.intn(9)
	phrase := "in"
	if m.intn(3) > 0 {
		phrase = "every"
	}
	c := Add{Now: m.now, ScheduleAdded: schemas.ScheduleAdded{
		ScheduleID: "s1", Line: fmt.Sprintf("%s %d minutes: look", phrase, minutes), Zone: "UTC", Agent: "dev", File: "/dev.json", Workspace: "/w",
	}}
	refusable := m.intn(3)
	switch refusable {
	case 0:
		c.Others = AtMost
	case 1:
		c.Line = "whenever: look"
	}
	if refusable < 2 || m.state.Known() {
		m.do(c, "refused")
		return
	}
	m.do(c, "schedule.added")
	m.is = notebook{given: m.now, every: time.Duration(minutes) * time.Minute, recurring: phrase == "every", status: Active}
	m.agree()
}

func (m *model) act(name string) {
	act := Act{ID: "s1", Name: name, By: "dev"}
	want := map[string]string{"pause": "schedule.paused", "resume": "schedule.resumed", "cancel": "schedule.cancelled"}[name]
	switch m.is.status {
	case Active:
		if name == "resume" {
			want = "refused"
		}
	case Paused:
		if name == "pause" {
			want = "refused"
		}
	default:
		want = "refused"
	}
	c := Command(act)
	switch m.intn(4) {
	case 0:
		c = ActOf{"dev", "/w", act}
	case 1: // invariant 9
		c, want = ActOf{[]string{"dev", "ops"}[m.intn(2)], "/elsewhere", act}, "refused"
	}
	d := m.do(c, want)
	if want == "refused" {
		return
	}
	if d.Message == "" {
		m.t.Fatalf("%#v says nothing", c)
	}
	switch name {
	case "pause":
		m.is.status = Paused
	case "resume":
		if m.is.status = Active; m.is.recurring {
			m.is.from = m.now
		}
	case "cancel":
		m.is.status = Cancelled
	}
	m.agree()
}

// do decides, checks the answer, records and folds through the codec. want is
// "refused", "nothing" or the type of the event.
func (m *model) do(c Command, want string) Decision {
	m.driven["commands"]++
	before := encode(m.t, m.state)
	d, err := Decide(m.state, c)
	got := "nothing"
	var refused Refused
	switch {
	case errors.As(err, &refused):
		got = "refused"
		if len(d.Record) > 0 || refused.What == "" || refused.Adapt == "" { // invariant 9
			m.t.Fatalf("%#v is refused by %+v and records %v", c, refused, d.Record)
		}
	case err != nil || len(d.Record) > 1:
		m.t.Fatalf("%#v: %v, %v", c, d.Record, err)
	case len(d.Record) == 1:
		got = string(d.Record[0].EventType())
	}
	m.driven[got]++
	if got != want {
		m.t.Fatalf("%#v of %+v: %s, want %s (%v)", c, m.is, got, want, err)
	}
	if encode(m.t, m.state) != before {
		m.t.Fatalf("%#v changed the state that it was decided on", c)
	}
	if len(d.Record) == 1 {
		m.fold(d.Record[0])
	}
	return d
}

func (m *model) fold(p schemas.Payload) {
	added := m.state.Added
	message, err := schemas.Encode(schemas.Event{
		ID: fmt.Sprintf("event-%d", len(m.log)+1), Source: "/writ/test", Aggregate: schemas.AgentSchedule("s1"), Time: m.now, Data: p,
	})
	if err != nil {
		m.t.Fatalf("%T cannot be encoded: %v", p, err)
	}
	m.log = append(m.log, message)
	m.state = m.replay(len(m.log))
	if m.state.Seq != uint64(len(m.log)) { // invariant 5
		m.t.Fatalf("after %d events it is at %d", len(m.log), m.state.Seq)
	}
	if len(m.log) > 1 && m.state.Added.Line != added.Line { // invariant 4
		m.t.Fatalf("%+v became %+v", added, m.state.Added)
	}
}

// replay folds the first events of the log, and stores the state in between as a
// view does.
func (m *model) replay(n int) State {
	var s State
	for i, message := range m.log[:n] {
		events, err := schemas.Decode(message)
		if err != nil {
			m.t.Fatal(err)
		}
		events[0].Position = schemas.Position{Stream: schemas.StreamAgents, Seq: uint64(i + 1)}
		stored := encode(m.t, Evolve(s, events[0]))
		s = State{}
		if err := json.Unmarshal([]byte(stored), &s); err != nil {
			m.t.Fatal(err)
		}
	}
	return s
}

// agree holds the state against the notebook.
func (m *model) agree() {
	if m.state.Status() != m.is.status || m.state.Fired != len(m.is.fired) {
		m.t.Fatalf("%s after %d fires, want %s and %d", m.state.Status(), m.state.Fired, m.is.status, len(m.is.fired))
	}
}

func encode(t interface{ Fatal(...any) }, s State) string {
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What comes before a schedule was added, and what adds it again, changes
// nothing, whatever the log holds.
func TestASchedulesFirstEventAddsIt(t *testing.T) {
	at := func(seq uint64, p schemas.Payload) schemas.Event {
		return schemas.Event{Aggregate: schemas.AgentSchedule("s1"), Position: schemas.Position{Seq: seq}, Data: p}
	}
	for _, p := range []schemas.Payload{schemas.ScheduleFired{Run: "r"}, schemas.SchedulePaused{}, schemas.ScheduleResumed{}, schemas.ScheduleCancelled{}, schemas.NoteWritten{}} {
		if s := Evolve(State{}, at(1, p)); s.Known() || encode(t, s) != encode(t, State{}) {
			t.Errorf("%T made %+v", p, s)
		}
	}
	s := Evolve(State{}, at(2, schemas.ScheduleAdded{ScheduleID: "s1", Line: "hourly: x", Zone: "UTC"}))
	for _, p := range []schemas.Payload{schemas.ScheduleAdded{ScheduleID: "s1", Line: "daily: y"}, schemas.NoteWritten{}} {
		if again := Evolve(s, at(3, p)); encode(t, again) != encode(t, s) {
			t.Errorf("%T made %+v", p, again)
		}
	}
}

func TestRefusedCommands(t *testing.T) {
	if d, err := Decide(State{}, nil); err == nil || len(d.Record) > 0 {
		t.Errorf("%+v, %v", d, err)
	}
	for _, c := range []Command{Act{ID: "s9", Name: "pause"}, ActOf{Agent: "", Act: Act{ID: "s9", Name: "cancel"}}, Act{ID: "s9", Name: "dance"}} {
		var refused Refused
		if _, err := Decide(State{}, c); !errors.As(err, &refused) {
			t.Errorf("%#v: %v", c, err)
		}
	}
	if _, err := Decide(State{}, Add{ScheduleAdded: schemas.ScheduleAdded{Line: "hourly: x", Zone: "Mars/Base"}}); !errors.Is(err, ErrZone) {
		t.Errorf("got %v", err)
	}
}

// A clock that was far ahead and is set back does not keep what recurs from firing
// until it is there again; one that steps back a little fires nothing twice, and what
// fires once never fires again.
func TestTheClockIsSetBack(t *testing.T) {
	day := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	at := func(seq uint64, now time.Time, p schemas.Payload) schemas.Event {
		return schemas.Event{Aggregate: schemas.AgentSchedule("s1"), Position: schemas.Position{Seq: seq}, Time: now, Data: p}
	}
	for name, c := range map[string]struct {
		line       string
		ahead, set time.Time // when it fired, and what the clock was set to then
		next       time.Time // zero for none
	}{
		"years ahead":         {"daily at 09:00: x", day.AddDate(4, 0, 0).Add(9 * time.Hour), day.Add(10 * time.Hour), day.Add(33 * time.Hour)},
		"two days ahead":      {"daily at 09:00: x", day.Add(57 * time.Hour), day.Add(20 * time.Hour), day.Add(33 * time.Hour)},
		"a step of a minute":  {"daily at 09:00: x", day.Add(9 * time.Hour), day.Add(9*time.Hour - time.Minute), day.Add(33 * time.Hour)},
		"each hour, a decade": {"hourly: x", day.AddDate(10, 0, 0), day.Add(90 * time.Minute), day.Add(time.Hour)},
		"once":                {"in 2 hours: x", day.Add(2 * time.Hour), day.Add(time.Minute), time.Time{}},
	} {
		s := Evolve(State{}, at(1, day, schemas.ScheduleAdded{ScheduleID: "s1", Line: c.line, Zone: "UTC"}))
		s = Evolve(s, at(2, c.ahead, schemas.ScheduleFired{At: c.ahead, Run: "r1"}))
		if next, _ := s.Next(c.set); !next.Equal(c.next) {
			t.Errorf("%s: the next is at %s, want %s", name, next, c.next)
		}
		if c.next.IsZero() {
			continue
		}
		now := c.next
		if now.Before(c.set) {
			now = c.set
		}
		d, err := Decide(s, Claim{Now: now, Run: "r2"})
		if err != nil || len(d.Record) != 1 {
			t.Errorf("%s: %+v, %v is claimed at %s", name, d, err, now)
		}
	}
}
