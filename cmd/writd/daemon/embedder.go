package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/embed"
	"github.com/writbus/writ/retrieval/embed/openai"
	"github.com/writbus/writ/retrieval/embed/static"
	"github.com/writbus/writ/schemas"
)

// embedder is what turns texts into vectors, as the settings choose it.
type embedder struct {
	retrieval.Embedder // nil: words alone
	// problem is why the chosen one does not serve, which every answer repeats.
	problem string
	// beside says that it takes its time or may fail: its vectors are made
	// beside the log's projection, which must depend on the log alone.
	beside bool
}

// openEmbedder loads the embedder of the settings. One that cannot be loaded
// leaves words alone, and says so.
func openEmbedder(s config.Settings) embedder {
	var e embedder
	var err error
	switch {
	case s.Embedder == "none":
		return e
	case s.Embedder == "static":
		e.Embedder, err = static.Default()
	case strings.HasPrefix(s.Embedder, "http://"), strings.HasPrefix(s.Embedder, "https://"):
		e.beside = true
		e.Embedder, err = openai.New(openai.Options{URL: s.Embedder, Model: s.EmbedderModel, Key: os.Getenv(config.EmbedderKey)})
	case filepath.IsAbs(s.Embedder):
		info, statErr := os.Stat(s.Embedder)
		e.beside = statErr == nil && info.IsDir() // a trained table is a file, and fast
		e.Embedder, err = embed.Load(s.Embedder, embed.Options{})
	default:
		err = fmt.Errorf("there is no embedder %q: use static, none, a pulled model (writ model list shows them), the folder of one (an absolute path) or the URL of an endpoint", s.Embedder)
	}
	if err != nil {
		return embedder{problem: err.Error()}
	}
	return e
}

// analyse makes the document of a rule that is searched, vectors included
// unless they are made beside.
func (e embedder) analyse(r schemas.Rule) (retrieval.Document, error) {
	doc := retrieval.Analyse(r)
	if e.Embedder == nil || e.beside {
		return doc, nil
	}
	return retrieval.Embed(doc, e.Embedder)
}

// version changes whenever analyse gives other bytes: with the analysis, and
// with the embedder.
func (e embedder) version() int {
	if e.Embedder == nil || e.beside {
		return retrieval.StoredVersion("")
	}
	return retrieval.StoredVersion(e.Name())
}
