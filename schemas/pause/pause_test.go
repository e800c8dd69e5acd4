package pause_test

import (
	"context"
	"testing"
	"time"

	"github.com/writbus/writ/schemas/pause"
)

func TestForEndsWithItsTimeOrItsContext(t *testing.T) {
	if !pause.For(t.Context(), time.Nanosecond) {
		t.Error("a pause that was over says that its context had ended")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if pause.For(ended, time.Hour) {
		t.Error("a pause whose context had ended says that it goes on")
	}
}
