package corpus

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// The markers around a node in the older block format.
var (
	blockStart = regexp.MustCompile(`(?i)^\s*<!--\s*(RULE|NODE)[ _-]START\b\s*:?\s*(.*?)\s*-->\s*$`)
	blockEnd   = regexp.MustCompile(`(?i)^\s*<!--\s*(RULE|NODE)[ _-]END\b\s*:?\s*(.*?)\s*-->\s*$`)
	blockEdge  = regexp.MustCompile(`(?i)^\s*<!--\s*EDGE\b\s*:?\s*(.*?)\s*-->\s*$`)
	attribute  = regexp.MustCompile(`([A-Za-z_]+)\s*=\s*["']?([^\s"',]+)`)
)

// hasBlocks says whether a text holds nodes in the block format.
func hasBlocks(text string) bool {
	return slices.ContainsFunc(splitLines(text), func(l textLine) bool { return !l.code && blockStart.MatchString(l.text) })
}

// textLine is a line of Markdown.
type textLine struct {
	text   string
	number int  // from 1
	code   bool // within a code fence, or one itself
}

// splitLines cuts Markdown into lines and tells which are code. A fence that
// nothing closes is no fence: it would hide the rest of the file.
func splitLines(text string) []textLine {
	raw := strings.Split(text, "\n")
	lines := make([]textLine, len(raw))
	longest := map[byte][]int{'`': make([]int, len(raw)+1), '~': make([]int, len(raw)+1)} // closing fence at this line or below
	for i := len(raw) - 1; i >= 0; i-- {
		lines[i] = textLine{text: raw[i], number: i + 1}
		for mark, of := range longest {
			of[i] = of[i+1]
			if m, n, info := fenceOf(raw[i]); m == mark && info == "" {
				of[i] = max(of[i], n)
			}
		}
	}
	var open byte
	length := 0
	for i, s := range raw {
		mark, n, info := fenceOf(s)
		switch {
		case open != 0:
			lines[i].code = true
			if mark == open && n >= length && info == "" {
				open = 0
			}
		case n > 0 && longest[mark][i+1] >= n:
			lines[i].code, open, length = true, mark, n
		}
	}
	return lines
}

// fenceOf recognises a code fence at any indentation: its character, how many
// there are and what follows them.
func fenceOf(line string) (mark byte, n int, info string) {
	s := strings.TrimLeft(line, " \t")
	if s == "" || s[0] != '`' && s[0] != '~' {
		return 0, 0, ""
	}
	rest := strings.TrimLeft(s, s[:1])
	n, info = len(s)-len(rest), strings.TrimSpace(rest)
	if n < 3 || s[0] == '`' && strings.Contains(info, "`") {
		return 0, 0, ""
	}
	return s[0], n, info
}

// nodeBlock is a node between its markers.
type nodeBlock struct {
	kind  string // the type, "" where the marker does not say
	id    string
	line  int
	lines []textLine
}

// blockFile is a file in the block format being read.
type blockFile struct {
	path  string
	found []*document
	notes []Problem
	open  *nodeBlock
	loose int // first line of text outside of the blocks, 0 for none
}

// parseBlocks reads every node of a file in the block format. notes are about
// the file, what is wrong with a node stands with it.
func parseBlocks(path, text string) (found []*document, notes []Problem) {
	f := blockFile{path: path}
	for _, l := range splitLines(text) {
		f.line(l)
	}
	if f.open != nil {
		f.refuse(f.open.line, "the block of %s has no end: close it with <!-- %s END: %s -->", f.open.id, f.open.marker(), f.open.id)
	}
	if f.loose > 0 {
		f.notes = append(f.notes, Problem{Path: path, Line: f.loose, Kind: KindSkipped, Reason: "text outside of the blocks is not read"})
	}
	return f.found, f.notes
}

func (b *nodeBlock) marker() string {
	if b.kind == "" || b.kind == string(schemas.NodeRule) {
		return "RULE"
	}
	return "NODE"
}

func (f *blockFile) line(l textLine) {
	if !l.code {
		if m := blockStart.FindStringSubmatch(l.text); m != nil {
			f.start(m[1], m[2], l.number)
			return
		}
		if m := blockEnd.FindStringSubmatch(l.text); m != nil {
			f.end(m[2], l.number)
			return
		}
	}
	switch {
	case f.open != nil:
		f.open.lines = append(f.open.lines, l)
	case f.loose == 0 && isProse(l):
		f.loose = l.number
	}
}

// isProse leaves out what only arranges a page: headings, rules, blank lines.
func isProse(l textLine) bool {
	s := strings.TrimSpace(l.text)
	return l.code || s != "" && s[0] != '#' && strings.Trim(s, "-*_ =") != "" && !strings.HasPrefix(s, "<!--")
}

func (f *blockFile) start(marker, rest string, line int) {
	if f.open != nil {
		f.refuse(f.open.line, "the block of %s is not ended before the next one begins in line %d", f.open.id, line)
	}
	b := &nodeBlock{line: line}
	for _, m := range attribute.FindAllStringSubmatch(rest, -1) {
		switch strings.ToLower(m[1]) {
		case "type":
			b.kind = m[2]
		case "id":
			b.id = m[2]
		}
	}
	if words := strings.Fields(rest); b.id == "" && len(words) > 0 && !strings.Contains(words[0], "=") {
		b.id = words[0]
	}
	if strings.EqualFold(marker, "RULE") {
		b.kind = cmp.Or(b.kind, string(schemas.NodeRule))
	}
	f.open = b
}

func (f *blockFile) end(id string, line int) {
	id = strings.TrimPrefix(strings.TrimSpace(id), "id=")
	b := f.open
	f.open = nil
	switch {
	case b == nil:
		f.notes = append(f.notes, Problem{Path: f.path, Line: line, Kind: KindSkipped, ID: id, Reason: "this end marker ends no block"})
	case id != "" && b.id != "" && id != b.id:
		f.open = b
		f.refuse(line, "this marker ends %s, but the block that began in line %d is %s", id, b.line, b.id)
	default:
		f.found = append(f.found, b.read(f.path))
	}
}

// refuse reports the open block as no node, and leaves it.
func (f *blockFile) refuse(line int, format string, args ...any) {
	d := &document{path: f.path, lines: map[string]int{}, first: f.open.line, rule: schemas.Rule{ID: f.open.id}}
	d.problem(line, format, args...)
	d.problems[0].ID = f.open.id
	f.found = append(f.found, d)
	f.open = nil
}
