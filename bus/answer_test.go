package bus

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// TestRepliesAreTheJSONTheyWere encodes replies after one another, into memory
// that is used again.
func TestRepliesAreTheJSONTheyWere(t *testing.T) {
	for _, reply := range []any{
		None{},
		nil, "a\n",
		[]string{"<&>", "\n"},
		schemas.RuleSummary{ID: "A\n", Title: strings.Repeat("x", 2*maxPooledReply)},
		ownJSON{"a <b>\n"},
		&schemas.AlwaysOnReply{Block: "\n\n"},
	} {
		want, err := json.Marshal(reply)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			got, err := encodeReply(reply)
			if err != nil || string(got) != string(want) {
				t.Fatalf("%T: %v\ngot  %.200q\nwant %.200q", reply, err, got, want)
			}
			clear(got[:cap(got)]) // whoever gets it next must not rely on it
			releaseReply(got)
		}
	}
	for _, reply := range []any{math.NaN(), ownJSON{}, func() {}} {
		if b, err := encodeReply(reply); err == nil || b != nil {
			t.Errorf("%T is encoded as %q, %v", reply, b, err)
		}
	}
}

// ownJSON writes itself, and fails when it is empty.
type ownJSON struct{ Text string }

func (o ownJSON) AppendJSON(b []byte) ([]byte, error) {
	if o.Text == "" {
		return nil, errors.New("empty")
	}
	own, err := json.Marshal(o)
	return append(b, own...), err
}
