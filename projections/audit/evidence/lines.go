package evidence

import (
	"cmp"
	"fmt"
)

// Line is what a report says of one finding, or of several that tell the same.
type Line struct {
	Change Change
	Text   string
	Of     int // findings
}

// String begins with the change.
func (l Line) String() string { return string(l.Change) + ": " + l.Text }

// toldTogether is how many records removed one after the other a line stands for at
// least.
const toldTogether = 4

// Lines put findings, by sequence, into words.
func Lines(all []Finding) (lines []Line) {
	for len(all) > 0 {
		n := 0
		for n < len(all) && all[n].Change == Removed && all[n].Seq == all[0].Seq+uint64(n) {
			n++
		}
		if n < toldTogether {
			lines, all = append(lines, all[0].line()), all[1:]
			continue
		}
		text := fmt.Sprintf("records %d to %d, events %s to %s", all[0].Seq, all[n-1].Seq, all[0].ID, all[n-1].ID)
		lines, all = append(lines, Line{Removed, text, n}), all[n:]
	}
	return lines
}

func (f Finding) line() Line {
	id := f.ID
	id = cmp.Or(id, "(without an id)")
	text := fmt.Sprintf("record %d, event %s", f.Seq, id)
	if f.Change == Moved {
		text += fmt.Sprintf(", signed as record %d", f.Was)
	}
	return Line{f.Change, text, 1}
}
