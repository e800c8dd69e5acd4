package client

import (
	"os"
	"strings"

	"github.com/clipperhouse/displaywidth" // what a terminal draws: wide letters take two columns, marks none
	"golang.org/x/term"
)

// Width is how many columns lines on a stream may have: those of its terminal, 0
// where no person looks and lines stay whole.
func (e Env) Width(stream any) int {
	if e.Columns > 0 {
		return e.Columns
	}
	if file, ok := stream.(*os.File); ok {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 0
}

// columnGap is the least that parts columns, and by which folded lines hang.
const columnGap = 2

// Fold breaks the lines of a text at spaces, so that each has at most width
// columns; 0 leaves them. What is broken hangs below the text of its line: a little
// further in, and below the text where the line is a name, a gap and a text. A word that is
// wider than a line stays whole, so that it can be copied.
func Fold(text string, width int) string {
	if width <= 0 {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimSuffix(line, "\n")
		if Columns(body) <= width {
			out.WriteString(line)
			continue
		}
		out.WriteString(foldLine(body, width))
		out.WriteString(line[len(body):])
	}
	return out.String()
}

func foldLine(line string, width int) string {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	hang := hanging(line, indent, width)
	var out strings.Builder
	used, fresh := 0, true
	for rest := line; rest != ""; {
		gap := len(rest) - len(strings.TrimLeft(rest, " "))
		word, _, _ := strings.Cut(rest[gap:], " ")
		rest = rest[gap+len(word):]
		wide := Columns(word)
		if !fresh && used+gap+wide > width {
			out.WriteString("\n")
			used, gap = 0, hang
		}
		out.WriteString(strings.Repeat(" ", gap) + word)
		used, fresh = used+gap+wide, false
	}
	return strings.TrimRight(out.String(), " ")
}

// hanging is where the broken parts of a line begin.
func hanging(line string, indent, width int) int {
	if name, text, found := strings.Cut(line[indent:], strings.Repeat(" ", columnGap)); found && strings.TrimSpace(text) != "" {
		gap := len(text) - len(strings.TrimLeft(text, " "))
		if column := indent + Columns(name) + columnGap + gap; column <= width/2 {
			return column
		}
	}
	if indent == 0 {
		return 0
	}
	return min(indent+columnGap, width/2)
}

// Columns is how many columns a line takes on a terminal, colours left out.
func Columns(line string) int {
	n := 0
	for line != "" {
		plain, colour, found := strings.Cut(line, "\x1b[")
		n += displaywidth.String(plain)
		if !found {
			return n
		}
		_, line, _ = strings.Cut(colour, "m")
	}
	return n
}

// Reflow joins the lines of each paragraph, and leaves what is indented as it is,
// so that folding fills the lines.
func Reflow(text string) string {
	var out strings.Builder
	open := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		prose := line != "" && !strings.HasPrefix(line, " ")
		switch {
		case open && prose:
			out.WriteString(" ")
		case open:
			out.WriteString("\n")
		}
		out.WriteString(line)
		if !prose {
			out.WriteString("\n")
		}
		open = prose
	}
	return strings.TrimSuffix(out.String(), "\n")
}
