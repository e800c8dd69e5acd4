package daemon

import (
	"errors"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// TestASessionCanBeSeenAsItWas walks back through a session: the last moment is
// the present, and every earlier one is what was then the present.
func TestASessionCanBeSeenAsItWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	show := func(q schemas.SessionQuery) (schemas.SessionView, error) {
		q.Session = "s1"
		return call[schemas.SessionView](w, w.admin, schemas.SvcSession, q)
	}
	var presents []schemas.SessionView
	step := func() {
		view, err := show(schemas.SessionQuery{})
		if err != nil {
			t.Fatal(err)
		}
		presents = append(presents, view)
	}
	w.prompt("look the users up")
	step()
	w.write("store/users.go", "package store\n")
	step()
	w.wrote("plan.md", goodPlan)
	step()
	w.prompt("a second question")
	step()
	for i, was := range presents {
		var last schemas.ReplayEvent
		for _, e := range w.history("s1") {
			if i+1 < len(presents) && e.Time.After(was.LastSeen) {
				break
			}
			last = e
		}
		for _, q := range []schemas.SessionQuery{{At: last.Position.Seq}, {Moment: last.Time}} {
			then, err := show(q)
			if err != nil {
				t.Fatal(err)
			}
			if string(then.State) != string(was.State) || then.Events != was.Events || !then.LastSeen.Equal(was.LastSeen) || !then.Started.Equal(was.Started) {
				t.Errorf("step %d: it was\n%s %d events, and is told as\n%s %d events", i, was.State, was.Events, then.State, then.Events)
			}
			if then.Seq != last.Position.Seq || !then.AsOf.Equal(last.Time) {
				t.Errorf("step %d is said to be record %d of %s", i, then.Seq, then.AsOf)
			}
		}
	}
	for name, q := range map[string]schemas.SessionQuery{
		schemas.CodeNotFound:   {Moment: time.Unix(0, 0)},
		schemas.CodeBadRequest: {At: 1, Moment: time.Now()},
	} {
		var service *bus.ServiceError
		if _, err := show(q); !errors.As(err, &service) || service.Code != name {
			t.Errorf("%+v: %v", q, err)
		}
	}
}
