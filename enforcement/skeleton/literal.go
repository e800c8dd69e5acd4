package skeleton

import (
	"regexp"
	"strings"
)

// text reads a literal that is no number, if one begins here.
func (l *lexer) text() bool {
	r, from := l.rest(), l.pos
	c := r[0]
	switch {
	case l.d.rustStrings && l.rust(from):
		return true
	case l.d.csharp && (c == '@' || c == '$') && csharpOpen.MatchString(r):
		return l.csharpString(from)
	case l.d.rubyStrings && l.ruby(from):
		return true
	case l.d.heredoc && strings.HasPrefix(r, "<<<"):
		if m := phpHeredoc.FindStringSubmatch(r); m != nil {
			l.advance(l.pos + len(m[0]))
			l.heredocBody(m[1])
			l.literal(from, m[0][3] != '\'' && strings.Contains(l.src[from:l.pos], "$"))
			return true
		}
	case l.d.regex && c == '/' && l.operand():
		return l.regexLiteral(from)
	case l.d.template && c == '`':
		l.pos++
		l.templateBody()
		l.literal(from, strings.Contains(l.src[from:l.pos], "${"))
		return true
	}
	if strings.IndexByte(l.d.quotes, c) >= 0 {
		l.quoted(from, "")
		return true
	}
	return false
}

func (l *lexer) literal(from int, expressions bool) {
	k := str
	if expressions {
		k = interp
	}
	l.add(k, from)
}

// quoted reads a string whose quote stands at pos; prefix are the letters
// before it.
func (l *lexer) quoted(from int, prefix string) {
	q := l.src[l.pos : l.pos+1]
	raw := strings.Contains(l.d.raw, q) || strings.ContainsAny(prefix, "rR")
	if l.d.triple && strings.HasPrefix(l.rest(), q+q+q) {
		q = q + q + q
	}
	l.pos += len(q)
	l.untilQuote(q, raw && len(prefix) == 0)
	body := l.src[from:l.pos]
	expressions := l.d.interpolation != "" && q[0] != '\'' && strings.Contains(body, l.d.interpolation)
	if l.d.prefixes && l.d.interpolation == "{" {
		expressions = strings.ContainsAny(prefix, "fF") && strings.Contains(body, "{")
	}
	l.literal(from, expressions)
}

// untilQuote moves behind the closing quote; a string of one quote ends with
// its line at the latest, unless the language lets it run on.
func (l *lexer) untilQuote(q string, raw bool) {
	for l.pos < len(l.src) {
		switch {
		case !raw && l.src[l.pos] == '\\':
			l.advance(l.pos + 2)
		case strings.HasPrefix(l.rest(), q):
			l.pos += len(q)
			return
		case len(q) == 1 && l.src[l.pos] == '\n' && !l.d.rubyStrings && !l.d.heredoc && !l.d.rustStrings:
			return
		default:
			l.advance(l.pos + 1)
		}
	}
}

// templateBody moves behind the closing backtick, over nested templates.
func (l *lexer) templateBody() {
	var braces []int // open braces of each ${ that is not closed
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		inText := len(braces) == 0 || braces[len(braces)-1] < 0
		switch {
		case c == '\\':
			l.advance(l.pos + 2)
			continue
		case inText && c == '`':
			l.pos++
			if len(braces) == 0 {
				return
			}
			braces = braces[:len(braces)-1]
			continue
		case inText && strings.HasPrefix(l.rest(), "${"):
			braces = append(braces, 0)
			l.pos += 2
			continue
		case !inText && c == '`':
			braces = append(braces, -1)
		case !inText && c == '{':
			braces[len(braces)-1]++
		case !inText && c == '}':
			if braces[len(braces)-1]--; braces[len(braces)-1] < 0 {
				braces = braces[:len(braces)-1]
			}
		}
		l.advance(l.pos + 1)
	}
}

func (l *lexer) regexLiteral(from int) bool {
	class := false
	for i := l.pos + 1; i < len(l.src) && l.src[i] != '\n'; i++ {
		switch c := l.src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			l.pos = i + 1
			for l.pos < len(l.src) && l.src[l.pos] >= 'a' && l.src[l.pos] <= 'z' {
				l.pos++
			}
			l.literal(from, false)
			return true
		}
	}
	return false
}

