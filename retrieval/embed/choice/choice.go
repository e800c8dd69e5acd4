// Package choice opens the embedder that the settings name: one of the two in the
// program, a pulled model's folder, the URL of an endpoint, or none.
//
// One that cannot be opened is no error: [Open] returns words alone and why, and
// whoever answers by it repeats the reason.
package choice

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/embed"
	"github.com/writbus/writ/retrieval/embed/minilm"
	"github.com/writbus/writ/retrieval/embed/openai"
	"github.com/writbus/writ/retrieval/embed/static"
)

// Settings name an embedder.
type Settings struct {
	Name  string // "none", "static", "minilm", an absolute path, or a URL
	Model string // of an endpoint
	Key   string // of an endpoint
}

// Embedder is what turns texts into vectors, as the settings choose it.
type Embedder struct {
	retrieval.Embedder // nil: words alone
	// Problem is why the chosen one does not serve, which every answer repeats.
	Problem string
	// Beside says that it takes its time or may fail: its vectors are made
	// beside the log's projection, which must depend on the log alone.
	Beside bool
	// Meanwhile makes vectors until those made beside are there; nil: words alone.
	Meanwhile retrieval.Embedder
	// table says that texts that are many are for Meanwhile.
	table bool
}

// Many is the embedder of texts that are many, as parts of files are, or that
// somebody waits for: the table in the program stands in for the encoder there.
func (e Embedder) Many() Embedder {
	if e.table {
		return Embedder{Embedder: e.Meanwhile, Problem: e.Problem}
	}
	return e
}

// Open loads the embedder of the settings. One that cannot be loaded leaves
// words alone, and says so.
func Open(s Settings) Embedder {
	var e Embedder
	var err error
	switch {
	case s.Name == "none":
		return e
	case s.Name == "static":
		e.Embedder, err = static.Default()
	case s.Name == minilm.Setting:
		e.Beside, e.table = true, true
		if e.Embedder, err = minilm.Default(); err == nil {
			e.Meanwhile, err = static.Default()
		}
	case strings.HasPrefix(s.Name, "http://"), strings.HasPrefix(s.Name, "https://"):
		e.Beside = true
		e.Embedder, err = openai.New(openai.Options{URL: s.Name, Model: s.Model, Key: s.Key})
	case filepath.IsAbs(s.Name):
		info, statErr := os.Stat(s.Name)
		e.Beside = statErr == nil && info.IsDir() // a trained table is a file, and fast
		e.Embedder, err = embed.Load(s.Name, embed.Options{})
	default:
		err = fmt.Errorf("there is no embedder %q: use minilm, static, none, a pulled model (`writ model list` shows them), the folder of one (an absolute path) or the URL of an endpoint", s.Name)
	}
	if err != nil {
		return Embedder{Problem: err.Error()}
	}
	return e
}
