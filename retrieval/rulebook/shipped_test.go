package rulebook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/writbus/writ/bus"
)

func TestShippedRulesComeInWhereTheLogWasSlow(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		fails []error
		want  error
		asked int
	}{
		"at once":       {nil, nil, 1},
		"slow twice":    {[]error{fmt.Errorf("append: %w", bus.ErrUnavailable), bus.ErrUnavailable}, nil, 3},
		"a full disk":   {slices.Repeat([]error{fmt.Errorf("append: %w", bus.ErrDiskFull)}, 100), nil, 101},
		"another fault": {[]error{bus.ErrUnavailable, broken}, broken, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			err := again(t.Context(), slog.New(slog.DiscardHandler), func(context.Context) error {
				if asked++; asked <= len(c.fails) {
					return c.fails[asked-1]
				}
				return nil
			})
			if !errors.Is(err, c.want) || asked != c.asked {
				t.Errorf("%s: asked %d times, %v", name, asked, err)
			}
		})
	}
}

func TestShippedRulesAreReadAgainAfterTheyWereForgotten(t *testing.T) {
	first, err := shipped.files()
	if err != nil || len(first) == 0 {
		t.Fatalf("%d rules, %v", len(first), err)
	}
	shipped.forget()
	again, err := shipped.files()
	if err != nil || len(again) != len(first) {
		t.Errorf("%d rules, %v, want %d", len(again), err, len(first))
	}
}