var (
	csharpOpen = regexp.MustCompile(`^[$@]{1,4}"`)
	phpHeredoc = regexp.MustCompile(`^<<<[ \t]*["']?([A-Za-z_]\w*)["']?\r?\n`)
	rustRaw    = regexp.MustCompile(`^(?:br|r|cr|b|c)(#*)"`)
	rustChar   = regexp.MustCompile(`^b?'(?:[^'\\\n]|\\(?:[^ux]|x[0-9a-fA-F]{2}|u\{[0-9a-fA-F_]+\}))'`)
	lifetime   = regexp.MustCompile(`^'[A-Za-z_]\w*`)
	rubyHere   = regexp.MustCompile(`^<<[~-]?(["'` + "`" + `]?)([A-Z_][A-Za-z0-9_]*)["'` + "`" + `]?`)
	rubyPct    = regexp.MustCompile(`^%[qQwWiIrsx]?([\[({<|!/])`)
	rubySymbol = regexp.MustCompile(`^:(?:[A-Za-z_]\w*[?!=]?|"[^"\n]*"|'[^'\n]*')`)
)

func (l *lexer) csharpString(from int) bool {
	m := csharpOpen.FindString(l.rest())
	l.pos += len(m)
	verbatim := strings.Contains(m, "@")
	for l.pos < len(l.src) {
		switch {
		case verbatim && strings.HasPrefix(l.rest(), `""`):
			l.pos += 2
		case !verbatim && l.src[l.pos] == '\\':
			l.advance(l.pos + 2)
		case l.src[l.pos] == '"':
			l.pos++
			l.literal(from, strings.Contains(m, "$") && strings.Contains(l.src[from:l.pos], "{"))
			return true
		default:
			l.advance(l.pos + 1)
		}
	}
	l.literal(from, false)
	return true
}

func (l *lexer) rust(from int) bool {
	r := l.rest()
	if m := rustRaw.FindStringSubmatch(r); m != nil && (strings.HasPrefix(m[0], "r") || strings.Contains(m[0], "r") || m[1] == "") {
		l.pos += len(m[0])
		if strings.Contains(m[0], "r") {
			l.skipPast(`"` + m[1])
		} else {
			l.untilQuote(`"`, false)
		}
		l.literal(from, false)
		return true
	}
	if m := rustChar.FindString(r); m != "" {
		l.pos += len(m)
		l.add(number, from)
		return true
	}
	if m := lifetime.FindString(r); m != "" {
		l.pos += len(m)
		return true
	}
	return false
}

var closers = map[byte]byte{'[': ']', '(': ')', '{': '}', '<': '>'}

// ruby reads percent literals, here-documents and symbols.
func (l *lexer) ruby(from int) bool {
	r := l.rest()
	if m := rubyHere.FindStringSubmatch(r); m != nil && l.operand() {
		l.pos += len(m[0])
		l.later = append(l.later, m[2])
		l.literal(from, false)
		return true
	}
	if m := rubyPct.FindStringSubmatch(r); m != nil && l.operand() {
		open := m[1][0]
		end, nests := closers[open]
		if !nests {
			end = open
		}
		i, depth := l.pos+len(m[0]), 1
		for ; i < len(l.src) && depth > 0; i++ {
			switch {
			case l.src[i] == '\\':
				i++
			case l.src[i] == end:
				depth--
			case nests && l.src[i] == open:
				depth++
			}
		}
		l.advance(i)
		l.literal(from, strings.Contains(l.src[from:l.pos], "#{"))
		return true
	}
	if m := rubySymbol.FindString(r); m != "" && (l.pos == 0 || l.src[l.pos-1] != ':') {
		l.pos += len(m)
		l.literal(from, false)
		return true
	}
	return false
}

// heredocBodies skips the bodies of the here-documents whose openings stood on
// the line that just ended.
func (l *lexer) heredocBodies() {
	for _, end := range l.later {
		l.heredocBody(end)
	}
	l.later = nil
}

func (l *lexer) heredocBody(end string) {
	for l.pos < len(l.src) {
		line := l.rest()
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i+1]
		}
		trimmed := strings.TrimSpace(line)
		if after, ok := strings.CutPrefix(trimmed, end); ok && (after == "" || l.d.heredoc && !isLetter(rune(after[0]))) {
			if l.d.heredoc {
				l.advance(l.pos + strings.Index(line, end) + len(end))
			} else {
				l.advance(l.pos + len(line))
			}
			return
		}
		l.advance(l.pos + len(line))
	}
}
