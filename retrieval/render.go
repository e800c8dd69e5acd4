package retrieval

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// The lines around a rendered block. Stable: agents and scripts look for them.
// A rule cannot forge them, since every line of its text is labelled or
// indented.
const (
	blockStart = "--- WRIT RULES ---\n"
	blockEnd   = "--- END WRIT RULES ---\n"
	bandStart  = "--- WRIT MANDATORY RULES ---\n"
	bandEnd    = "--- END WRIT MANDATORY RULES ---\n"
	titlesLine = "MAY MATTER (`writ rule show ID`, MCP query):\n"
)

// segment is a part of a rendered rule. Each is whole lines, starts with a
// visible character and ends with a line feed, or is empty.
type segment int

// The segments, in order of rendering and of importance; persisted with a
// document's token counts.
const (
	segTitle segment = iota
	segWhen
	segRule
	segViolation
	segCorrect
	segWhy
	numSegments
)

// render is one segment of a rule.
func (s segment) render(r *schemas.Rule) string { return string(s.append(nil, r)) }

// append writes one segment of a rule.
func (s segment) append(b []byte, r *schemas.Rule) []byte {
	switch s {
	case segTitle:
		return appendTitle(b, r)
	case segWhen:
		return appendLabelled(b, "WHEN: ", r.Trigger)
	case segRule:
		return appendLabelled(b, "RULE: ", r.Statement)
	case segViolation:
		return appendIndented(b, "VIOLATION:\n", r.Violation)
	case segCorrect:
		return appendIndented(append(b, shownDetail(r)...), "CORRECT:\n", r.PassExample)
	case segWhy:
		return appendLabelled(b, "WHY: ", r.Rationale)
	case numSegments:
	}
	return b
}

// appendTitle writes "[GO-ERR-001] Wrap an error once (high, human, go)".
func appendTitle(b []byte, r *schemas.Rule) []byte {
	b = append(appendOneLine(append(b, '['), r.ID), "] "...)
	before := len(b)
	if b = appendOneLine(b, r.Title); len(b) > before {
		b = append(b, ' ')
	}
	b = append(append(b, '('), nodeKind(r)...)
	b = append(appendOneLine(b, r.Severity), ", "...)
	b = appendOneLine(b, authority(r))
	before = len(b)
	b = append(b, ", "...)
	if b = appendOneLine(b, r.Domain); len(b) == before+2 {
		b = b[:before]
	}
	return append(b, ")\n"...)
}

// lineLetters is how long the title of a rule in one line is.
const lineLetters = 28

// titleOnly is a rule as one line: "- GO-ERR-001: Wrap an error once". A long
// title ends before a comma, or else with a word; where there is none, the statement
// stands for it. One that no person has taken up says so.
func titleOnly(r *schemas.Rule) string {
	b := append(appendOneLine([]byte("- "), r.ID), ": "...)
	title := string(appendOneLine(nil, cmp.Or(r.Title, r.Statement)))
	if len(title) > lineLetters {
		title = clippedTitle(title)
	}
	b = append(b, title...)
	if provisional(r) {
		b = append(b, " (proposed)"...)
	}
	return string(append(b, '\n'))
}

func clippedTitle(title string) string {
	start := title[:lineLetters]
	at := strings.LastIndexByte(start, ',')
	if at < lineLetters/2 {
		at = strings.LastIndexByte(start, ' ')
	}
	if at <= 0 {
		return title
	}
	return start[:at] + "…"
}

// scoreLine costs the same whatever the score: the encoding has a token for
// every run of three digits.
func scoreLine(score float64) string { return string(appendScore(nil, score)) }

func appendScore(b []byte, score float64) []byte {
	b = strconv.AppendFloat(append(b, "SCORE: "...), min(max(score, 0), 1), 'f', 3, 64)
	return append(b, '\n')
}

func labelled(label, text string) string { return string(appendLabelled(nil, label, text)) }

func appendLabelled(b []byte, label, text string) []byte {
	before := len(b)
	b = append(b, label...)
	start := len(b)
	if b = appendOneLine(b, text); len(b) == start {
		return b[:before]
	}
	return append(b, '\n')
}

func indented(label, text string) string { return string(appendIndented(nil, label, text)) }

// appendIndented keeps a text's lines, each behind four spaces, without the
// blank ones at its ends.
func appendIndented(b []byte, label, text string) []byte {
	before := len(b)
	end := before // of the last line that is not blank
	ends := "\n"  // one byte is looked for faster
	if strings.IndexByte(text, '\r') >= 0 {
		ends = "\r\n"
	}
	for text != "" {
		var line string
		line, text = cutLine(text, ends)
		blank := strings.TrimSpace(line) == ""
		if end == before {
			if blank {
				continue
			}
			b = append(b, label...)
		}
		if line = strings.TrimRight(line, " \t"); line != "" {
			b = append(append(b, "    "...), line...)
		}
		b = append(b, '\n')
		if !blank {
			end = len(b)
		}
	}
	return b[:end]
}

// cutLine takes a line off a text: they end in a line feed, a carriage return,
// or both. The ends that occur are given.
func cutLine(text, ends string) (line, rest string) {
	at := strings.IndexAny(text, ends)
	if at < 0 {
		return text, ""
	}
	rest = text[at+1:]
	if text[at] == '\r' && rest != "" && rest[0] == '\n' {
		rest = rest[1:]
	}
	return text[:at], rest
}

func appendOneLine(b []byte, text string) []byte {
	if excerpt.IsLine(text) {
		return append(b, text...)
	}
	before := len(b)
	for word := range strings.FieldsSeq(text) {
		if len(b) > before {
			b = append(b, ' ')
		}
		b = append(b, word...)
	}
	return b
}
