package chunk

import (
	"strings"

	"github.com/writbus/writ/schemas/excerpt"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/writbus/writ/retrieval/artifact"
)

// markdownBlocks parses the blocks alone: what is within a line does not matter
// for where a section begins.
var markdownBlocks = parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))

// headingJoin stands between a heading and the one below it.
const headingJoin = " > "

// markdownOutline is that of a Markdown file: one section a heading, and one
// for the front matter.
func markdownOutline(t lines) outline {
	body := frontMatter(t)
	o := outline{}
	if body > 0 {
		o.sections = append(o.sections, section{from: 0, to: body, bare: true})
	}
	if body == t.count() {
		return o
	}
	o.sections = append(o.sections, section{from: body, to: t.count(), bare: t.allBlank(body, t.count())})
	source := []byte(t.text[t.starts[body]:])
	var path []string // of headings, by level
	document := markdownBlocks.Parse(text.NewReader(source))
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		heading, isHeading := node.(*ast.Heading)
		if !isHeading || heading.Lines() == nil || heading.Lines().Len() == 0 {
			continue
		}
		line := t.at(t.starts[body] + heading.Lines().At(0).Start)
		title := headingTitle(string(heading.Lines().Value(source)))
		if title == "" {
			continue
		}
		for len(path) >= heading.Level {
			path = path[:len(path)-1]
		}
		for len(path) < heading.Level-1 {
			path = append(path, "")
		}
		path = append(path, title)
		o.symbols = append(o.symbols, artifact.Symbol{Name: title, Kind: "heading", Line: line + 1})
		o.begin(t, line, headingPath(path))
	}
	// Setext headings and those of one line end where their text begins.
	for i := range o.sections {
		s := &o.sections[i]
		if s.heading != "" && s.to-s.from <= 4 {
			s.bare = t.onlyHeading(s.from, s.to)
		}
	}
	return o
}

// begin ends the last section at a line and begins another there.
func (o *outline) begin(t lines, line int, heading string) {
	last := &o.sections[len(o.sections)-1]
	if line <= last.from {
		last.heading = heading
		return
	}
	last.to = line
	if last.heading == "" {
		last.bare = last.bare || t.allBlank(last.from, last.to)
	}
	o.sections = append(o.sections, section{from: line, to: t.count(), heading: heading})
}

func headingPath(path []string) string {
	var b strings.Builder
	for _, title := range path {
		if title == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(headingJoin)
		}
		b.WriteString(title)
	}
	return b.String()
}

// headingTitle is a heading as it reads, without marks.
func headingTitle(raw string) string {
	title := excerpt.Line(raw)
	title = strings.TrimSpace(strings.TrimRight(title, "#"))
	return strings.NewReplacer("`", "", "**", "", "__", "").Replace(title)
}

// frontMatter is the line behind YAML front matter, 0 without.
func frontMatter(t lines) int {
	if t.line(0) != "---" {
		return 0
	}
	for i := 1; i < t.count(); i++ {
		if line := t.line(i); line == "---" || line == "..." {
			return i + 1
		}
	}
	return 0
}

func (l lines) allBlank(from, to int) bool {
	for i := from; i < to; i++ {
		if !l.blank(i) {
			return false
		}
	}
	return true
}

// onlyHeading says whether lines hold a heading and nothing else.
func (l lines) onlyHeading(from, to int) bool {
	from++
	if from < to && strings.Trim(strings.TrimSpace(l.line(from)), "=-") == "" {
		from++ // the line below a heading, or a blank one
	}
	return l.allBlank(from, to)
}
