package ledger

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/integration"
)

// says appends what was said in a session, and at last its end where it has one.
func (a *archiving) says(id, text string, n int, ends bool) error {
	for i := range n {
		e := bustest.Event(id, fmt.Sprintf("%s-%d", id, i), strings.Repeat(text, 20))
		e.Time = time.Now()
		if ends && i == n-1 {
			e.Data = schemas.SessionEnded{Reason: "done"}
		}
		if _, err := bus.Record(a.ctx, a.log, e); err != nil {
			return fmt.Errorf("%s, the %dth: %w", id, i, err)
		}
	}
	return nil
}

// TestBoundEndsInArchiving: whoever is at work, and however fast, a bound has old events
// leave for the archive. None is refused, nobody is warned, and the stream gets small.
func TestBoundEndsInArchiving(t *testing.T) {
	const most = 200_000
	together := func(n int, say func(i int) error) error {
		var all sync.WaitGroup
		errs := make([]error, n)
		for i := range n {
			all.Go(func() { errs[i] = say(i) })
		}
		all.Wait()
		return errors.Join(errs...)
	}
	for name, load := range map[string]func(a *archiving) error{
		"one at work all the time": func(a *archiving) error {
			for i := range 100 {
				if err := errors.Join(a.says("always", fmt.Sprint("at work ", i), 1, false), a.says(fmt.Sprint("s-", i), "said ", 20, true)); err != nil {
					return err
				}
			}
			return nil
		},
		"sub-agents that never end": func(a *archiving) error {
			for i := range 100 {
				if err := a.says(fmt.Sprint("sub-", i), "delegated ", 20, false); err != nil {
					return err
				}
			}
			return nil
		},
		"all at once, none ends": func(a *archiving) error {
			return together(16, func(i int) error { return a.says(fmt.Sprint("s-", i), "said ", 150, false) })
		},
		"many short ones at once": func(a *archiving) error {
			return together(16, func(i int) error {
				for n := range 75 {
					if err := a.says(fmt.Sprint("s-", i, "-", n), "said ", 2, true); err != nil {
						return err
					}
				}
				return nil
			})
		},
		"large ones": func(a *archiving) error {
			for i := range 20 {
				if err := a.says(fmt.Sprint("large-", i), strings.Repeat("x", 3000), 1, i%2 == 0); err != nil {
					return err
				}
			}
			return nil
		},
		"a bound set on a full stream": func(a *archiving) error {
			return a.says("next", "said ", 30, true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "one at work all the time" && name != "a bound set on a full stream" {
				integration.Only(t, "one at work all the time")
			}
			a := newArchiving(t)
			if strings.HasPrefix(name, "a bound") {
				must(t, a.says("before", "said ", 1500, false))
			}
			a.bound(most)
			stop := a.archiver.Begin(t.Context())
			defer stop()
			if err := load(a); err != nil {
				t.Errorf("refused: %v", err)
			}
			must(t, a.says("last", "said ", 2, true))
			if told := a.archiver.Problems(); len(told) > 0 {
				t.Errorf("told: %v", told)
			}
			stop()
			if _, err := a.archiver.inTurn(t.Context(), true); err != nil || a.archiver.fills(t.Context(), 100) || a.archiver.Stays() {
				t.Errorf("it is as large as before: %v", err)
			}
			want := a.holds(t, nil)
			a.again(t)
			a.holds(t, want)
		})
	}
}
