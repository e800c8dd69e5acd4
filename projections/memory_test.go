package projections_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

func TestObservationsFollowTheirHistory(t *testing.T) {
	l := newMemoryLog()
	s := &script{memoryLog: l}
	global, other := schemas.Memory("global"), schemas.Memory("other/project")
	record := func(id, verdict string) schemas.ObservationRecorded {
		return schemas.ObservationRecorded{ObservationID: id, Sealed: []byte("sealed " + id), Original: []byte{}, Verdict: verdict}
	}
	s.add(global, record("a", "allow"))
	s.add(other, record("a", "hold"))
	s.add(global, record("a", "discard")) // an id is recorded once
	s.add(global, schemas.ObservationRegated{ObservationID: "a", Verdict: "hold", Reason: "one"})
	s.add(global, schemas.ObservationRegated{ObservationID: "a", Verdict: "allow", Reason: "two"})
	s.add(global, schemas.ObservationRegated{ObservationID: "unknown", Verdict: "allow", Reason: "x"})
	plain := schemas.ObservationRecorded{ObservationID: "p", Original: []byte("text"), Text: "text", Category: "c", Reason: "because", Verdict: "allow"}
	s.add(global, plain)
	s.add(global, schemas.ObservationForgotten{ObservationID: "p", Reason: "asked"})
	s.add(global, plain) // is not taken in again
	s.add(global, schemas.ObservationForgotten{ObservationID: "never", Reason: "before it came"})
	s.add(global, record("never", "allow"))
	shown := schemas.MemoryShown{Session: "s", Shown: []schemas.MemoryHit{{Scope: "global", ObservationID: "a"}, {Scope: "other/project", ObservationID: "a"}}}
	s.add(global, shown)
	s.add(global, shown)
	s.add(global, schemas.MemoryShown{Session: "s/2", Shown: shown.Shown[:1]})
	s.add(global, schemas.DriftRaised{Alarm: "hold", Ratio: 0.9})
	s.add(global, schemas.DriftRaised{Alarm: "discard", Ratio: 0.8})
	s.add(global, schemas.DriftCleared{Alarm: "hold"})

	var told []projections.ObservationChange
	w := projections.NewObservations(observation.Evolve, observation.EvolveProposal, func(c projections.ObservationChange) error {
		told = append(told, c)
		return nil
	})
	r := view(t, l, w)
	get := func(scope, id string) observation.State {
		t.Helper()
		state, found, err := w.Observation(r, schemas.ObservationKey{Scope: scope, ID: id})
		if err != nil || !found {
			t.Fatalf("%s/%s: %v, %v", scope, id, found, err)
		}
		return state
	}
	a := get("global", "a")
	if a.Recorded.Verdict != "allow" || a.Verdict() != "allow" || len(a.Regated) != 2 || a.Regated[0].Reason != "one" || a.Regated[0].Actor != "user" || a.Shown != 2 || a.Position.Seq != 1 {
		t.Errorf("a: %+v", a)
	}
	if o := get("other/project", "a"); o.Verdict() != "hold" || string(o.Recorded.Sealed) != "sealed a" || o.Shown != 1 {
		t.Errorf("other a: %+v", o)
	}
	want := schemas.ObservationRecorded{ObservationID: "p", Verdict: "allow"}
	if p := get("global", "p"); !reflect.DeepEqual(p.Recorded, want) || p.Forgotten == nil || p.Forgotten.Reason != "asked" {
		t.Errorf("forgotten: %+v", p)
	}
	if n := get("global", "never"); n.Forgotten == nil || len(n.Recorded.Sealed) > 0 {
		t.Errorf("forgotten before it came: %+v", n)
	}
	var order []uint64
	for state, err := range w.All(r, 1) {
		if err != nil {
			t.Fatal(err)
		}
		order = append(order, state.Position.Seq)
	}
	if !slices.Equal(order, []uint64{2, 7, 10}) {
		t.Errorf("after 1: %v", order)
	}
	seen, err := w.ShownTo(r, "s")
	if err != nil || len(seen) != 2 || !seen[schemas.ObservationKey{Scope: "other/project", ID: "a"}] {
		t.Errorf("shown %v, %v", seen, err)
	}
	var alarms []string
	for alarm, err := range w.Alarms(r) {
		if err != nil {
			t.Fatal(err)
		}
		alarms = append(alarms, alarm.Alarm)
	}
	if !slices.Equal(alarms, []string{"discard"}) {
		t.Errorf("alarms %v", alarms)
	}
	if len(told) == 0 || !told[len(told)-1].Rebuilt {
		t.Errorf("told %+v", told)
	}
}
