package bustest_test

import (
	"errors"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/schemas"
)

func TestMemory(t *testing.T) {
	bustest.Run(t, func(*testing.T) bustest.Log { return bustest.NewMemory() })
}

func TestMemoryRefuses(t *testing.T) {
	log := bustest.NewMemory()
	if err := log.EnsureStreams(t.Context(), bus.Retention{}); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("disk on fire")
	log.Refuse(func(e schemas.Event) error {
		if e.ID == "2" {
			return failure
		}
		return nil
	})
	for _, c := range []struct {
		id   string
		want error
	}{{"1", nil}, {"2", failure}} {
		if _, err := log.Append(t.Context(), bustest.Event("s", c.id, "p"), nil, bus.Any()); !errors.Is(err, c.want) {
			t.Errorf("append %s: got %v, want %v", c.id, err, c.want)
		}
	}
	log.Refuse(nil)
	p, err := log.Append(t.Context(), bustest.Event("s", "2", "p"), nil, bus.LastSeq(1))
	if err != nil || p.Seq != 2 {
		t.Fatalf("after the refusals: %+v, %v", p, err)
	}
}
