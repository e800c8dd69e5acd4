package chunk

import "strings"

// mask replaces what is in comments and strings with blanks, and keeps lines
// and offsets. It is no lexer: where a language is subtle (a slash may begin a
// regular expression) a quote ends with its line at the latest, so that a
// mistake does not go far.
func mask(text string, c comments) string {
	var out strings.Builder
	out.Grow(len(text))
	begins, kept := c.begins(), 0
	for at := 0; at < len(text); {
		if !begins[text[at]] {
			at++
			continue
		}
		n := c.skip(text[at:])
		if n == 0 {
			at++
			continue
		}
		out.WriteString(text[kept:at])
		for i := at; i < at+n; i++ {
			if text[i] == '\n' || text[i] == '\r' {
				out.WriteByte(text[i])
			} else {
				out.WriteByte(' ')
			}
		}
		at += n
		kept = at
	}
	out.WriteString(text[kept:])
	return out.String()
}

// begins says of each byte whether a comment or a string may begin with it.
func (c comments) begins() (is [256]bool) {
	for _, b := range c.block {
		is[b[0][0]] = true
	}
	for _, marks := range [][]string{c.line, c.long} {
		for _, mark := range marks {
			is[mark[0]] = true
		}
	}
	for _, quotes := range []string{c.quotes, c.multi} {
		for i := range len(quotes) {
			is[quotes[i]] = true
		}
	}
	return is
}

// skip is the length of the comment or string that a text begins with, 0 for
// none.
func (c comments) skip(s string) int {
	for _, b := range c.block {
		if strings.HasPrefix(s, b[0]) {
			return through(s, len(b[0]), b[1])
		}
	}
	for _, mark := range c.line {
		if strings.HasPrefix(s, mark) {
			return lineLen(s)
		}
	}
	for _, quote := range c.long {
		if strings.HasPrefix(s, quote) {
			return through(s, len(quote), quote)
		}
	}
	if strings.IndexByte(c.multi, s[0]) >= 0 {
		return quotedOverLines(s)
	}
	if strings.IndexByte(c.quotes, s[0]) >= 0 {
		return quoted(s)
	}
	return 0
}

// quotedOverLines is the length of a string that may have lines, all where it has
// no end.
func quotedOverLines(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return len(s)
}

// through is the length up to and including the end mark, or all.
func through(s string, from int, mark string) int {
	if end := strings.Index(s[from:], mark); end >= 0 {
		return from + end + len(mark)
	}
	return len(s)
}

func lineLen(s string) int {
	if end := strings.IndexByte(s, '\n'); end >= 0 {
		return end
	}
	return len(s)
}

// quoted is the length of a string in a line, 0 where the quote has no end in
// it: an apostrophe, a lifetime of Rust.
func quoted(s string) int {
	for i := 1; i < len(s) && s[i] != '\n'; i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return 0
}
