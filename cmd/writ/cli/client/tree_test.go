package client

import (
	"errors"
	"testing"

	"github.com/spf13/cobra"
)

// TestOnlyRunsWhatIsAllowed: also where somebody runs the command by its RunE alone.
func TestOnlyRunsWhatIsAllowed(t *testing.T) {
	for _, refusal := range []error{nil, errors.New("for persons")} {
		ran := false
		c := &cobra.Command{RunE: Only(func() error { return refusal }, func(*cobra.Command, []string) error { ran = true; return nil })}
		if err := c.RunE(c, nil); !errors.Is(err, refusal) || ran != (refusal == nil) {
			t.Errorf("with %v: %v, ran: %t", refusal, err, ran)
		}
	}
}
