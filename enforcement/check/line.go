package check

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// line is a regular expression over single lines, with literals of which every
// match holds one, so that most lines need not be tried.
type line struct {
	re   *regexp.Regexp
	need [][]byte // in small letters; nil when nothing is known
}

func newLine(expr string) (*line, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("%q is no regular expression (RE2): %w", expr, err)
	}
	if re.MatchString("") {
		return nil, fmt.Errorf("%q matches every line; make some part of it obligatory", expr)
	}
	l := &line{re: re}
	if tree, err := syntax.Parse(expr, syntax.Perl); err == nil {
		for _, s := range needs(tree.Simplify()) {
			l.need = append(l.need, []byte(s))
		}
	}
	return l, nil
}

// maxNeeds bounds the literals of one expression; more would be slower to look
// for than the expression itself.
const maxNeeds = 24

// needs lists literals, in small letters, of which every match of the
// expression holds at least one; nil when there is no such list.
func needs(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r > 127 {
				return nil
			}
		}
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return needs(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needs(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if n := needs(sub); n != nil && (best == nil || shortest(n) > shortest(best)) {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			n := needs(sub)
			if n == nil {
				return nil
			}
			all = append(all, n...)
		}
		slices.Sort(all)
		if all = slices.Compact(all); len(all) <= maxNeeds {
			return all
		}
	default:
	}
	return nil
}

func shortest(list []string) int {
	n := len(list[0])
	for _, s := range list {
		n = min(n, len(s))
	}
	return n
}

// find reports where the expression matches in a view of the source, once per
// line.
func (l *line) find(src *source, v view, changed []Range, report func(from, to int)) {
	for _, n := range l.candidates(src, changed) {
		from, to := src.span(n)
		if to-from > MaxLine {
			continue
		}
		if at := l.re.FindIndex(src.seen(v)[from:to]); at != nil {
			report(from+at[0], from+at[1])
		}
	}
}

// candidates are the changed lines that hold one of the needed literals.
func (l *line) candidates(src *source, changed []Range) []int {
	var out []int
	if l.need == nil {
		for n := 1; n <= src.lines(); n++ {
			if changed == nil || touches(changed, n, n) {
				out = append(out, n)
			}
		}
		return out
	}
	content := src.lowered()
	for _, need := range l.need {
		for at := 0; at < len(content); {
			i := bytes.Index(content[at:], need)
			if i < 0 {
				break
			}
			n := src.lineAt(at + i)
			if changed == nil || touches(changed, n, n) {
				out = append(out, n)
			}
			if n == src.lines() {
				break
			}
			at = src.starts[n]
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
