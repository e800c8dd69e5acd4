package markdown

import (
	"strings"
	"unicode/utf8"
)

// word is what wrapping does not part.
type word struct {
	text  string // as printed, colours included
	width int
}

// span is a stretch of text in one style.
type span struct {
	text string
	code string // ANSI, "" for none
}

// spans reads the marks of a line: code, strong, emphasis and links, of which
// the text is kept.
func spans(text string) []span {
	var all []span
	rest := ""
	flush := func() {
		if rest != "" {
			all = append(all, span{text: rest})
			rest = ""
		}
	}
	for text != "" {
		if s, end := marked(text); end > 0 {
			flush()
			all = append(all, s)
			text = text[end:]
			continue
		}
		_, size := utf8.DecodeRuneInString(text)
		if text[0] == '\\' && len(text) > 1 && strings.IndexByte("|*`[]_\\", text[1]) >= 0 {
			text, size = text[1:], 1
		}
		rest += text[:size]
		text = text[size:]
	}
	flush()
	return all
}

// marked reads a span that begins here; end is 0 where none does.
func marked(text string) (s span, end int) {
	enclosed := func(mark string) string {
		if !strings.HasPrefix(text, mark) {
			return ""
		}
		inside, _, found := strings.Cut(text[len(mark):], mark)
		if !found || strings.TrimSpace(inside) != inside {
			return ""
		}
		return inside
	}
	if in := enclosed("`"); in != "" {
		return span{strings.ReplaceAll(in, `\|`, "|"), codeStyle}, len(in) + 2
	}
	if in := enclosed("**"); in != "" {
		return span{unmarked(in), "1"}, len(in) + 4
	}
	if in := enclosed("*"); in != "" {
		return span{unmarked(in), "3"}, len(in) + 2
	}
	if strings.HasPrefix(text, "[") {
		label, target, found := strings.Cut(text[1:], "](")
		if to, _, closed := strings.Cut(target, ")"); found && closed && !strings.Contains(label, "[") {
			s := span{unmarked(label), "4"}
			if strings.HasPrefix(label, "`") {
				s.code = codeStyle
			}
			if strings.Contains(to, "://") && to != label {
				s.text += " (" + to + ")"
			}
			return s, len(label) + len(to) + 4
		}
	}
	return span{}, 0
}

const codeStyle = "36"

// shown is a text as it is printed, but for colours.
func (p *printer) shown(text string) string {
	var out strings.Builder
	for _, s := range spans(text) {
		out.WriteString(p.plain(s))
	}
	return out.String()
}

// plain is a span without colours: code keeps its marks where it has none.
func (p *printer) plain(s span) string {
	if s.code == codeStyle && !p.options.Colour {
		return "`" + s.text + "`"
	}
	return s.text
}

// unmarked is a text without its marks.
func unmarked(text string) string {
	var out strings.Builder
	for _, s := range spans(text) {
		out.WriteString(s.text)
	}
	return out.String()
}

// words parts a text at its blanks.
func (p *printer) words(text string) []word {
	var all []word
	var now word
	end := func() {
		if now.width > 0 {
			all = append(all, now)
		}
		now = word{}
	}
	for _, s := range spans(text) {
		for i, part := range strings.Split(strings.ReplaceAll(p.plain(s), "\n", " "), " ") {
			if i > 0 {
				end()
			}
			if s.code == "" {
				now.text += part
			} else {
				now.text += p.paint(s.code, part)
			}
			now.width += utf8.RuneCountInString(part)
		}
	}
	end()
	return all
}

// wrap breaks a text into lines of at most width columns, unless a word is
// wider.
func (p *printer) wrap(text string, width int) []string {
	var lines []string
	line, used := "", 0
	for _, w := range p.words(text) {
		if used > 0 && used+1+w.width > width {
			lines = append(lines, line)
			line, used = "", 0
		}
		if used > 0 {
			line += " "
			used++
		}
		line += w.text
		used += w.width
	}
	return append(lines, line)
}
