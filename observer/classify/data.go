package classify

import (
	"bufio"
	"bytes"
	_ "embed" // the held-out texts
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrData is returned for labelled data that cannot be used; the error names
// the line.
var ErrData = errors.New("classify: bad data")

// Labelled is a text and whether it is worth keeping.
type Labelled struct {
	Text string
	Keep bool
}

// maxLine bounds a line of labelled data, bytes.
const maxLine = 1 << 20

// ReadLabelled reads JSON Lines: {"text": "…", "keep": true}. Both keys are
// needed, others are ignored, empty lines are skipped.
func ReadLabelled(r io.Reader) ([]Labelled, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var all []Labelled
	n := 0
	for lines.Scan() {
		n++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var l struct {
			Text *string `json:"text"`
			Keep *bool   `json:"keep"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrData, n, err)
		}
		if l.Text == nil || l.Keep == nil {
			return nil, fmt.Errorf("%w: line %d has no text or no keep", ErrData, n)
		}
		all = append(all, Labelled{*l.Text, *l.Keep})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: line %d: %w", ErrData, n+1, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: there is nothing in it", ErrData)
	}
	return all, nil
}

// Heldout is the labelled data that the model in the program was measured on.
//
//go:embed testdata/heldout.jsonl
var Heldout string
