package bus

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

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
