package chunk

import (
	_ "embed" // grammars.txt
	"regexp"
	"strings"
	"sync"
)

//go:embed grammars.txt
var grammarsText string

// re is a pattern that is compiled when a line is first held against it: a
// project has few of the languages.
func re(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// grammars are those of languages without a parser of their own here, by their names.
var grammars = sync.OnceValue(func() map[string]*grammar {
	r := grammarReader{grammars: map[string]*grammar{}, parts: map[string]*grammar{}}
	for line := range strings.Lines(grammarsText) {
		if word, rest, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " "); word != "" && word != "#" {
			r.read(word, rest)
		}
	}
	return r.grammars
})

// grammarReader reads grammars.txt, which says how it is written.
type grammarReader struct {
	grammars, parts map[string]*grammar
	open            *grammar // the one that lines belong to
	lets            []string // what stands for what in patterns, as strings.NewReplacer takes it
}

func (r *grammarReader) read(word, rest string) {
	switch word {
	case "let":
		name, pattern, _ := strings.Cut(rest, " ")
		r.lets = append(r.lets, "%"+name+"%", r.pattern(pattern))
	case "part":
		r.open = &grammar{}
		r.parts[rest] = r.open
	case "language":
		r.open = &grammar{}
		for name := range strings.FieldsSeq(rest) {
			r.grammars[name] = r.open
		}
	case "comments":
		for option := range strings.FieldsSeq(rest) {
			r.open.comments.set(option)
		}
	case "hints":
		r.open.hints = values(rest)
	case "also":
		r.open.also = re(r.pattern(rest))
	case "clauses":
		r.open.clauses = true
	case "use":
		r.open.declarations = append(r.open.declarations, r.parts[rest].declarations...)
	default:
		r.open.declarations = append(r.open.declarations, r.declaration(word, rest))
	}
}

func (r *grammarReader) pattern(text string) string {
	return strings.NewReplacer(r.lets...).Replace(text)
}

func (r *grammarReader) declaration(kind, rest string) declaration {
	d := declaration{kind: kind}
	for {
		word, more, _ := strings.Cut(rest, " ")
		switch key, value, _ := strings.Cut(word, ":"); key {
		case "container":
			d.container = true
		case "member":
			d.member = true
		case "top":
			d.top = true
		case "inner":
			d.inner = true
		case "own":
			d.own = true
		case "mark":
			d.mark = true
		case "loose":
			d.loose = true
		case "needs":
			d.needs = values(value)
		case "of":
			d.of = value
		case "behind":
			d.behind = re(value)
		default:
			d.line, d.starts = re(r.pattern(rest)), strings.HasSuffix(rest, "%rest%")
			return d
		}
		rest = more
	}
}

// set takes one of what a line of comments says.
func (c *comments) set(option string) {
	switch key, value, _ := strings.Cut(option, ":"); key {
	case "line":
		c.line = values(value)
	case "block":
		for _, block := range values(value) {
			begin, end, _ := strings.Cut(block, "…")
			c.block = append(c.block, [2]string{begin, end})
		}
	case "quotes":
		c.quotes = value
	case "long":
		c.long = values(value)
	case "multi":
		c.multi = value
	}
}

// values are the parts of a list, with what cannot stand in it.
func values(list string) []string {
	return strings.Split(strings.NewReplacer("·", " ", `\n`, "\n", `\0`, "\x00").Replace(list), ",")
}
