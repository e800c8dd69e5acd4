package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/writbus/writ/schemas"
)

// MaxSize is the largest rule file in bytes.
const MaxSize = 1 << 20

// Bounds on the front matter that keep a hostile file from occupying the YAML
// parser, whose time grows faster than its input: the longest rule has a few
// kilobytes, two levels and single blank lines.
const (
	maxFront   = 128 << 10 // bytes
	maxNesting = 16        // levels
	maxBlank   = 32        // blank lines in a row
)

const fence = "---"

// Parse reads one rule file. The path serves to name the file in errors and is
// never opened. A byte order mark and any line ending are accepted; the rule
// holds plain newlines, its Body neither leading blank lines nor trailing
// white space. The error is an [*Error] naming every problem.
func Parse(path string, src []byte) (schemas.Rule, error) {
	d := parseFile(path, src)
	if len(d.problems) > 0 {
		return schemas.Rule{}, &Error{Problems: d.problems}
	}
	return d.rule, nil
}

// document is a file being read: its rule, where its parts stand, and what is
// wrong with it.
type document struct {
	path     string
	rule     schemas.Rule
	lines    map[string]int // of each key present
	edges    []int          // line of each edge of rule.Edges
	first    int            // line where the node begins
	problems []Problem
	notes    []Problem   // what was changed or left out of a node of an older format
	legacy   bool        // of an older format
	left     bool        // the node is left out, as notes say
	from     *legacyNode // of an older format, until it is converted
	ordered  bool        // its edges told the ids that it lists
	outcomes Outcomes    // that an older corpus had counted
	prose    bool        // ids in its text are edges, too
}

func parseFile(path string, src []byte) *document {
	d := &document{path: path, lines: map[string]int{}, first: 1}
	text, ok := d.decode(src)
	if !ok {
		return d
	}
	front, body, ok := d.split(text)
	if !ok {
		return d
	}
	d.rule.Body = body
	d.readFront(front)
	if len(d.problems) == 0 {
		d.check()
	}
	for i := range d.problems {
		d.problems[i].ID = d.rule.ID
	}
	return d
}

func (d *document) problem(line int, format string, args ...any) {
	d.problems = append(d.problems, Problem{Path: d.path, Line: line, Kind: KindInvalid, Reason: fmt.Sprintf(format, args...)})
}

// decode makes text of a file's bytes.
func (d *document) decode(src []byte) (string, bool) {
	if len(src) > MaxSize {
		d.problem(1, "file has %d bytes or more, the limit is %d: move the long part elsewhere and link to it", len(src), MaxSize)
		return "", false
	}
	return d.clean(src)
}

// clean drops the byte order mark, makes every line ending a newline and
// refuses bytes that are not text.
func (d *document) clean(src []byte) (string, bool) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	src = bytes.ReplaceAll(src, []byte("\r"), []byte("\n"))
	line := 1
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			d.problem(line, "byte 0x%02x is not UTF-8: save the file as UTF-8", src[i])
			return "", false
		case r == '\n':
			line++
		case isControl(r):
			d.problem(line, "control character U+%04X: remove it, or write it as an escape in a quoted value", r)
			return "", false
		}
		i += size
	}
	return string(src), true
}

// isControl says that a file cannot hold a character as it is.
func isControl(r rune) bool { return r < 0x20 && r != '\t' && r != '\n' || r == 0x7f }

// split cuts the text at its two fences. The front matter begins on line 2.
func (d *document) split(text string) (front, body string, ok bool) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != fence {
		d.problem(1, "a rule file begins with a line %q, its front matter follows", fence)
		return "", "", false
	}
	for at := 0; at < len(rest); {
		line, _, _ := strings.Cut(rest[at:], "\n")
		next := min(at+len(line)+1, len(rest))
		if strings.TrimRight(line, " \t") == fence {
			return rest[:at], trimBody(rest[next:]), true
		}
		at = next
	}
	d.problem(1, "the front matter has no end: close it with a line %q", fence)
	return "", "", false
}

func trimBody(s string) string {
	return strings.TrimRight(strings.TrimLeft(s, "\n"), " \t\n")
}

func (d *document) readFront(front string) {
	top, ok := d.yaml(front)
	if !ok {
		return
	}
	d.readMap(top, fields, reflect.ValueOf(&d.rule).Elem(), "")
	if d.rule.Type == schemas.NodeRule {
		d.rule.Type = ""
		delete(d.lines, "type")
	}
}

// yaml parses front matter, which begins on line 2, within bounds.
func (d *document) yaml(front string) (ast.MapNode, bool) {
	if len(front) > maxFront {
		d.problem(1, "front matter has %d bytes, the limit is %d: move explanations into the body", len(front), maxFront)
		return nil, false
	}
	if line, found := blankRun(front); found {
		d.problem(line+1, "more than %d blank lines in a row: remove them", maxBlank)
		return nil, false
	}
	tokens := lexer.Tokenize(front)
	if line, deep := tooDeep(tokens); deep {
		d.problem(line+1, "front matter nests deeper than %d levels", maxNesting)
		return nil, false
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		d.yamlProblem(err)
		return nil, false
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		d.problem(1, "the front matter is empty: id, severity, trigger and statement are required")
		return nil, false
	}
	top, ok := file.Docs[0].Body.(ast.MapNode)
	if !ok || len(file.Docs) > 1 {
		d.problem(2, "the front matter is a mapping of keys to values")
		return nil, false
	}
	return top, true
}

// blankRun returns the line on which too many blank lines in a row begin.
func blankRun(front string) (line int, found bool) {
	n, run := 0, 0
	for text := range strings.SplitSeq(strings.TrimSuffix(front, "\n"), "\n") {
		n++
		if strings.TrimSpace(text) != "" {
			run = 0
			continue
		}
		if run++; run > maxBlank {
			return n - maxBlank, true
		}
	}
	return 0, false
}

// tooDeep bounds the nesting before the recursive parser sees it.
func tooDeep(tokens token.Tokens) (line int, deep bool) {
	depth, entries, onLine := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != onLine {
			onLine, entries = t.Position.Line, 0
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType:
			entries++
		default:
		}
		if depth+entries > maxNesting {
			return t.Position.Line, true
		}
	}
	return 0, false
}

func (d *document) yamlProblem(err error) {
	if at, ok := errors.AsType[yaml.Error](err); ok && at.GetToken() != nil {
		d.problem(at.GetToken().Position.Line+1, "front matter: %s", at.GetMessage())
		return
	}
	d.problem(2, "front matter: %s", strings.ReplaceAll(err.Error(), "\n", " "))
}
