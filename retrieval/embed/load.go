package embed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/retrieval/embed/bert"
	"github.com/writbus/writ/retrieval/embed/model2vec"
	"github.com/writbus/writ/retrieval/embed/safetensors"
)

// ErrUnknown is returned for a directory that holds no model [Load] knows.
var ErrUnknown = errors.New("embed: no model that can be used")

// Embedder turns texts into unit vectors of one dimension; a text without
// meaning to it may have a vector of zeros. It is a function of the text alone
// and safe for concurrent use.
type Embedder interface {
	Name() string // with its version
	Dim() int
	Embed(text string) ([]float32, error)
	// EmbedBatch returns the vectors of many texts, those of Embed, or an error
	// and none. It stops when ctx ends.
	EmbedBatch(ctx context.Context, texts []string) ([][]float32, error)
}

// Kind is what a model directory holds.
type Kind string

// The kinds.
const (
	BERT      Kind = "bert"      // a BERT or MiniLM encoder
	Model2Vec Kind = "model2vec" // a table distilled by Model2Vec
	Static    Kind = "static"    // a file: a table trained by Writ itself
)

// DefaultCache is how many query vectors [Load] remembers if [Options] do not say.
const DefaultCache = 1024

// Options change how a model is used. The zero value is the usual.
type Options struct {
	Name      string // before the version; the directory's name if empty
	MaxTokens int    // of a text that count; 0 is the model's default
	Cache     int    // texts remembered; 0 is [DefaultCache], negative for none
	Portable  bool   // use no vector instructions
}

// weightsFile is where each kind of directory keeps its numbers.
const weightsFile = "model.safetensors"

// Load reads the model in a directory. Its name ends with "@" and twelve digits
// of a SHA-256 over the files it consists of and how it is used. It reads a
// trained table, too, which is one file with a name and a checksum of its own
// and remembers no queries, being as fast as that.
func Load(dir string, opt Options) (Embedder, error) {
	kind, err := Detect(dir)
	if err != nil {
		return nil, err
	}
	if kind == Static {
		return loadTable(dir)
	}
	version, err := verify(dir, opt.MaxTokens)
	if err != nil {
		return nil, err
	}
	name := opt.Name
	if name == "" {
		if name, err = baseName(dir); err != nil {
			return nil, err
		}
	}
	name += "@" + version
	var e Embedder
	switch kind {
	case BERT:
		e, err = bert.Load(dir, bert.Options{Name: name, MaxTokens: opt.MaxTokens, Portable: opt.Portable})
	case Model2Vec:
		e, err = model2vec.Load(dir, model2vec.Options{Name: name, MaxTokens: opt.MaxTokens})
	case Static: // is no directory
	}
	if err != nil {
		return nil, fmt.Errorf("load the model in %s: %w", dir, err)
	}
	switch {
	case opt.Cache == 0:
		return NewCache(e, DefaultCache), nil
	case opt.Cache > 0:
		return NewCache(e, opt.Cache), nil
	}
	return e, nil
}

func baseName(dir string) (string, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("embed: %w", err)
	}
	return filepath.Base(full), nil
}

// Detect says which kind of model a directory holds, by the tensors in it; a path
// that is no directory is a table's.
func Detect(dir string) (Kind, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return "", fmt.Errorf("embed: the model directory: %w", err)
	case !info.IsDir():
		return Static, nil
	}
	path := filepath.Join(dir, weightsFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", missing(dir)
	}
	return kindOf(path)
}

func kindOf(path string) (Kind, error) {
	file, err := safetensors.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	for _, known := range []struct {
		tensor string
		kind   Kind
	}{
		{"embeddings.word_embeddings.weight", BERT},
		{"bert.embeddings.word_embeddings.weight", BERT},
		{"embeddings", Model2Vec},
		{"embedding.weight", Model2Vec},
	} {
		if _, ok := file.Lookup(known.tensor); ok {
			return known.kind, nil
		}
	}
	return "", fmt.Errorf("%w: %s has the tensors of neither a BERT encoder nor a Model2Vec table, but %s", ErrUnknown, path, some(file.Names()))
}

func some(names []string) string {
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > 3:
		return fmt.Sprintf("%q and %d more", names[:3], len(names)-3)
	}
	return fmt.Sprintf("%q", names)
}

// missing says what is in a directory without weights, since the usual reason is
// a model in another format.
func missing(dir string) error {
	for _, other := range []string{"*.onnx", "onnx/*.onnx", "pytorch_model.bin", "tf_model.h5", "*.gguf", "0_StaticEmbedding/" + weightsFile} {
		if found, _ := filepath.Glob(filepath.Join(escape(dir), other)); len(found) > 0 {
			return fmt.Errorf("%w: %s has no %s, only %s; %s", ErrUnknown, dir, weightsFile, found[0], convert)
		}
	}
	return fmt.Errorf("%w: %s has no %s", ErrUnknown, dir, weightsFile)
}

// convert is what to do with a model in another format.
const convert = "take " + weightsFile + " from where the model is published, or save it so with the Python package transformers: AutoModel.from_pretrained(…).save_pretrained(…)"

// escape makes a path match itself in filepath.Glob.
func escape(path string) string {
	if filepath.Separator == '\\' { // there is no escaping on Windows, and no * or ? in names
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
