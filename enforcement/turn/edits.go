package turn

import (
	"errors"
	"io/fs"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/check"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/schemas"
)

// edits compares what a call in small mode would leave of files of code with what
// they held at the user's prompt, where that can be told, and notes the lines at
// its targets. Several writes of one file follow each other.
func (c *contents) edits(t turn, targets []schemas.Target, counted enforcement.Small) map[string]enforcement.Edit {
	edits := map[string]enforcement.Edit{}
	left := map[string][]byte{} // by the call's earlier writes
	untold := map[string]bool{}
	for i, w := range t.Writes {
		target := &targets[i]
		if target.Class != enforcement.ClassCode {
			continue
		}
		before, written := left[target.Path]
		after, known := leaves(w, target.Path, &before, written)
		if untold[target.Path] = untold[target.Path] || !known; untold[target.Path] {
			delete(edits, target.Rel)
			continue
		}
		base, all := c.sincePrompt(t, *target, before, written, counted)
		target.Lines = all + differing(base, after)
		left[target.Path] = after
		edits[target.Rel] = enforcement.NewEdit(target.Rel, base, after, edits[target.Rel].Lines+differing(before, after), target.Lines)
	}
	return edits
}

// sincePrompt is what a file held at the user's prompt. Where nobody knows, it is
// what stands there now, with the lines that were counted before.
func (c *contents) sincePrompt(t turn, target schemas.Target, now []byte, written bool, counted enforcement.Small) ([]byte, int) {
	key := t.Session + "\x00" + target.Path
	if counted[target.Rel] == 0 && !written {
		c.prompted.keep(key, now)
	}
	if base, known := c.prompted.held(key); known {
		return base, 0
	}
	return now, counted[target.Rel]
}

// leaves is what a write leaves of a file, if that can be told; what it held is
// read, unless an earlier write of the call left it.
func leaves(w host.Write, path string, before *[]byte, written bool) ([]byte, bool) {
	exists := written
	if !written {
		content, err := project.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, false
		}
		*before, exists = content, err == nil
	}
	if w.Gone {
		return nil, exists
	}
	return contentAfter(w, *before, exists)
}

// differing counts the lines that are not the same in two contents, the larger of
// both.
func differing(before, after []byte) int {
	return max(countLines(check.Changed(before, after)), countLines(check.Changed(after, before)))
}

func countLines(ranges []check.Range) (n int) {
	for _, r := range ranges {
		n += r.Last - r.First + 1
	}
	return n
}
