package projections

import (
	"errors"
	"testing"

	"github.com/writbus/writ/schemas"
)

// TestATailIsBounded: what waits for a view that takes nothing is bounded whatever
// records hold, of what left nothing is held on to, and what was handed over stays.
func TestATailIsBounded(t *testing.T) {
	big := make([]byte, 1000)
	for name, m := range map[string]schemas.Message{
		"empty":    {},
		"bodies":   {Body: big},
		"blocks":   {Block: big},
		"a header": {Header: schemas.Header{"a": {string(big), string(big)}}},
	} {
		slow, quick := uint64(0), uint64(0)
		l, tail := &tails{}, &tail{taken: []*uint64{&slow, &quick}, changed: make(chan struct{})}
		most, seq := tailBytes/(recordBytes+len(m.Block)+len(m.Body)+2*len(m.Header)*len(big)), uint64(0)
		for range 3 * most {
			seq++
			tail.add([]schemas.Record{{Seq: seq, Message: m}})
			handed, _, err := l.take(tail, &quick, 10)
			if err != nil || len(handed) != 1 || handed[0].Seq != seq {
				t.Fatalf("%s: record %d is handed over as %v, %v", name, seq, handed, err)
			}
			held := tail.records
			if len(held) > most {
				t.Fatalf("%s: %d records wait", name, len(held))
			}
			if seq == uint64(most) {
				slow = seq - 1
				if _, _, err := l.take(tail, &slow, 1); err != nil || held[0].Seq != 0 || handed[0].Seq != seq {
					t.Fatalf("%s: of what both took %d is held, of what was handed over %d: %v", name, held[0].Seq, handed[0].Seq, err)
				}
			}
		}
		if _, _, err := l.take(tail, &slow, 1); err != nil && !errors.Is(err, errBehind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
