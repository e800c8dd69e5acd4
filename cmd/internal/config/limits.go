package config

import (
	"fmt"
	"time"
)

// Limits bound what a response of the command language may do. What is 0 is
// the language's own (DIALECT).
type Limits struct {
	Commands   int           `yaml:"commands"`    // all commands together
	Fetches    int           `yaml:"fetches"`     // fetch and browse together
	Searches   int           `yaml:"searches"`    // searches of the web
	Advises    int           `yaml:"advises"`     // questions to the advisor
	Children   int           `yaml:"children"`    // of one parallel block
	Body       int           `yaml:"body"`        // bytes of one result
	Batch      int           `yaml:"batch"`       // bytes of all results of a response
	Output     int           `yaml:"output"`      // bytes of one exec's output
	Exec       time.Duration `yaml:"exec"`        // how long one exec may take
	ModelCalls int           `yaml:"model_calls"` // model calls for one message
}

// The most that a limit can be set to: beyond these one response could take
// the daemon's memory or keep it busy for hours.
const (
	maxCount = 1000
	maxBytes = 4 << 20
	maxExec  = time.Hour
)

// check returns ErrSettings naming the first limit that cannot be.
func (l Limits) check() error {
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
