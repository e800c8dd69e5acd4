package client

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Diff colours a line of a unified diff.
func (s Style) Diff(line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return s.Bold(line)
	case strings.HasPrefix(line, "+"):
		return s.Green(line)
	case strings.HasPrefix(line, "-"):
		return s.Red(line)
	case strings.HasPrefix(line, "@@"):
		return s.Cyan(line)
	}
	return line
}

// IsTerminal says whether a stream is one of a person at a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Style colours text where the reader is a person at a terminal.
type Style struct{ On bool }

// Style is how text on a stream is coloured.
func (e Env) Style(w io.Writer) Style {
	return Style{IsTerminal(w) && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"}
}

func (s Style) paint(code, text string) string {
	if !s.On || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold is bold text.
func (s Style) Bold(text string) string { return s.paint("1", text) }

// Dim is faint text.
func (s Style) Dim(text string) string { return s.paint("2", text) }

// Red is red text.
func (s Style) Red(text string) string { return s.paint("31", text) }

// Green is green text.
func (s Style) Green(text string) string { return s.paint("32", text) }

// Yellow is yellow text.
func (s Style) Yellow(text string) string { return s.paint("33", text) }

// Cyan is cyan text.
func (s Style) Cyan(text string) string { return s.paint("36", text) }
