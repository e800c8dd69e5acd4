package mention

import (
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mention is one place where a text mentions a path.
type Mention struct {
	Line    int    // of the text, counted from 1
	Text    string // as it is written, with the "@"
	Path    string // as it is meant to be found: with slashes, cleaned
	Section string // behind "#", as it is written
	At      int    // the line behind ":", 0 for none
	// Sure says that it cannot be anything else: it is quoted or begins with
	// "./" or "../". Other mentions count only where they lead somewhere, or
	// look like a path of the project.
	Sure bool
	// Folder says that the path ends with a slash.
	Folder bool
}

// longestMention bounds a mention, bytes.
const longestMention = 1024

// Find lists the mentions of a text, in their order. In code only comments are
// looked at: elsewhere an "@" is the language's own.
func Find(text string, code bool) (all []Mention) {
	line, counted := 1, 0
	for at := 0; ; {
		next := strings.IndexByte(text[at:], '@')
		if next < 0 {
			return all
		}
		at += next
		if begins(text, at) && (!code || inComment(text, at)) {
			if m, size := parse(text[at:]); size > 0 {
				line += strings.Count(text[counted:at], "\n")
				counted = at
				m.Line = line
				all = append(all, m)
				at += size
				continue
			}
		}
		at++
	}
}

// begins says whether an "@" stands where a word may begin.
func begins(text string, at int) bool {
	if at == 0 {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	switch before {
	case '(', '[', '{', '<', ',', ';', ':', '>', '*', '`', '|':
		return true
	}
	return unicode.IsSpace(before) || before >= utf8.RuneSelf && unicode.IsPunct(before)
}

// inComment says whether something in the line before a place begins a comment.
func inComment(text string, at int) bool {
	line := strings.TrimLeft(text[strings.LastIndexByte(text[:at], '\n')+1:at], " \t")
	for _, mark := range []string{"*", "#", "--", ";", "%", "\"\"\"", "'''"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return strings.Contains(line, "//") || strings.Contains(line, "/*") || strings.Contains(line, " # ") || strings.Contains(line, "<!--")
}

// parse reads the mention that a text begins with; its size is 0 for none.
func parse(s string) (Mention, int) {
	if len(s) > 1 && s[1] == '"' {
		return parseQuoted(s)
	}
	end := 1
	for end < len(s) {
		r, size := utf8.DecodeRuneInString(s[end:])
		if !part(r) {
			break
		}
		end += size
	}
	if end < len(s) && s[end] == '(' {
		return Mention{}, 0 // a decorator, or a call
	}
	end = len(strings.TrimRight(s[:end], ".:#~=+-&"))
	if end <= 1 || end > longestMention {
		return Mention{}, 0
	}
	m := Mention{Text: s[:end]}
	body := m.read(s[1:end])
	if !plausible(body) {
		return Mention{}, 0
	}
	m.setPath(body)
	return m, end
}

func parseQuoted(s string) (Mention, int) {
	closing := strings.IndexByte(s[2:], '"')
	if closing < 1 || closing > longestMention || strings.ContainsAny(s[2:2+closing], "\r\n\x00") {
		return Mention{}, 0
	}
	end := 2 + closing + 1
	m := Mention{Sure: true}
	body := strings.TrimSpace(s[2 : 2+closing])
	// A line or a section stands within the quotes, or right behind them.
	rest := end
	for rest < len(s) {
		r, size := utf8.DecodeRuneInString(s[rest:])
		if rest == end && r != ':' && r != '#' || !part(r) {
			break
		}
		rest += size
	}
	tail := strings.TrimRight(s[end:rest], ".:#~=+-&")
	m.Text = s[:end+len(tail)]
	if tail != "" {
		m.read("x" + tail)
	} else {
		body = m.read(body)
	}
	if body == "" {
		return Mention{}, 0
	}
	m.setPath(body)
	return m, end + len(tail)
}

// read takes line and section from the end of a mention's body.
func (m *Mention) read(body string) string {
	if before, section, found := strings.Cut(body, "#"); found {
		body, m.Section = before, section
	}
	if before, number, found := cutLast(body, ':'); found {
		digits := strings.TrimPrefix(strings.TrimPrefix(number, "L"), "l")
		digits, _, _ = strings.Cut(digits, "-")
		digits, _, _ = strings.Cut(digits, ":")
		if n, err := strconv.Atoi(digits); err == nil && n > 0 {
			body, m.At = before, n
			// file:LINE:COLUMN has the line first.
			if first, again, twice := cutLast(body, ':'); twice {
				if n, err := strconv.Atoi(again); err == nil && n > 0 {
					body, m.At = first, n
				}
			}
		}
	}
	return body
}

func cutLast(s string, by byte) (before, after string, found bool) {
	i := strings.LastIndexByte(s, by)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

func (m *Mention) setPath(body string) {
	m.Sure = m.Sure || strings.HasPrefix(body, "./") || strings.HasPrefix(body, "../")
	m.Folder = strings.HasSuffix(body, "/")
	clean := path.Clean(strings.TrimLeft(strings.ReplaceAll(body, `\`, "/"), "/"))
	if strings.HasPrefix(body, "./") && !strings.HasPrefix(clean, "../") {
		clean = "./" + clean // beside the text
	}
	m.Path = clean
}

// plausible says whether unquoted text may be a path.
func plausible(body string) bool {
	if body == "" || strings.Contains(body, "//") || strings.Contains(body, "@") {
		return false
	}
	return strings.IndexFunc(body, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0
}

// part says whether a character may be within a mention without quotes.
func part(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(`/._-+~%#:$=&\`, r)
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r))
}
