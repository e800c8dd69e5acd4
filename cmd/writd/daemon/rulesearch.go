package daemon

import (
	"context"

	"github.com/writbus/writ/retrieval/fulltext"
	"github.com/writbus/writ/schemas"
)

// ruleSearch searches the rules by query string, phrase, typing errors or
// prefix.
func (d *Daemon) ruleSearch(ctx context.Context, r fulltext.Request) (fulltext.Result, error) {
	result, err := d.corpus.FullText(ctx, r)
	if err != nil {
		return result, schemas.Faultf(schemas.CodeBadRequest, "%v", err)
	}
	return result, nil
}
