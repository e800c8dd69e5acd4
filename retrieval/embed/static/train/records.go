package train

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ErrNoRecords is returned by [Train] for a folder without training text.
var ErrNoRecords = errors.New("train: no training text")

// Record is one line of a training file: a short text and the long one it
// belongs to.
type Record struct {
	Source  string   `json:"src"`
	Title   string   `json:"title"`
	Path    []string `json:"path"` // headings above this one
	Heading string   `json:"heading"`
	Body    string   `json:"body"`
}

// readFolder hands every record of the folder's *.jsonl.gz files to yield, in
// the order of the file names.
func readFolder(ctx context.Context, dir string, yield func(Record)) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil {
		return fmt.Errorf("train: look into %s: %w", dir, err)
	}
	if len(names) == 0 {
		return fmt.Errorf("%w: %s holds no *.jsonl.gz file", ErrNoRecords, dir)
	}
	for _, name := range names {
		if err := readFile(ctx, name, yield); err != nil {
			return fmt.Errorf("train: read %s: %w", name, err)
		}
	}
	return nil
}

func readFile(ctx context.Context, name string, yield func(Record)) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	return readRecords(ctx, unzipped, yield)
}

func readRecords(ctx context.Context, r io.Reader, yield func(Record)) error {
	lines := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 && string(line) != "\n" {
			var record Record
			if err := json.Unmarshal(line, &record); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			yield(record)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
}
