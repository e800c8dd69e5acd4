package projections

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

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

// Decoding ahead yields every record in order, with its events or its error,
// and ends with its caller.
func TestDecodedAheadIsDecoded(t *testing.T) {
	var records []schemas.Record
	for seq := range uint64(3*aheadRecords + 7) {
		r := schemas.Record{Stream: schemas.StreamRules, Seq: seq + 1, Message: schemas.Message{Subject: "writ.rule.A.rule.retired"}}
		if seq%5 > 0 {
			m, err := schemas.Encode(schemas.Event{
				ID: strconv.FormatUint(seq, 10), Source: "/writ/test", Aggregate: schemas.RuleAggregate("A"), Time: time.Unix(1, 0), Data: schemas.RuleRetired{Reason: "old"},
			})
			if err != nil {
				t.Fatal(err)
			}
			r.Message = m
		}
		records = append(records, r)
	}
	in := newInterest([]schemas.Type{"rule.retired"})
	seen := 0
	for d := range in.decoded(records, func() {}) {
		want, wantErr := in.appendEvents(nil, records[seen])
		if d.record.Seq != records[seen].Seq || len(d.events) != len(want) || (d.err == nil) != (wantErr == nil) || len(want) == 1 && d.events[0].ID != want[0].ID {
			t.Fatalf("record %d: %+v, want %v and %v", records[seen].Seq, d, want, wantErr)
		}
		seen++
	}
	if seen != len(records) {
		t.Errorf("%d of %d records", seen, len(records))
	}
	synctest.Test(t, func(t *testing.T) { // which waits for every goroutine
		for range in.decoded(records, func() {}) {
			break
		}
	})
}
