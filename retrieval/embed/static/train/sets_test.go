package train

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrSet is returned for an evaluation set that cannot be used.
var ErrSet = errors.New("train: not an evaluation set")

// Set is documents and queries with the documents that answer them.
type Set struct {
	Name      string     `json:"-"`
	Documents []Document `json:"docs"`
	Queries   []Judged   `json:"queries"`
}

// Document is one text to be found.
type Document struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Body  string `json:"body"`
}

// Text is what is embedded.
func (d Document) Text() string {
	if d.Title == "" {
		return d.Body
	}
	return d.Title + ". " + d.Body
}

// Judged is a query and the ids of the documents that answer it.
type Judged struct {
	ID       string   `json:"id"`
	Text     string   `json:"q"`
	Relevant []string `json:"rel"`
}

// ReadSets reads every *.json and *.json.gz file of a folder, by name. An error
// wraps [ErrSet] unless a file cannot be opened.
func ReadSets(dir string) ([]Set, error) {
	var names []string
	for _, pattern := range []string{"*.json", "*.json.gz"} {
		matched, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, fmt.Errorf("train: look into %s: %w", dir, err)
		}
		names = append(names, matched...)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: %s holds no *.json or *.json.gz file", ErrSet, dir)
	}
	slices.Sort(names)
	var err error
	sets := make([]Set, len(names))
	for i, name := range names {
		if sets[i], err = readSet(name); err != nil {
			return nil, err
		}
	}
	return sets, nil
}

func readSet(name string) (Set, error) {
	f, err := os.Open(name)
	if err != nil {
		return Set{}, fmt.Errorf("train: %w", err)
	}
	defer func() { _ = f.Close() }()
	base, zipped := strings.CutSuffix(filepath.Base(name), ".gz")
	var content io.Reader = f
	if zipped {
		if content, err = gzip.NewReader(f); err != nil {
			return Set{}, fmt.Errorf("%w: %s: %w", ErrSet, name, err)
		}
	}
	return decodeSet(strings.TrimSuffix(base, ".json"), content)
}

func decodeSet(name string, r io.Reader) (Set, error) {
	set := Set{Name: name}
	if err := json.NewDecoder(r).Decode(&set); err != nil {
		return Set{}, fmt.Errorf("%w: %s: %w", ErrSet, name, err)
	}
	known := make(map[string]bool, len(set.Documents))
	for _, d := range set.Documents {
		if known[d.ID] {
			return Set{}, fmt.Errorf("%w: %s: two documents %q", ErrSet, name, d.ID)
		}
		known[d.ID] = true
	}
	for _, q := range set.Queries {
		if len(q.Relevant) == 0 {
			return Set{}, fmt.Errorf("%w: %s: query %q has no answer", ErrSet, name, q.ID)
		}
		for _, id := range q.Relevant {
			if !known[id] {
				return Set{}, fmt.Errorf("%w: %s: query %q is answered by %q, which is not there", ErrSet, name, q.ID, id)
			}
		}
	}
	return set, nil
}
