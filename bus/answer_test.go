package bus

import (
	"context"
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

func TestAnUnknownFieldIsRefused(t *testing.T) {
	asked := 0
	e := Answer("find", "writ.svc.find", func(_ context.Context, r schemas.RuleQuery) (None, error) {
		asked++
		return None{}, nil
	})
	for body, want := range map[string]string{
		``:                    "",
		`{}`:                  "",
		`{"id":"A-1"} `:       "",
		`{"rule":"A-1"}`:      `there is no field "rule"; it takes`,
		`{"id":"A-1"}{}`:      "something follows",
		`{"id":7}`:            "cannot unmarshal number",
		`{"id":"A-1"`:         "unexpected EOF",
		`{"id":"A","x":{}}  `: `"x"; it takes`,
	} {
		asked = 0
		_, err := e.Handle(t.Context(), Request{Body: []byte(body)})
		var fault schemas.Fault
		if want == "" {
			if err != nil || asked != 1 {
				t.Errorf("%s: %v, asked %d times", body, err, asked)
			}
			continue
		}
		if !errors.As(err, &fault) || fault.Code() != schemas.CodeBadRequest || !strings.Contains(err.Error(), want) || asked != 0 {
			t.Errorf("%s: %v, asked %d times", body, err, asked)
		}
	}
	takesNothing := Answer("stop", "writ.svc.stop", func(context.Context, None) (None, error) { return None{}, nil })
	if _, err := takesNothing.Handle(t.Context(), Request{Body: []byte(`{"now":true}`)}); err == nil || !strings.Contains(err.Error(), "it takes none") {
		t.Error(err)
	}
	for _, key := range []string{MetadataRequest, MetadataReply} {
		if !json.Valid([]byte(e.Metadata[key])) {
			t.Errorf("the schema %s is %q", key, e.Metadata[key])
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
