package daemon

import (
	"testing"

	"github.com/writbus/writ/schemas"
)

func TestActivityCountsWhatHappened(t *testing.T) {
	w := newWorld(t)
	w.send("SessionStart", map[string]any{})
	w.prompt("how should errors be wrapped in Go?")
	w.write("store/users.go", "x")
	got, err := call[schemas.Activity](w, w.admin, schemas.SvcActivity, schemas.ActivityRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Hours) == 0 || got.Hours[len(got.Hours)-1].Prompts+got.Hours[0].Prompts == 0 {
		t.Errorf("%+v", got)
	}
	denied := uint64(0)
	for _, r := range got.Rules {
		if r.ID == "ENF-GATE-PLAN" {
			denied = r.Denied
		}
	}
	if denied != 1 {
		t.Errorf("the refusal is not counted: %+v", got.Rules)
	}
	if _, err := call[schemas.Activity](w, w.admin, schemas.SvcActivity, schemas.ActivityRequest{Hours: 1 << 30}); err == nil {
		t.Error("a span without bounds is taken")
	}
}
