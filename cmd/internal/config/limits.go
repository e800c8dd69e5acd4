package config

import (
	"fmt"
	"time"

	"github.com/writbus/writ/enforcement/dialect"
)

// The most that a limit can be set to: beyond these one response could take
// the daemon's memory or keep it busy for hours.
const (
	maxCount = 1000
	maxBytes = 4 << 20
	maxExec  = time.Hour
)

// checkLimits returns ErrSettings naming the first limit that cannot be.
func checkLimits(l dialect.Limits) error {
	counts := []struct {
		name  string
		value int
		most  int
	}{
		{"commands", l.Commands, maxCount},
		{"fetches", l.Fetches, maxCount},
		{"searches", l.Searches, maxCount},
		{"advises", l.Advises, maxCount},
		{"children", l.Children, maxCount},
		{"model_calls", l.ModelCalls, maxCount},
		{"body", l.Body, maxBytes},
		{"batch", l.Batch, maxBytes},
		{"output", l.Output, maxBytes},
	}
	for _, c := range counts {
		if c.value < 0 || c.value > c.most {
			return fmt.Errorf("%w: limits.%s is %d, must be 1 to %d, or 0 for the language's own", ErrSettings, c.name, c.value, c.most)
		}
	}
	if l.Exec < 0 || l.Exec > maxExec {
		return fmt.Errorf("%w: limits.exec is %s, must be a duration up to %s, such as 90s", ErrSettings, l.Exec, maxExec)
	}
	return nil
}
