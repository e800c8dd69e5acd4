package embedded

import (
	"log/slog"
	"testing"
)

// TestAFailureWhileTheLogIsOpenedStays: it is not taken for the one that is mended.
func TestAFailureWhileTheLogIsOpenedStays(t *testing.T) {
	l := newLogger(slog.New(slog.DiscardHandler))
	l.Errorf("Critical write error: no space left")
	before := l.failedTimes()
	l.Errorf("Critical write error: input/output error")
	if l.mended(before) || l.writeFailure() == "" {
		t.Error("a failure that came meanwhile is forgotten")
	}
	if !l.mended(l.failedTimes()) || l.writeFailure() != "" {
		t.Error("what was mended still counts as a failure")
	}
}
