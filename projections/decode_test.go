package projections

import (
	"testing"

	"github.com/writbus/writ/schemas"
)

// The type that filters a record before it is decoded is the type that
// decoding finds, and no record makes it fail.
func FuzzRecordType(f *testing.F) {
	f.Add("writ.session.a.prompt.submitted", "prompt.submitted", plainBody, []byte(`{"prompt":"x"}`))
	f.Add("writ.rule.A=2FB.rule.retired", "rule.retired", "application/vnd.writ.parts+json", []byte(`[]`))
	f.Add("writ.session.a.thing.happened", "thing.happened", "", []byte(`{}`))
	f.Add("", ".", "", []byte(nil))
	f.Add("..", "", "x", []byte("["))
	all, none := newInterest(nil), newInterest([]schemas.Type{"rule.retired"})
	f.Fuzz(func(t *testing.T, subject, named, content string, body []byte) {
		if _, parsed, err := schemas.ParseSubject(subject); err == nil && parsed != subjectType(subject) {
			t.Errorf("%q: %q, want %q", subject, subjectType(subject), parsed)
		}
		r := schemas.Record{Stream: schemas.StreamSessions, Seq: 1, Message: schemas.Message{
			Subject: subject, Body: body, Header: schemas.Header{
				schemas.HeaderID: {"1"}, schemas.HeaderType: {named}, schemas.HeaderSpecVersion: {"1.0"},
				schemas.HeaderWritVersion: {"1"}, schemas.HeaderTime: {"2026-01-02T03:04:05Z"}, schemas.HeaderContentType: {content},
			},
		}}
		every, err := all.appendEvents(nil, r)
		some, someErr := none.appendEvents(nil, r)
		want := 0
		for _, e := range every {
			if none.has(e.Type()) {
				want++
			}
		}
		if err == nil && (someErr != nil || len(some) != want) {
			t.Errorf("%d events, %v, want %d", len(some), someErr, want)
		}
	})
}
