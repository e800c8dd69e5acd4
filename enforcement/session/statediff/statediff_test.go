package statediff

import (
	"encoding/json"
	"testing"
)

func TestBetween(t *testing.T) {
	for name, c := range map[string]struct{ was, is, want string }{
		"nothing":        {`{"mode":"work","shown":["A"]}`, `{"shown":["A"],"mode":"work"}`, `[]`},
		"a value":        {`{"mode":"debug","refusals":1}`, `{"mode":"work","refusals":3}`, `[{"field":"mode","was":"debug","is":"work"},{"field":"refusals","was":"1","is":"3"}]`},
		"from nothing":   {`{}`, `{"work":{"phase":"planning","gates":{"plan":{"channel":"terminal"}}}}`, `[{"field":"work.gates.plan.channel","is":"terminal"},{"field":"work.phase","is":"planning"}]`},
		"to nothing":     {`{"work":{"gates":{"plan":{"channel":"terminal"}}}}`, `{}`, `[{"field":"work.gates.plan.channel","was":"terminal"}]`},
		"lists":          {`{"shown":["A","B","B"]}`, `{"shown":["B","C"]}`, `[{"field":"shown","added":["C"],"removed":["A","B"]}]`},
		"a new list":     {`{}`, `{"shown":["A"]}`, `[{"field":"shown","added":["A"]}]`},
		"objects listed": {`{"v":[{"a":1}]}`, `{"v":[{"a":2}]}`, `[{"field":"v","added":["{\"a\":2}"],"removed":["{\"a\":1}"]}]`},
	} {
		changes, err := Between(json.RawMessage(c.was), json.RawMessage(c.is))
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(changes)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, not %s (%v)", name, got, c.want, err)
		}
	}
	if _, err := Between(json.RawMessage(`{`), json.RawMessage(`{}`)); err == nil {
		t.Error("half a state is compared")
	}
}
