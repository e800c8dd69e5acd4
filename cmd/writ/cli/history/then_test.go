package history

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func TestThenOf(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	a := &client.Client{Env: client.Env{Now: func() time.Time { return now }}}
	for text, want := range map[string]string{
		"":                     "0 0001-01-01T00:00:00Z",
		"now":                  "0 0001-01-01T00:00:00Z",
		"812":                  "812 0001-01-01T00:00:00Z",
		"15m":                  "0 2026-11-21T11:45:00Z",
		"2026-11-20T01:02:03Z": "0 2026-11-20T01:02:03Z",
	} {
		at, err := a.ThenOf("x", text)
		if got := fmt.Sprint(at.Seq, " ", at.Time.UTC().Format(time.RFC3339)); err != nil || got != want {
			t.Errorf("%q is %s: %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "yesterday", "-3"} {
		if at, err := a.ThenOf("x", text); err == nil {
			t.Errorf("%q is %+v", text, at)
		}
	}
}

func TestPacer(t *testing.T) {
	start := time.Unix(1000, 0)
	p := pacer{speed: 10, longest: 2 * time.Second}
	for _, step := range []struct{ at, want time.Duration }{
		{0, 0}, {time.Second, 100 * time.Millisecond}, {time.Second, 0}, {500 * time.Millisecond, 0}, {time.Hour, 2 * time.Second},
	} {
		if got := p.pause(start.Add(step.at)); got != step.want {
			t.Errorf("at %s it waits %s, not %s", step.at, got, step.want)
		}
	}
	if got := (&pacer{before: start}).pause(start.Add(time.Hour)); got != 0 {
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
		if got := namesRule(c.event, "R-1"); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
