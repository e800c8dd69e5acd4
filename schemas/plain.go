package schemas

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// plan decodes the bodies that this package itself writes, several times
// faster than encoding/json: one object, without white space, whose members
// are the struct's own fields and of its simple types. It leaves every other
// body, sound or not, to encoding/json, and what it decodes it decodes alike.
//
// The strings of a small body are parts of one copy of it; those of a larger
// one are copied, so that one kept field does not keep a whole document.
type plan struct {
	fields []plainField // in the struct's order, which encoding/json writes them in
}

type plainField struct {
	name  string // in JSON
	plain bool
}

// at finds a field by its name, from the place behind the one found before.
func (p *plan) at(name string, from int) int {
	for i := range p.fields {
		at := from + i
		if at >= len(p.fields) {
			at -= len(p.fields)
		}
		if p.fields[at].name == name {
			return at
		}
	}
	return -1
}

// sharedBytes is the size up to which strings share the copy of their body.
const sharedBytes = 1 << 10

// planOf returns nil for a struct that describes its JSON in other ways.
func planOf(t reflect.Type) *plan {
	if t.Kind() != reflect.Struct || hasDecoder(t) {
		return nil
	}
	p := &plan{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "" || name == "-" || strings.Contains(options, "string") {
			return nil
		}
		p.fields = append(p.fields, plainField{name, isPlain(f.Type)})
	}
	return p
}

func hasDecoder(t reflect.Type) bool {
	t = reflect.PointerTo(t)
	return t.Implements(reflect.TypeFor[json.Unmarshaler]()) || t.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func isPlain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Float64, reflect.Int, reflect.Int64:
		return !hasDecoder(t)
	case reflect.Slice:
		return t == reflect.TypeFor[[]byte]()
	default:
		return false
	}
}

// decode reports whether the body is one for the plan. If not, into holds
// anything.
func (p *plan) decode(raw []byte, into reflect.Value) bool {
	if p == nil || len(raw) < 2 || raw[0] != '{' || raw[len(raw)-1] != '}' || !utf8.Valid(raw) {
		return false
	}
	if len(raw) == 2 {
		return true
	}
	rest := string(raw[1:]) // one copy; the strings of the body are parts of it
	for field := -1; ; {
		name, ok := "", false
		if name, rest, ok = cutText(rest); !ok {
			return false
		}
		field = p.at(name, field+1)
		if field < 0 || !p.fields[field].plain || rest == "" || rest[0] != ':' {
			return false
		}
		target := into.Field(field)
		if rest, ok = setPlain(target, rest[1:]); !ok || rest == "" {
			return false
		}
		if len(raw) > sharedBytes && target.Kind() == reflect.String {
			target.SetString(strings.Clone(target.String()))
		}
		switch rest[0] {
		case ',':
			rest = rest[1:]
		case '}':
			return len(rest) == 1
		default:
			return false
		}
	}
}

// setPlain reads one value into a field and returns what follows it.
func setPlain(field reflect.Value, from string) (rest string, ok bool) {
	switch field.Kind() {
	case reflect.String:
		text, rest, ok := cutText(from)
		if ok {
			field.SetString(text)
		}
		return rest, ok
	case reflect.Slice:
		text, rest, ok := cutText(from)
		if !ok {
			return "", false
		}
		data, err := base64.StdEncoding.DecodeString(text)
		field.SetBytes(data)
		return rest, err == nil
	case reflect.Bool:
		if rest, ok = strings.CutPrefix(from, "true"); ok {
			field.SetBool(true)
			return rest, true
		}
		rest, ok = strings.CutPrefix(from, "false")
		field.SetBool(false)
		return rest, ok
	case reflect.Float64:
		number, rest := cutNumber(from)
		x, err := strconv.ParseFloat(number, 64)
		field.SetFloat(x)
		return rest, number != "" && err == nil
	default:
		number, rest := cutNumber(from)
		x, err := strconv.ParseInt(number, 10, field.Type().Bits())
		field.SetInt(x)
		return rest, number != "" && err == nil
	}
}

// cutNumber cuts off a number as JSON spells it, "" if there is none.
func cutNumber(s string) (number, rest string) {
	digits := func(i int) int {
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i
	}
	start := 0
	if s != "" && s[0] == '-' {
		start = 1
	}
	end := digits(start)
	if end == start || s[start] == '0' && end > start+1 {
		return "", ""
	}
	if end < len(s) && s[end] == '.' {
		fraction := end + 1
		if end = digits(fraction); end == fraction {
			return "", ""
		}
	}
	if end < len(s) && (s[end] == 'e' || s[end] == 'E') {
		power := end + 1
		if power < len(s) && (s[power] == '+' || s[power] == '-') {
			power++
		}
		if end = digits(power); end == power {
			return "", ""
		}
	}
	return s[:end], s[end:]
}

// cutText cuts off a string of JSON. It declines escaped surrogates.
func cutText(s string) (text, rest string, ok bool) {
	if s == "" || s[0] != '"' {
		return "", "", false
	}
	s = s[1:]
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"':
			return s[:i], s[i+1:], true
		case c == '\\':
			return cutEscaped(s, i)
		case c < ' ':
			return "", "", false
		}
	}
	return "", "", false
}

// plainEscapes are what stands behind a backslash, and what is meant.
var plainEscapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// cutEscaped goes on at the first backslash of a text.
func cutEscaped(s string, i int) (text, rest string, ok bool) {
	var b strings.Builder
	b.Grow(len(s[:i]) + 64)
	for start := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"':
			b.WriteString(s[start:i])
			return b.String(), s[i+1:], true
		case c < ' ':
			return "", "", false
		case c != '\\':
			i++
			continue
		}
		b.WriteString(s[start:i])
		if i+1 >= len(s) {
			return "", "", false
		}
		meant, short := plainEscapes[s[i+1]]
		switch {
		case short:
			b.WriteByte(meant)
			i += 2
		case s[i+1] == 'u' && i+6 <= len(s):
			code, err := strconv.ParseUint(s[i+2:i+6], 16, 16)
			if err != nil || code >= 0xD800 && code < 0xE000 {
				return "", "", false
			}
			b.WriteRune(rune(code))
			i += 6
		default:
			return "", "", false
		}
		start = i
	}
	return "", "", false
}
