package daemon

import (
	"time"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/observer/heap"
	"github.com/writbus/writ/retrieval/artifact/strategy"
	"github.com/writbus/writ/retrieval/files/library"
	"github.com/writbus/writ/schemas"
)

// fileWaits bound what waits for an index of files. A variable for tests.
var fileWaits = library.Waits{
	Open: 2 * time.Second, Load: 8 * time.Second, Compare: 100 * time.Millisecond, Quiet: 3 * time.Second, Answer: 8 * time.Second, Save: 3 * time.Second,
}

// openFiles opens the service of projects' files.
func (d *Daemon) openFiles() {
	d.files = library.New(library.Options{
		Log: d.log, Runtime: d.runtime, View: d.views.artifacts, Data: d.layout.Root, Embedder: d.corpus.Embedder().Many(),
		Strategies: strategiesOf, Waits: fileWaits, Now: d.now, Logger: d.logger, Warn: d.warn, Lean: heap.Lean,
	})
}

// strategiesOf are those of a project's settings.
func strategiesOf(root string) (strategy.Set, error) {
	settings, err := config.LoadProject(root)
	if err != nil {
		return nil, schemas.Faultf(schemas.CodeBadRequest, "%v", err)
	}
	set, err := strategy.BuiltIn().With(settings.Strategies)
	if err != nil {
		return nil, schemas.Faultf(schemas.CodeBadRequest, "%s of %s: %v", config.ProjectFile, root, err)
	}
	return set, nil
}
