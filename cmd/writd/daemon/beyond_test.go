package daemon

import (
	"fmt"
	"strings"
	"testing"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/schemas"
)

// TestNoStreamRefusesForItsSize: streams that are larger than each is to have bytes at
// once take all that comes, and the next look at the status says which they are.
func TestNoStreamRefusesForItsSize(t *testing.T) {
	const most, said = 20_000, 30
	w := startWith(t, t.TempDir(), newProject(t, "mode: conversation\n"), func(s *config.Settings) { s.MaxBytes = most })
	warned := func(stream schemas.Stream) bool {
		t.Helper()
		s, err := call[schemas.Status](w, w.admin, schemas.SvcStatus, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		for _, warning := range s.Warnings {
			if strings.HasPrefix(warning, string(stream)) && strings.Contains(warning, "max_bytes") {
				return true
			}
		}
		return false
	}
	if warned(schemas.StreamMemory) {
		t.Error("it is told of a stream that is small")
	}
	for i := range said {
		text := fmt.Sprintf("the service %d listens on port %d. %s", i, 7000+i, strings.Repeat("It is known why. ", 60))
		if reply := w.prompt(text); strings.Contains(reply.Stdout, "writ:") {
			t.Fatalf("the prompt %d: %s", i, reply.Stdout)
		}
		request := schemas.ObserveRequest{Observations: []schemas.Observation{{ID: fmt.Sprint("o", i), Scope: w.project, Input: []byte(text)}}}
		if _, err := call[schemas.ObserveReply](w, w.hook, schemas.SvcObserve, request); err != nil {
			t.Fatal(err)
		}
	}
	if !warned(schemas.StreamMemory) {
		t.Error("a stream has more than it is to, and nobody is told")
	}
	if got := w.count("prompt.submitted"); got != said {
		t.Errorf("%d of %d prompts are there", got, said)
	}
}
