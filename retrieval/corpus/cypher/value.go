package cypher

import (
	"fmt"
	"math"
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
func (p *parser) expression(depth int) (expression, error) {
	if depth > maxDepth {
		return nil, p.fail("values nest deeper than %d levels", maxDepth)
	}
	switch t := p.peek(); {
	case t.kind == text:
		p.pos++
		return literal{t.text}, nil
	case t.kind == number || t.is("-") || t.is("+"):
		return p.number()
	case t.is("["):
		return p.list(depth)
	case t.is("{"):
		m, err := p.properties(depth)
		return mapOf(m), err
	case t.is("true") || t.is("false"):
		p.pos++
		return literal{t.is("true")}, nil
	case t.is("null"):
		p.pos++
		return literal{nil}, nil
	case t.kind == word || t.kind == quoted:
		return p.referenceOrCall(depth)
	}
	return nil, p.fail("a value is missing")
}

func (p *parser) number() (expression, error) {
	sign := ""
	if p.accept("-") {
		sign = "-"
	} else {
		p.accept("+")
	}
	t := p.peek()
	if t.kind != number {
		return nil, p.fail("a number is missing")
	}
	p.pos++
	if i, err := strconv.ParseInt(sign+t.text, 0, 64); err == nil {
		return literal{i}, nil
	}
	f, err := strconv.ParseFloat(sign+t.text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, p.fail("%s is no number", t.text)
	}
	return literal{f}, nil
}

func (p *parser) list(depth int) (expression, error) {
	p.pos++
	var out listOf
	for !p.accept("]") {
		if len(out) > 0 && !p.accept(",") {
			return nil, p.fail("a list goes on with a comma")
		}
		e, err := p.expression(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// properties reads {key: value, …}; the brace is next.
func (p *parser) properties(depth int) (map[string]expression, error) {
	p.pos++
	out := map[string]expression{}
	for first := true; !p.accept("}"); first = false {
		if !first && !p.accept(",") {
			return nil, p.fail("a map goes on with a comma")
		}
		key := p.peek()
		if key.kind != word && key.kind != quoted && key.kind != text {
			return nil, p.fail("a property's name is missing")
		}
		p.pos++
		if !p.accept(":") {
			return nil, p.fail("a colon is missing after %s", key.text)
		}
		e, err := p.expression(depth + 1)
		if err != nil {
			return nil, err
		}
		out[key.text] = e
	}
	return out, nil
}

// dates are the functions that a dump wraps a date's text in.
var dates = []string{"date", "datetime", "localdatetime", "time", "localtime", "toString"}

func (p *parser) referenceOrCall(depth int) (expression, error) {
	name := p.peek()
	p.pos++
	if p.accept("(") {
		arg, err := p.expression(depth + 1)
		if err != nil {
			return nil, err
		}
		for _, d := range dates {
			if strings.EqualFold(d, name.text) && p.accept(")") {
				return arg, nil
			}
		}
		return nil, p.fail("the function %s is unknown here", name.text)
	}
	path := reference{name.text}
	for {
		switch {
		case p.accept("."):
			key := p.peek()
			if key.kind != word && key.kind != quoted {
				return nil, p.fail("a property's name is missing")
			}
			p.pos++
			path = append(path, key.text)
		case p.accept("["):
			key := p.peek()
			p.pos++
			if key.kind != text || !p.accept("]") {
				return nil, p.fail("only a property's name may stand in these brackets")
			}
			path = append(path, key.text)
		default:
			return path, nil
		}
	}
}
