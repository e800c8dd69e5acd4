package daemon

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

// TestRepliesAreTheJSONTheyWere encodes replies after one another, into memory
// that is used again.
func TestRepliesAreTheJSONTheyWere(t *testing.T) {
	for _, reply := range []any{
		none{},
		nil, "a\n",
		[]string{"<&>", "\n"},
		schemas.RuleSummary{ID: "A\n", Title: strings.Repeat("x", 2*mostRoom)},
		retrieval.Answer{Block: "a <b>\n", Rules: []retrieval.Hit{{ID: "A", Rule: schemas.Rule{Title: "\n"}}}},
		&schemas.AlwaysOnReply{Block: "\n\n"},
	} {
		want, err := json.Marshal(reply)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			got, err := encoded(reply)
			if err != nil || string(got) != string(want) {
				t.Fatalf("%T: %v\ngot  %.200q\nwant %.200q", reply, err, got, want)
			}
			clear(got[:cap(got)]) // whoever gets it next must not rely on it
			release(got)
		}
	}
	for _, reply := range []any{math.NaN(), retrieval.Answer{Probability: math.Inf(1)}, func() {}} {
		if b, err := encoded(reply); err == nil || b != nil {
			t.Errorf("%T is encoded as %q, %v", reply, b, err)
		}
	}
}
