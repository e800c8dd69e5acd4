// Package markdown renders Markdown for a terminal: what the topics of writ help
// are written in, and no more of it – headings, paragraphs, lists, fenced code,
// tables, quotes, code spans, emphasis and links.
//
// It guarantees that no line of prose is wider than asked where its words
// allow, that code stays as it is written, and that nothing but text is printed
// without colour, where code in a line keeps its marks. Text that is none of these forms is a paragraph. It is not a
// Markdown implementation: those cost the client's start more than a page is
// worth.
package markdown

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Options say what a page is rendered for.
type Options struct {
	Width  int  // columns; less than 20 counts as 20
	Colour bool // whether the terminal shows ANSI colours
}

// Render writes a document.
func Render(w io.Writer, markdown string, o Options) error {
	o.Width = max(o.Width, 20)
	p := &printer{options: o}
	lines := strings.Split(strings.ReplaceAll(markdown, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); {
		i = p.block(lines, i)
	}
	_, err := io.WriteString(w, strings.TrimRight(p.out.String(), "\n")+"\n")
	return err
}

type printer struct {
	options Options
	out     strings.Builder
}

// block prints what begins at a line and returns the line after it.
func (p *printer) block(lines []string, i int) int {
	line := lines[i]
	trimmed := strings.TrimSpace(line)
	switch {
	case trimmed == "":
		return i + 1
	case strings.HasPrefix(trimmed, "```"):
		return p.fence(lines, i)
	case heading(trimmed) > 0:
		level := heading(trimmed)
		p.heading(level, strings.TrimSpace(trimmed[level:]))
		return i + 1
	case strings.HasPrefix(trimmed, "|"):
		return p.table(lines, i)
	case strings.HasPrefix(trimmed, ">"):
		end := run(lines, i, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), ">") })
		text := ""
		for _, l := range lines[i:end] {
			text += strings.TrimPrefix(strings.TrimSpace(l), ">") + " "
		}
		p.prose(text, "  ", "  ")
		p.out.WriteByte('\n')
		return end
	case marker(line) > 0:
		return p.list(lines, i)
	}
	end := run(lines, i, plain)
	p.prose(strings.Join(lines[i:end], " "), "", "")
	p.out.WriteByte('\n')
	return end
}

// run is the end of the lines from i on for which more holds; at least one.
func run(lines []string, i int, more func(string) bool) int {
	end := i + 1
	for end < len(lines) && more(lines[end]) {
		end++
	}
	return end
}

// plain says whether a line goes on with a paragraph.
func plain(line string) bool {
	t := strings.TrimSpace(line)
	return t != "" && heading(t) == 0 && marker(line) == 0 && !strings.HasPrefix(t, "```") && !strings.HasPrefix(t, "|") && !strings.HasPrefix(t, ">")
}

// heading is the level of a heading's line, 0 for any other.
func heading(line string) int {
	level := len(line) - len(strings.TrimLeft(line, "#"))
	if level == 0 || level > 6 || level >= len(line) || line[level] != ' ' {
		return 0
	}
	return level
}

// marker is the width of a list item's marker with what stands before it and
// the blank after it, 0 where the line begins no item.
func marker(line string) int {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	rest := line[indent:]
	if strings.HasPrefix(rest, "- ") || strings.HasPrefix(rest, "* ") {
		return indent + 2
	}
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if digits > 0 && strings.HasPrefix(rest[digits:], ". ") {
		return indent + digits + 2
	}
	return 0
}

func (p *printer) heading(level int, text string) {
	style := "1"
	if level == 1 {
		style = "1;4"
	}
	p.out.WriteString(p.paint(style, unmarked(text)) + "\n\n")
}

// fence prints code as it stands, indented.
func (p *printer) fence(lines []string, i int) int {
	end := i + 1
	for end < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[end]), "```") {
		if lines[end] == "" {
			p.out.WriteByte('\n')
		} else {
			p.out.WriteString("    " + p.paint("36", lines[end]) + "\n")
		}
		end++
	}
	p.out.WriteByte('\n')
	return end + 1
}

// list prints the items that follow each other.
func (p *printer) list(lines []string, i int) int {
	for i < len(lines) && marker(lines[i]) > 0 {
		width := marker(lines[i])
		end := run(lines, i, plain)
		mark := lines[i][:width]
		if strings.TrimSpace(mark) == "*" || strings.TrimSpace(mark) == "-" {
			mark = strings.NewReplacer("*", "•", "-", "•").Replace(mark)
		}
		text := lines[i][width:] + " " + strings.Join(lines[i+1:end], " ")
		p.prose(text, "  "+mark, "  "+strings.Repeat(" ", width))
		i = end
		if i+1 < len(lines) && strings.TrimSpace(lines[i]) == "" && marker(lines[i+1]) > 0 {
			i++
		}
	}
	p.out.WriteByte('\n')
	return i
}

// prose wraps text; first stands before its first line, next before the others.
func (p *printer) prose(text, first, next string) {
	for _, line := range p.wrap(text, p.options.Width-utf8.RuneCountInString(next)) {
		p.out.WriteString(strings.TrimRight(first+line, " ") + "\n")
		first = next
	}
}

func (p *printer) paint(code, text string) string {
	if !p.options.Colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
