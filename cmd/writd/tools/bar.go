package tools

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// bar is a line that is written over again, for a person who watches; nothing
// is written where nobody does.
type bar struct {
	out  io.Writer // nil for none
	last string
}

func newBar(w io.Writer) *bar {
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return &bar{out: file}
	}
	return &bar{}
}

// show writes the line when its first part has changed.
func (b *bar) show(line, more string) {
	if b.out == nil || line == b.last {
		return
	}
	b.last = line
	_, _ = fmt.Fprintf(b.out, "\r%-60s", line+more)
}

// end leaves the line.
func (b *bar) end() {
	if b.out != nil && b.last != "" {
		_, _ = fmt.Fprintln(b.out)
	}
}
