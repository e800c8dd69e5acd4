package daemon

import (
	"cmp"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement/dialect"
)

// limitsOf are the language's own limits, but for those that were set.
func limitsOf(set config.Limits) dialect.Limits {
	own := dialect.DefaultLimits()
	return dialect.Limits{
		Commands: cmp.Or(set.Commands, own.Commands), Fetches: cmp.Or(set.Fetches, own.Fetches),
		Searches: cmp.Or(set.Searches, own.Searches), Advises: cmp.Or(set.Advises, own.Advises),
		Children: cmp.Or(set.Children, own.Children), Body: cmp.Or(set.Body, own.Body),
		Batch: cmp.Or(set.Batch, own.Batch), Output: cmp.Or(set.Output, own.Output),
		Exec: cmp.Or(set.Exec, own.Exec), ModelCalls: cmp.Or(set.ModelCalls, own.ModelCalls),
	}
}
