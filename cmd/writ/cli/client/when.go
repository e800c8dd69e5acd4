package client

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/writbus/writ/observer/replay"
	"github.com/writbus/writ/schemas"
)

// Moment reads a time as people write it.
func (a *Client) Moment(what, text string) (time.Time, error) {
	at, ok := replay.Moment(text, a.Env.Now())
	if !ok {
		return at, Usage(fmt.Sprintf("%s: %q is no time", what, text), "Write 2026-01-31, 2026-01-31T15:04:05Z, or how long ago, such as 15m or 2d.")
	}
	return at, nil
}

// Then is a place in the past, as people write it: a record's sequence or a
// time. The zero then is now.
type Then struct {
	Seq  uint64
	Time time.Time
}

// ThenOf reads a sequence, or what moment reads.
func (a *Client) ThenOf(what, text string) (t Then, err error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "now" {
		return t, nil
	}
	if seq, err := strconv.ParseUint(text, 10, 64); err == nil {
		if seq == 0 {
			return t, Usage(what+": records are numbered from 1", "`writ log --session S` shows the numbers.")
		}
		return Then{Seq: seq}, nil
	}
	t.Time, err = a.Moment(what, text)
	return t, err
}

// Query asks for a session as it was then.
func (t Then) Query(session string) schemas.SessionQuery {
	return schemas.SessionQuery{Session: session, At: t.Seq, Moment: t.Time}
}

// AsOf says which past a view shows, "" for the present.
func AsOf(v schemas.SessionView) string {
	if v.Seq == 0 {
		return ""
	}
	return fmt.Sprintf("as of record %d, %s", v.Seq, v.AsOf.Local().Format("2006-01-02 15:04:05"))
}
