package cli

import (
	"strings"
	"unicode"
)

// diff colours a line of a unified diff.
func (s style) diff(line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return s.bold(line)
	case strings.HasPrefix(line, "+"):
		return s.green(line)
	case strings.HasPrefix(line, "-"):
		return s.red(line)
	case strings.HasPrefix(line, "@@"):
		return s.cyan(line)
	}
	return line
}

// printable shows control characters instead of sending them to the terminal:
// what an agent wrote must not move the cursor over what the user is to read.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return '\uFFFD'
		}
		return r
	}, text)
}

// printableLines is printable for a text of several lines.
func printableLines(text string) string {
	text = strings.ReplaceAll(text, "\r", "")
	if !strings.Contains(text, "\n") {
		return printable(text)
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = printable(line)
	}
	return strings.Join(lines, "\n")
}
