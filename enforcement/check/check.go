package check

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/glob"
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

// Set is the checks of a corpus, in the order of their rule ids. It is safe for
// concurrent use.
type Set struct {
	checks []*entry
}

// entry is the check of a rule, which is compiled when it is wanted first.
type entry struct {
	rule     string
	language string // canonical name, "" is any
	from     schemas.Check
	compiled func() *compiled // nil where it cannot run
}

// compiled is the check of one rule.
type compiled struct {
	rule    string
	message string
	paths   []glob.Glob
	except  []glob.Glob
	unless  *line
	view    view
	pattern *line
	query   *query
}

// Compile prepares the checks of the rules that carry one. The problems, by
// rule, name each check that cannot run; the set holds the others.
func Compile(rules []schemas.Rule) (*Set, []Problem) {
	var checks []*entry
	var problems []Problem
	for _, r := range rules {
		if r.Check == nil {
			continue
		}
		from := described(r)
		c, wrong := compile(r.ID, from)
		if len(wrong) > 0 {
			problems = append(problems, wrong...)
			continue
		}
		language, _ := languageNamed(from.Language)
		checks = append(checks, &entry{rule: r.ID, language: language, from: from, compiled: func() *compiled { return c }})
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Rule, b.Rule) })
	return newSet(checks), problems
}

// Deferred is a set of checks that are compiled when a file of their language
// is looked at first: of a corpus of thousands most never are, and a compiled
// pattern takes ten times its text. A check that cannot run is left out then,
// and [Compile] names it. Of an earlier set, which may be nil, what is still
// the same is taken over as it is.
func Deferred(rules []schemas.Rule, earlier *Set) *Set {
	before := map[string]*entry{}
	if earlier != nil {
		for _, e := range earlier.checks {
			before[e.rule] = e
		}
	}
	var checks []*entry
	for _, r := range rules {
		if r.Check == nil {
			continue
		}
		from := described(r)
		if e := before[r.ID]; e != nil && sameCheck(e.from, from) {
			checks = append(checks, e)
			continue
		}
		from = cloned(from)
		language, known := languageNamed(from.Language)
		if !known {
			continue
		}
		checks = append(checks, deferred(strings.Clone(r.ID), language, from))
	}
	return newSet(checks)
}

func deferred(rule, language string, from schemas.Check) *entry {
	return &entry{rule: rule, language: language, from: from, compiled: sync.OnceValue(func() *compiled {
		if c, problems := compile(rule, from); len(problems) == 0 {
			return c
		}
		return nil
	})}
}

// cloned is a check with texts of its own: those of a rule are parts of a
// document, of which an entry that outlives it must not keep the whole.
func cloned(c schemas.Check) schemas.Check {
	for _, text := range []*string{&c.Language, &c.Pattern, &c.Query, &c.Unless, &c.Message} {
		*text = strings.Clone(*text)
	}
	for _, list := range []*[]string{&c.Contexts, &c.Paths, &c.Except} {
		*list = slices.Clone(*list)
		for i, text := range *list {
			(*list)[i] = strings.Clone(text)
		}
	}
	return c
}

func newSet(checks []*entry) *Set {
	slices.SortStableFunc(checks, func(a, b *entry) int { return cmp.Compare(a.rule, b.rule) })
	return &Set{checks}
}

// described is a rule's check, which says what its rule does where it says
// nothing itself.
func described(r schemas.Rule) schemas.Check {
	from := *r.Check
	from.Message = cmp.Or(from.Message, r.Statement)
	return from
}

func sameCheck(a, b schemas.Check) bool {
	return a.Language == b.Language && a.Pattern == b.Pattern && a.Query == b.Query && a.Unless == b.Unless && a.Message == b.Message &&
		slices.Equal(a.Contexts, b.Contexts) && slices.Equal(a.Paths, b.Paths) && slices.Equal(a.Except, b.Except)
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
	var err error
	if c.view, err = viewOf(from.Contexts); err != nil {
		wrong("contexts", "%v", err)
	}
	if c.paths, err = glob.ParseAll(from.Paths); err != nil {
		wrong("paths", "%v", err)
	}
	if c.except, err = glob.ParseAll(from.Except); err != nil {
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

// Rules are the ids of the rules whose check had something to look at in the changed
// lines of a file, every line when changed is nil: what every violation has, such as
// the name of the function called, whether it is one or not.
func (s *Set) Rules(name string, content []byte, changed []Range) []string {
	var out []string
	for c, src := range s.looking(name, content, changed) {
		if c.query != nil && c.query.concerns(src) || c.pattern != nil && len(c.pattern.candidates(src, changed)) > 0 {
			out = append(out, c.rule)
		}
	}
	return out
}

// looking are the checks that look at the changed lines of a file, with the file.
func (s *Set) looking(name string, content []byte, changed []Range) iter.Seq2[*compiled, *source] {
	return func(yield func(*compiled, *source) bool) {
		if len(content) > MaxBytes || changed != nil && len(changed) == 0 || isBinary(content) {
			return
		}
		name = clean(name)
		language := Language(name, content)
		var src *source
		for c := range s.of(name, language) {
			if src == nil {
				src = newSource(name, language, content)
			}
			if !yield(c, src) {
				return
			}
		}
	}
}

// of are the checks that look at a file of this name and language.
func (s *Set) of(name, language string) iter.Seq[*compiled] {
	return func(yield func(*compiled) bool) {
		for _, e := range s.checks {
			if e.language != "" && !speaks(language, e.language) {
				continue
			}
			if c := e.compiled(); c != nil && c.looksAt(name) && !yield(c) {
				return
			}
		}
	}
}

// Run looks at the changed lines of a file: those in the ranges, every line
// when changed is nil. Name is relative to the project, with forward slashes.
// The findings are sorted by position, then rule.
//
// A finding of a query that spans lines counts when one of its lines changed.
func (s *Set) Run(name string, content []byte, changed []Range) []Finding {
	var out []Finding
	for c, src := range s.looking(name, content, changed) {
		out = append(out, c.run(src, changed)...)
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Rule, b.Rule))
	})
	return out
}

func (c *compiled) looksAt(name string) bool {
	return (len(c.paths) == 0 || glob.Any(c.paths, name)) && !glob.Any(c.except, name)
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
