package corpus

import (
	"regexp"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

var (
	headingPattern = regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$`)
	underline      = regexp.MustCompile(`^ {0,3}(?:={3,}|-{3,})[ \t]*$`)
	boldPair       = regexp.MustCompile(`^\s*(?:[-*+][ \t]+)?(?:\*\*|__)([^*:]+?)(?::[ \t]*(?:\*\*|__)|(?:\*\*|__)[ \t]*:)[ \t]*(.*)$`)
	plainPair      = regexp.MustCompile(`^([A-Za-z][A-Za-z _-]{0,40}):[ \t]*(.*)$`)
	listed         = regexp.MustCompile(`^\s*[-*+][ \t]`)
)

// metadata are the short fields that may stand in any part of a block, as
// "**Severity**: High".
var metadata = []string{
	"domain", "severity", "scope", "mandatory", "always_on", "tags", "confidence", "authority", "last_validated",
	"staleness_window", "mechanical_enforcement_path",
}

// section is the part of a block under a heading, or behind a line like
// "**Trigger**: …".
type section struct {
	name  string // normal, "" for text that belongs to no field
	level int    // of the heading; noHeading for a line, which any heading ends
	line  int
	lines []textLine
}

const noHeading = 7

// blockReader walks through the lines of one block.
type blockReader struct {
	node     *legacyNode
	own      schemas.NodeType
	sections []*section
	header   bool // no heading of a field has come yet
	titled   bool
}

// read finds what a block says of its node.
func (b *nodeBlock) read(path string) *document {
	d := &document{path: path, lines: map[string]int{}, first: b.line, rule: schemas.Rule{ID: b.id}}
	r := blockReader{node: &legacyNode{path: path, line: b.line, kind: b.kind, prose: true}, header: true}
	if b.id != "" {
		r.node.values = append(r.node.values, legacyValue{name: "id", value: b.id, line: b.line})
	}
	lines := b.lines
	if front, before, rest, ok := cutFront(lines); ok {
		if d.legacyFront(r.node, front, before); len(d.problems) > 0 {
			return d
		}
		lines = rest
	}
	r.own, _ = r.node.nodeType()
	r.begin("", noHeading, b.line)
	for i := 0; i < len(lines); i++ {
		if i+1 < len(lines) && !lines[i].code && !lines[i+1].code && underline.MatchString(lines[i+1].text) && r.known(lines[i].text) {
			r.open(lines[i].text, 2, lines[i].number)
			i++ // a heading that is underlined
			continue
		}
		r.line(lines[i])
	}
	r.finish()
	d.from = r.node
	return d
}

// cutFront takes front matter off the beginning of a block.
func cutFront(lines []textLine) (front string, before int, rest []textLine, ok bool) {
	for len(lines) > 0 && strings.TrimSpace(lines[0].text) == "" {
		lines = lines[1:]
	}
	if len(lines) == 0 || strings.TrimSpace(lines[0].text) != fence {
		return "", 0, nil, false
	}
	var b strings.Builder
	for i, l := range lines[1:] {
		if strings.TrimRight(l.text, " \t") == fence {
			return b.String(), lines[0].number, lines[i+2:], true
		}
		b.WriteString(l.text + "\n")
	}
	return "", 0, nil, false
}

func (r *blockReader) begin(name string, level, line int) {
	r.sections = append(r.sections, &section{name: name, level: level, line: line})
}

// open begins the section of a field.
func (r *blockReader) open(name string, level, line int) {
	r.header = false
	r.begin(normal(name), level, line)
}

func (r *blockReader) current() *section { return r.sections[len(r.sections)-1] }

func (r *blockReader) add(l textLine) { r.current().lines = append(r.current().lines, l) }

// known says whether a heading or key names a field of the node that holds
// text.
func (r *blockReader) known(name string) bool {
	to := place(r.own, normal(name))
	f, found := fieldOf(fields, to)
	return to != "" && (!found || f.kind != mapValue)
}

func (r *blockReader) line(l textLine) {
	if l.code {
		r.add(l)
		return
	}
	if m := blockEdge.FindStringSubmatch(l.text); m != nil {
		r.edge(m[1], l.number)
		return
	}
	if m := headingPattern.FindStringSubmatch(l.text); m != nil {
		if !r.heading(strings.Trim(m[2], "*_ \t:"), len(m[1]), l.number) {
			r.add(l)
		}
		return
	}
	if r.pair(l) {
		return
	}
	if c := r.current(); c.name != "" && c.level == noHeading && strings.TrimSpace(l.text) == "" {
		r.begin("", noHeading, l.number) // what a line says ends with its paragraph
	}
	r.add(l)
}

// heading opens the section that it names, and is the title where it is the
// first one and names none. Any other belongs to the text: to that of the
// section above it where it stands deeper, else to the body.
func (r *blockReader) heading(text string, level, line int) bool {
	switch {
	case r.known(text):
		r.open(text, level, line)
	case r.header && !r.titled:
		if id := r.node.id(r.own); id != "" && strings.Contains(text, id) {
			_, text, _ = strings.Cut(text, id)
		}
		r.titled = true
		r.put("title", strings.Trim(text, " \t:–—-"), line)
	case level <= r.current().level:
		r.begin("", level, line)
		return false
	default:
		return false
	}
	return true
}

func (r *blockReader) put(name, value string, line int) {
	r.node.values = append(r.node.values, legacyValue{name: name, value: value, line: line})
}

// pair reads "**Key**: value". Before the first section all keys may stand
// there, those of fields without the stars, too; after it only the short ones.
func (r *blockReader) pair(l textLine) bool {
	m := boldPair.FindStringSubmatch(l.text)
	if m == nil && r.header {
		if m = plainPair.FindStringSubmatch(l.text); m != nil && !r.known(m[1]) {
			return false
		}
	}
	if m == nil || normal(m[1]) == "" {
		return false
	}
	name := normal(m[1])
	short := slices.Contains(metadata, name)
	switch {
	case !r.header && (!short || listed.MatchString(l.text) || r.node.has(name)):
		return false
	case short || !r.known(name):
		r.put(name, m[2], l.number)
		return true
	}
	r.begin(name, noHeading, l.number)
	r.add(textLine{text: m[2], number: l.number})
	return true
}

func (r *blockReader) edge(attributes string, line int) {
	e := legacyEdge{line: line}
	for _, m := range attribute.FindAllStringSubmatch(attributes, -1) {
		switch strings.ToLower(m[1]) {
		case "type":
			e.edge.Type = m[2]
		case "target", "to", "target_id":
			e.edge.Target = m[2]
		}
	}
	r.node.edges = append(r.node.edges, e)
}

// finish makes values of the sections. What belongs to no field is the body.
func (r *blockReader) finish() {
	var body []string
	for _, s := range r.sections {
		text := joinLines(s.lines)
		switch to := place(r.own, s.name); {
		case text == "":
		case to == "":
			body = append(body, text)
		case to == "violation" || to == "pass_example":
			r.put(s.name, onlyCode(s.lines, text), s.line)
		case to == "edges":
			r.put(s.name, text, s.line+1+blanks(s.lines))
		default:
			r.put(s.name, text, s.line)
		}
	}
	r.node.body = strings.Join(body, "\n\n")
}

// blanks counts the blank lines at the beginning.
func blanks(lines []textLine) int {
	return max(slices.IndexFunc(lines, func(l textLine) bool { return strings.TrimSpace(l.text) != "" }), 0)
}

// joinLines gives back text without blank lines around it and blanks at the
// ends of lines.
func joinLines(lines []textLine) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(l.text, " \t") + "\n")
	}
	return strings.TrimRight(strings.TrimLeft(b.String(), "\n"), " \t\n")
}

// onlyCode takes the fence off an example that is one piece of code and
// nothing else.
func onlyCode(lines []textLine, text string) string {
	lines = lines[blanks(lines):]
	mark, n, _ := fenceOf(lines[0].text)
	if !lines[0].code || n == 0 {
		return text
	}
	margin := len(lines[0].text) - len(strings.TrimLeft(lines[0].text, " "))
	var code strings.Builder
	for i, l := range lines[1:] {
		if m, k, info := fenceOf(l.text); m == mark && k >= n && info == "" {
			if joinLines(lines[i+2:]) != "" || strings.TrimSpace(code.String()) == "" {
				return text
			}
			return code.String()
		}
		indent := len(l.text) - len(strings.TrimLeft(l.text, " "))
		code.WriteString(strings.TrimRight(l.text[min(indent, margin):], " \t") + "\n")
	}
	return text
}
