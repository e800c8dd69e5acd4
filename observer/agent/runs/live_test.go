package runs

import (
	"context"
	"log/slog"
	"testing"
)

func TestARunThatPanicsEndsAlone(t *testing.T) {
	live := &liveRuns{logger: slog.New(slog.DiscardHandler)}
	_, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	l := newLiveRun("r", cancel)
	live.guarded(l, func() { panic("broken") })
	reply := l.follow(t.Context(), 0)
	if !reply.Done || reply.Finished == nil || reply.Finished.Outcome != "failed" {
		t.Errorf("%+v", reply)
	}
}
