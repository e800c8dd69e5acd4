package retrieval

import (
	"strconv"
	"strings"

	"github.com/writbus/writ/schemas"
)

// The lines around a rendered block. Stable: agents and scripts look for them.
// A rule cannot forge them, since every line of its text is labelled or
// indented.
const (
	blockStart = "--- WRIT RULES ---\n"
	blockEnd   = "--- END WRIT RULES ---\n"
	bandStart  = "--- WRIT MANDATORY RULES ---\n"
	bandEnd    = "--- END WRIT MANDATORY RULES ---\n"
	titlesLine = "POSSIBLY RELEVANT:\n"
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

// render writes one segment of a rule.
func (s segment) render(r *schemas.Rule) string {
	switch s {
	case segTitle:
		return titleLine(r)
	case segWhen:
		return labelled("WHEN: ", r.Trigger)
	case segRule:
		return labelled("RULE: ", r.Statement)
	case segViolation:
		return indented("VIOLATION:\n", r.Violation)
	case segCorrect:
		return shownDetail(r) + indented("CORRECT:\n", r.PassExample)
	case segWhy:
		return labelled("WHY: ", r.Rationale)
	case numSegments:
	}
	return ""
}

// titleLine is "[GO-ERR-001] Wrap an error once (high, human, go)".
func titleLine(r *schemas.Rule) string {
	var b strings.Builder
	b.WriteString("[" + oneLine(r.ID) + "] ")
	if title := oneLine(r.Title); title != "" {
		b.WriteString(title + " ")
	}
	b.WriteString("(" + nodeKind(r) + oneLine(r.Severity) + ", " + oneLine(authority(r)))
	if domain := oneLine(r.Domain); domain != "" {
		b.WriteString(", " + domain)
	}
	b.WriteString(")\n")
	return b.String()
}

// scoreLine costs the same whatever the score: the encoding has a token for
// every run of three digits.
func scoreLine(score float64) string {
	return "SCORE: " + strconv.FormatFloat(min(max(score, 0), 1), 'f', 3, 64) + "\n"
}

func labelled(label, text string) string {
	text = oneLine(text)
	if text == "" {
		return ""
	}
	return label + text + "\n"
}

// indented keeps a text's lines, each behind four spaces, without the blank
// ones at its ends.
func indented(label, text string) string {
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(label)
	for _, line := range lines {
		if line = strings.TrimRight(line, " \t"); line != "" {
			b.WriteString("    " + line)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// oneLine joins a text's words with single spaces.
func oneLine(text string) string {
	if isOneLine(text) {
		return text
	}
	return strings.Join(strings.Fields(text), " ")
}

// isOneLine spares the usual text, which is plain and already joined, a copy.
func isOneLine(text string) bool {
	space := true // a space may not come first, last, or after another
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c >= 0x7f || c == ' ' && space {
			return false
		}
		space = c == ' '
	}
	return !space || text == ""
}
