package plan

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/writbus/writ/schemas/lazyregexp"
)

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table, extension.TaskList, extension.Strikethrough)).Parser()

// document is a plan cut at its headings of level one and two.
type document struct {
	all    []section // in order; all[0] is what stands before the first heading
	fenced []fenced  // level-two headings that stand inside code fences
	title  string    // of the first level
	hidden int       // line of the first HTML that is not shown; 0 for none
}

type section struct {
	name   string // text of its level-two heading; empty for any other part
	line   int
	blocks []block
}

type fenced struct {
	name string
	line int
}

func outline(src []byte) *document {
	doc := outlineAt(normalise(src), 1, 0)
	doc.title = Title(src)
	return doc
}

var containers = regexp.MustCompile(`(?m)^(?:[ \t]*(?:>|[-+*][ \t]|\d{1,9}[.)][ \t]))+`)

var containerMark = regexp.MustCompile(`>|[-+*][ \t]|\d[.)][ \t]`)

// bounded tells whether the source is small and flat enough to be parsed in
// bounded time.
func bounded(src []byte) bool {
	if len(src) > MaxBytes || bytes.Count(src, []byte("](")) > MaxLinks {
		return false
	}
	return !slices.ContainsFunc(containers.FindAll(src, -1), func(lead []byte) bool { return len(containerMark.FindAllIndex(lead, -1)) > MaxDepth })
}

// normalise makes every line end a line feed and drops a byte order mark, so
// that line numbers and trimming have one meaning.
func normalise(src []byte) []byte {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(src, []byte("\r"), []byte("\n"))
}

// maxFences is how deep fences within fences are searched for headings; each
// needs a longer fence around it, so real documents have two at most.
const maxFences = 4

func outlineAt(src []byte, firstLine, depth int) *document {
	root := markdown.Parse(text.NewReader(src), parser.WithContext(parser.NewContext()))
	r := &reader{src: src, firstLine: firstLine}
	r.indexLines()
	doc := &document{all: []section{{}}}
	defer func() { doc.hidden = r.hidden }()
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level <= 2 {
			s := section{line: r.lineOf(h)}
			if h.Level == 2 {
				s.name = strings.TrimSpace(joinSpans(r.inline(h)))
			}
			doc.all = append(doc.all, s)
			continue
		}
		cur := &doc.all[len(doc.all)-1]
		cur.blocks = append(cur.blocks, r.blocks(n)...)
	}
	if depth < maxFences {
		doc.fenced = r.fencedHeadings(root, depth)
	}
	return doc
}

// fencedHeadings parses what stands inside code fences as documents of their
// own: an agent that wraps its whole plan in a fence should be told just that.
func (r *reader) fencedHeadings(root ast.Node, depth int) []fenced {
	var out []fenced
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		f, ok := n.(*ast.FencedCodeBlock)
		if !ok || !entering || f.Lines().Len() == 0 {
			return ast.WalkContinue, nil
		}
		inner := outlineAt(f.Lines().Value(r.src), r.lineAt(f.Lines().At(0).Start), depth+1)
		for _, s := range inner.all {
			if s.name != "" {
				out = append(out, fenced{s.name, s.line})
			}
		}
		out = append(out, inner.fenced...)
		return ast.WalkContinue, nil
	})
	return out
}

// meant are the headings that can only mean a section, where none has its name.
var meant = map[string]*lazyregexp.Regexp{
	SectionFiles:        heading(`files(?: (?:to (?:be )?)?` + change + `(?: (?:or|and) ` + change + `)?)?|(?:affected|planned|changed|modified|touched) files`),
	SectionAnalysis:     heading(`(?:(?:problem|root[ -]cause) )?analysis|analysis of the (?:problem|cause|code)`),
	SectionRules:        heading(`rules(?: (?:applied|(?:to|that) apply|followed))?|(?:applied|applicable) rules`),
	SectionCapabilities: heading(`capabilit(?:y|ies)(?: (?:check)?list)?`),
}

const change = `(?:change|modify|edit|write|touch|create|add|update)(?:d|ed)?`

func heading(words string) *lazyregexp.Regexp {
	return lazyregexp.New(`^(?i:(?:\d+[.):]? +)?(?:` + words + `) *:?)$`)
}

// find returns the section of that name, the first if there are several, or
// the problem of its heading.
func (d *document) find(name string) (*section, *Problem) {
	is := func(s section) bool { return s.name == name }
	if !slices.ContainsFunc(d.all, is) {
		is = func(s section) bool { return meant[name].MatchString(s.name) }
	}
	first := slices.IndexFunc(d.all, is)
	if first < 0 {
		return nil, d.absent(name)
	}
	lines, last := "", 0
	for _, s := range d.all {
		if is(s) {
			lines, last = lines+fmt.Sprintf(", %d", s.line), s.line
		}
	}
	if last == d.all[first].line {
		return &d.all[first], nil
	}
	return &d.all[first], &Problem{Code: DuplicateSection, Section: name, Line: last, Text: fmt.Sprintf(
		"the heading `## %s` stands on lines %s. Keep one section and move the content there.", name, lines[2:])}
}

func (d *document) absent(name string) *Problem {
	for _, f := range d.fenced {
		if f.name == name || meant[name].MatchString(f.name) {
			return &Problem{Code: SectionInCodeFence, Section: name, Line: f.line, Text: fmt.Sprintf(
				"the heading `## %s` stands only inside a code fence. Take the section out of the fence.", name)}
		}
	}
	return &Problem{Code: MissingSection, Section: name, Text: fmt.Sprintf(
		"the section `## %s` is missing. Add a level-two heading with exactly this text, with content below it.", name)}
}

// judgeForm says whether the section has content at all and whether that
// content is a placeholder.
func (s *section) judgeForm(name string, d *document) *Problem {
	if s.empty() {
		return &Problem{Code: EmptySection, Section: name, Line: s.line, Text: fmt.Sprintf(
			"the section `## %s` has no content of its own (code, comments and sub-headings do not count). Write it.", name)}
	}
	if line, what := s.placeholder(); what != "" {
		return &Problem{Code: Placeholder, Section: name, Line: line, Text: fmt.Sprintf(
			"the section `## %s` holds %s. Replace it by real content.", name, what)}
	}
	return s.hollow(name, d)
}
