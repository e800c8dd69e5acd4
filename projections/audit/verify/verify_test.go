package verify

import (
	"context"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

// log is a stream in memory.
type log []schemas.Record

func (l log) Follow(_ context.Context, _ schemas.Stream, after uint64, _ bus.FollowOptions, fn func([]schemas.Record) error) error {
	return fn(l[after:])
}

func (l log) Next(context.Context, schemas.Stream, uint64) (schemas.Record, error) {
	return schemas.Record{}, bus.ErrNotFound
}

func (log) Lost(context.Context, schemas.Stream) ([]schemas.RecordsLost, error) { return nil, nil }

// A record whose texts were erased counts as what was signed, as long as what is left
// of it is what the log says.
func TestForgottenRecords(t *testing.T) {
	var hasher evidence.Hasher
	record := func(body string) schemas.Record {
		return schemas.Record{Stream: schemas.StreamSessions, Seq: 1, Message: schemas.Message{Subject: "s", Body: []byte(body)}}
	}
	signed, left := hasher.Leaf(record("said").Message), hasher.Leaf(record("left").Message)
	erased := bus.Erased([]schemas.RecordsLost{{First: 1, Last: 1, Reason: "private", Leaves: []schemas.LostLeaf{{SHA256: signed[:], Now: left[:]}}}})
	for body, want := range map[string]struct {
		ok        bool
		forgotten uint64
	}{"left": {true, 1}, "said": {true, 0}, "altered": {false, 0}} {
		var tree evidence.Frontier
		tree.Add(signed)
		check := evidence.NewCheck(schemas.StreamSessions, []evidence.Checkpoint{{Stream: schemas.StreamSessions, Size: 1, Root: tree.Root(), First: 1}}, nil)
		if err := readAll(t.Context(), log{record(body)}, schemas.StreamSessions, &reading{check: check, erased: erased}); err != nil {
			t.Fatal(err)
		}
		if r := check.Finish(); r.OK() != want.ok || r.Forgotten != want.forgotten || r.Records != 1 {
			t.Errorf("%s: %+v", body, r)
		}
	}
}
