package cypher

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxDepth bounds how deep lists and maps may nest.
const maxDepth = 64

// expression is a literal, possibly with references to the row in hand. Values
// are nil, bool, int64, float64, string, []any and map[string]any.
type expression interface {
	value(scope map[string]any) (any, error)
}

type (
	literal   struct{ v any }
	listOf    []expression
	mapOf     map[string]expression
	reference []string // a variable and the keys behind it
)

func (l literal) value(map[string]any) (any, error) { return l.v, nil }

func (l listOf) value(scope map[string]any) (any, error) {
	out := make([]any, len(l))
	for i, e := range l {
		v, err := e.value(scope)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (m mapOf) value(scope map[string]any) (any, error) {
	out := make(map[string]any, len(m))
	for key, e := range m {
		v, err := e.value(scope)
		if err != nil {
			return nil, err
		}
		out[key] = v
	}
	return out, nil
}

func (r reference) value(scope map[string]any) (any, error) {
	v, known := scope[r[0]]
	for _, key := range r[1:] {
		m, ok := v.(map[string]any)
		if !ok {
			known = false
			break
		}
		v = m[key]
	}
	if !known {
		return nil, fmt.Errorf("%s has no literal value here", strings.Join(r, "."))
	}
	return v, nil
}

// expression reads one value.
func (p *parser) expression(depth int) expression {
	if depth > maxDepth {
		p.fail("values nest deeper than %d levels", maxDepth)
	}
	switch t := p.peek(); {
	case t.kind == text:
		p.pos++
		return literal{t.text}
	case t.kind == number || t.is("-") || t.is("+"):
		return p.number()
	case t.is("["):
		return p.list(depth)
	case t.is("{"):
		return p.properties(depth)
	case t.is("true") || t.is("false"):
		p.pos++
		return literal{t.is("true")}
	case t.is("null"):
		p.pos++
		return literal{nil}
	case t.kind == word || t.kind == quoted:
		return p.referenceOrCall(depth)
	}
	p.fail("a value is missing")
	return nil
}

func (p *parser) number() expression {
	sign := ""
	if p.accept("-") {
		sign = "-"
	} else {
		p.accept("+")
	}
	t := p.peek()
	if t.kind != number {
		p.fail("a number is missing")
	}
	p.pos++
	if i, err := strconv.ParseInt(sign+t.text, 0, 64); err == nil {
		return literal{i}
	}
	f, err := strconv.ParseFloat(sign+t.text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		p.fail("%s is no number", t.text)
	}
	return literal{f}
}

func (p *parser) list(depth int) expression {
	p.pos++
	var out listOf
	for !p.accept("]") {
		if len(out) > 0 {
			p.expect(",", "a list goes on with a comma")
		}
		out = append(out, p.expression(depth+1))
	}
	return out
}

// properties reads {key: value, …}; the brace is next.
func (p *parser) properties(depth int) mapOf {
	p.pos++
	out := mapOf{}
	for first := true; !p.accept("}"); first = false {
		if !first {
			p.expect(",", "a map goes on with a comma")
		}
		key := p.peek()
		if key.kind == text {
			p.pos++
		} else {
			p.identifier("a property's name is missing")
		}
		p.expect(":", "a colon is missing after %s", key.text)
		out[key.text] = p.expression(depth + 1)
	}
	return out
}

// dates are the functions that a dump wraps a date's text in.
var dates = []string{"date", "datetime", "localdatetime", "time", "localtime", "toString"}

func (p *parser) referenceOrCall(depth int) expression {
	name := p.name()
	if p.accept("(") {
		arg := p.expression(depth + 1)
		if !slices.ContainsFunc(dates, func(d string) bool { return strings.EqualFold(d, name) }) || !p.accept(")") {
			p.fail("the function %s is unknown here", name)
		}
		return arg
	}
	path := reference{name}
	for {
		switch {
		case p.accept("."):
			path = append(path, p.identifier("a property's name is missing"))
		case p.accept("["):
			key := p.peek()
			p.pos++
			if key.kind != text || !p.accept("]") {
				p.fail("only a property's name may stand in these brackets")
			}
			path = append(path, key.text)
		default:
			return path
		}
	}
}
