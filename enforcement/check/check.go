package check

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// MaxBytes is the longest file that is looked at; what is longer is data.
const MaxBytes = 2 << 20

// MaxLine is the longest line in bytes that line patterns look at; what is
// longer was written by a program.
const MaxLine = 4 << 10

// maxExcerpt bounds the quoted line of a finding in bytes.
const maxExcerpt = 160

// Finding is one place where a rule is violated. Lines and columns count from
// 1, columns in bytes; the end is the position after the last byte.
type Finding struct {
	Rule      string `json:"rule"`
	Path      string `json:"path"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
	Excerpt   string `json:"excerpt"` // the first line, trimmed and cut
	Message   string `json:"message"` // what to do about it
}

// Key names a finding independently of where in the file it stands, so that a
// pending one can be looked for after other lines were added or removed.
func (f Finding) Key() string { return f.Rule + "\x00" + f.Path + "\x00" + f.Excerpt }

// String is the finding as compilers print theirs.
func (f Finding) String() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s", f.Path, f.Line, f.Column, f.Rule, f.Message)
}

// Problem says why the check of a rule cannot run.
type Problem struct {
	Rule  string // id
	Field string // of the check: language, pattern, query, contexts, paths, except, unless
	Text  string // what is wrong and what to write instead
}

func (p Problem) Error() string { return fmt.Sprintf("%s: check.%s: %s", p.Rule, p.Field, p.Text) }

// Set is the compiled checks of a corpus, in the order of their rule ids. It
// is safe for concurrent use.
type Set struct {
	checks []*compiled
}

// compiled is the check of one rule.
type compiled struct {
	rule     string
	message  string
	language string // canonical name, "" is any
	paths    []glob
	except   []glob
	unless   *line
	view     view
	pattern  *line
	query    *query
}

// Compile prepares the checks of the rules that carry one. The problems, by
// rule, name each check that cannot run; the set holds the others.
func Compile(rules []schemas.Rule) (*Set, []Problem) {
	s := &Set{}
	var problems []Problem
	for _, r := range rules {
		if r.Check == nil {
			continue
		}
		c, wrong := compile(r.ID, *r.Check)
		if c.message == "" {
			c.message = r.Statement
		}
		if len(wrong) > 0 {
			problems = append(problems, wrong...)
			continue
		}
		s.checks = append(s.checks, c)
	}
	slices.SortStableFunc(s.checks, func(a, b *compiled) int { return cmp.Compare(a.rule, b.rule) })
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Rule, b.Rule) })
	return s, problems
}

func compile(id string, from schemas.Check) (*compiled, []Problem) {
	c := &compiled{rule: id, message: from.Message}
	var problems []Problem
	wrong := func(field, format string, args ...any) {
		problems = append(problems, Problem{Rule: id, Field: field, Text: fmt.Sprintf(format, args...)})
	}
	language, known := languageNamed(from.Language)
	if !known {
		wrong("language", "%q is not known; write one of %s, or leave it out for every language", from.Language, strings.Join(Languages(), " "))
	}
	c.language = language
	var err error
	if c.view, err = viewOf(from.Contexts); err != nil {
		wrong("contexts", "%v", err)
	}
	if c.paths, err = globs(from.Paths); err != nil {
		wrong("paths", "%v", err)
	}
	if c.except, err = globs(from.Except); err != nil {
		wrong("except", "%v", err)
	}
	if from.Unless != "" {
		if c.unless, err = newLine(from.Unless); err != nil {
			wrong("unless", "%v", err)
		}
	}
	switch {
	case from.Pattern == "" && from.Query == "":
		wrong("pattern", "neither a pattern nor a query is given; write one of them")
	case from.Pattern != "" && from.Query != "":
		wrong("query", "both a pattern and a query are given; keep one of them")
	case from.Pattern != "":
		if c.pattern, err = newLine(from.Pattern); err != nil {
			wrong("pattern", "%v", err)
		}
	case len(from.Contexts) > 0:
		wrong("contexts", "a query looks at code only; leave the contexts out")
	case known:
		if c.query, err = newQuery(language, from.Query); err != nil {
			wrong("query", "%v", err)
		}
	}
	return c, problems
}

// Len is the number of checks.
func (s *Set) Len() int { return len(s.checks) }

// Rules are the ids of the rules with a check that looks at this file, whether
// it finds something or not. The content serves to tell the language where the
// name does not; it may be nil.
func (s *Set) Rules(name string, content []byte) []string {
	name = clean(name)
	language := Language(name, content)
	var out []string
	for _, c := range s.checks {
		if c.applies(name, language) {
			out = append(out, c.rule)
		}
	}
	return out
}

// Run looks at the changed lines of a file: those in the ranges, every line
// when changed is nil. Name is relative to the project, with forward slashes.
// The findings are sorted by position, then rule.
//
// A finding of a query that spans lines counts when one of its lines changed.
func (s *Set) Run(name string, content []byte, changed []Range) []Finding {
	if len(content) > MaxBytes || changed != nil && len(changed) == 0 || isBinary(content) {
		return nil
	}
	name = clean(name)
	language := Language(name, content)
	var src *source
	var out []Finding
	for _, c := range s.checks {
		if !c.applies(name, language) {
			continue
		}
		if src == nil {
			src = newSource(name, language, content)
		}
		out = append(out, c.run(src, changed)...)
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Rule, b.Rule))
	})
	return out
}

func (c *compiled) applies(name, language string) bool {
	if c.language != "" && !speaks(language, c.language) {
		return false
	}
	return (len(c.paths) == 0 || anyGlob(c.paths, name)) && !anyGlob(c.except, name)
}

func (c *compiled) run(src *source, changed []Range) []Finding {
	var out []Finding
	report := func(from, to int) {
		f := src.finding(from, to)
		if changed != nil && !touches(changed, f.Line, lastLine(f)) {
			return
		}
		if c.unless != nil && c.excused(src, f) {
			return
		}
		f.Rule, f.Message = c.rule, c.message
		out = append(out, f)
	}
	if c.pattern != nil {
		c.pattern.find(src, c.view, changed, report)
	} else {
		c.query.find(src, report)
	}
	return out
}

// excused tells whether a line of the finding matches the check's unless, or
// one of the lines above that hold nothing but a comment.
func (c *compiled) excused(src *source, f Finding) bool {
	for n := f.Line; n <= lastLine(f); n++ {
		if c.unless.re.Match(src.line(n)) {
			return true
		}
	}
	for n := f.Line - 1; n > 0 && n > f.Line-maxCommentAbove && src.commentOnly(n); n-- {
		if c.unless.re.Match(src.line(n)) {
			return true
		}
	}
	return false
}

// maxCommentAbove bounds, in lines, the comment above a finding that is read.
const maxCommentAbove = 20

// lastLine is the last line that a finding has a byte on.
func lastLine(f Finding) int {
	if f.EndColumn == 1 && f.EndLine > f.Line {
		return f.EndLine - 1
	}
	return f.EndLine
}

func clean(name string) string {
	return strings.TrimPrefix(path.Clean(strings.ReplaceAll(name, `\`, "/")), "./")
}

// isBinary says that this is no text. Git looks for a zero byte in the same
// stretch.
func isBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0
}
