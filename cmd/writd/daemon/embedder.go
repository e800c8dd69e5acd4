package daemon

import (
	"fmt"
	"hash/crc32"

	"github.com/writbus/writ/cmd/writd/config"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/embed/static"
	"github.com/writbus/writ/schemas"
)

// embedder is what turns texts into vectors, as the settings choose it.
type embedder struct {
	retrieval.Embedder // nil: words alone
	// problem is why the chosen one does not serve, which every answer repeats.
	problem string
}

// openEmbedder loads the embedder of the settings. One that cannot be loaded
// leaves words alone, and says so.
func openEmbedder(s config.Settings) embedder {
	switch s.Embedder {
	case "none":
		return embedder{}
	case "static":
		e, err := static.Default()
		if err != nil {
			return embedder{problem: err.Error()}
		}
		return embedder{Embedder: e}
	}
	return embedder{problem: fmt.Sprintf("there is no embedder %q", s.Embedder)}
}

// analyse makes the document of a rule that is searched, vectors included.
func (e embedder) analyse(r schemas.Rule) (retrieval.Document, error) {
	doc := retrieval.Analyse(r)
	if e.Embedder == nil {
		return doc, nil
	}
	return retrieval.Embed(doc, e.Embedder)
}

// version changes whenever analyse gives other bytes: with the analysis, and
// with the embedder.
func (e embedder) version() int {
	name := retrieval.EmbedderNone
	if e.Embedder != nil {
		name = e.Name()
	}
	return retrieval.AnalysisVersion<<32 | int(crc32.ChecksumIEEE([]byte(name)))
}
