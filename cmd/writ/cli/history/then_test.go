package history

import (
	"fmt"
	"testing"
	"time"

	"github.com/writbus/writ/cmd/writ/cli/client"
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
