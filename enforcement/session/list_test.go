package session

import (
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement"
)

func TestNothingComesNextInASessionThatEnded(t *testing.T) {
	state := enforcement.State{Mode: enforcement.ModeReview}
	live := next(state)
	state.Ended = true
	if ended := next(state); !strings.HasPrefix(ended, "Nothing, the session has ended.") || !strings.HasSuffix(ended, live) || live == "" {
		t.Errorf("%q, while it goes on %q", ended, live)
	}
}
