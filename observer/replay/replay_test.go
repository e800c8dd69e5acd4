package replay

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/writbus/writ/schemas"
)

func TestPacer(t *testing.T) {
	start := time.Unix(1000, 0)
	p := Pacer{Speed: 10, Longest: 2 * time.Second}
	for _, step := range []struct{ at, want time.Duration }{
		{0, 0}, {time.Second, 100 * time.Millisecond}, {time.Second, 0}, {500 * time.Millisecond, 0}, {time.Hour, 2 * time.Second},
	} {
		if got := p.Pause(start.Add(step.at)); got != step.want {
			t.Errorf("at %s it waits %s, not %s", step.at, got, step.want)
		}
	}
	if got := (&Pacer{before: start}).Pause(start.Add(time.Hour)); got != 0 {
		t.Errorf("without a speed it waits %s", got)
	}
}

func TestNamesRule(t *testing.T) {
	event := func(kind schemas.Kind, id, data string) schemas.ReplayEvent {
		return schemas.ReplayEvent{Aggregate: schemas.Aggregate{Kind: kind, ID: id}, Data: json.RawMessage(data)}
	}
	for name, c := range map[string]struct {
		event schemas.ReplayEvent
		want  bool
	}{
		"its own":        {event(schemas.KindRule, "R-1", `{}`), true},
		"that decided":   {event(schemas.KindSession, "s", `{"verdict":"deny","rule":"R-1"}`), true},
		"shown":          {event(schemas.KindSession, "s", `{"rules":[{"id":"R-2"},{"id":"R-1"}]}`), true},
		"counted":        {event(schemas.KindSession, "s", `{"denied":{"R-1":2}}`), true},
		"only mentioned": {event(schemas.KindSession, "s", `{"prompt":"what is R-1?"}`), false},
		"another":        {event(schemas.KindRule, "R-10", `{"rule":"R-10"}`), false},
	} {
		if got := NamesRule(c.event, "R-1"); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestMoment(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.Local)
	for text, want := range map[string]time.Time{
		"15m": now.Add(-15 * time.Minute), "2d": now.AddDate(0, 0, -2), "2026-01-31": time.Date(2026, 1, 31, 0, 0, 0, 0, time.Local), "": {},
	} {
		if got, ok := Moment(text, now); !ok || !got.Equal(want) {
			t.Errorf("%q is %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"d", "-2d", "2days", "yesterday"} {
		if got, ok := Moment(text, now); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}
