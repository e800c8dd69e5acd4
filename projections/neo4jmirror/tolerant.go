package neo4jmirror

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/writbus/writ/schemas"
)

// otherNames are what other layouts call a field. They count where the field's
// own name is missing.
var otherNames = map[string]string{
	"name": "title", "description": "statement", "text": "statement", "when": "trigger", "pass": "pass_example",
	"content": "body", "markdown": "body", "compression_ratio": "ratio", "counters": "rationalization_counters",
	"red_flags": "red_flag_thoughts",
}

// idShape is what the ids of nodes look like; only where no property is called
// an id is it needed to find one.
var idShape = regexp.MustCompile(`^[A-Z][A-Z0-9]*(-[A-Z0-9]+)+$`)

// reader makes a node of what a database holds.
type reader struct {
	t       schemas.NodeType
	id      string
	values  map[string]any    // by the field's name
	stood   map[string]string // what the field is called in the database
	unknown []string          // properties that are no fields, sorted
	unfit   []string          // values that do not fit their field
	assumed []string
}

func newReader(t schemas.NodeType, props map[string]any) *reader {
	r := &reader{t: t, values: map[string]any{}, stood: map[string]string{}}
	idKey := findID(t, props)
	r.id, _ = props[idKey].(string)
	r.id = strings.TrimSpace(r.id)
	fields := map[string]bool{}
	for _, p := range properties() {
		if p.owner == "" || p.owner == t {
			fields[p.name] = true
		}
	}
	var others []string
	for _, key := range slices.Sorted(maps.Keys(props)) {
		name := snake(key)
		switch {
		case key == idKey, strings.HasPrefix(key, "writ_"), name == "type", name == "node_type":
		case name != "id" && fields[name] && r.values[name] == nil:
			r.values[name], r.stood[name] = props[key], key
		default:
			others = append(others, key)
		}
	}
	for _, key := range others {
		name := otherNames[snake(key)]
		if name == "" || !fields[name] || r.values[name] != nil {
			r.unknown = append(r.unknown, key)
			continue
		}
		r.values[name], r.stood[name] = props[key], key
	}
	return r
}

// findID is the property that holds a node's id, "" for none: id, or the
// type's own such as rule_id, or else the only one that looks like an id.
func findID(t schemas.NodeType, props map[string]any) string {
	wanted := []string{"id", snake(string(t)) + "_id", strings.ToLower(string(t)) + "_id", "node_id", "uid", "key"}
	for _, want := range wanted {
		for _, key := range slices.Sorted(maps.Keys(props)) {
			if text, is := props[key].(string); is && snake(key) == want && strings.TrimSpace(text) != "" {
				return key
			}
		}
	}
	var like []string
	for _, key := range slices.Sorted(maps.Keys(props)) {
		text, is := props[key].(string)
		if is && idShape.MatchString(text) && (strings.HasSuffix(snake(key), "_id") || snake(key) == "name") {
			like = append(like, key)
		}
	}
	if len(like) == 1 {
		return like[0]
	}
	return ""
}

// node fills in the fields that fit.
func (r *reader) node() schemas.Rule {
	var node schemas.Rule
	if r.t != schemas.NodeRule {
		node.Type = r.t
	}
	value := reflect.ValueOf(&node).Elem()
	for _, p := range properties() {
		if p.owner != "" && p.owner != r.t {
			continue
		}
		if p.owner == r.t && len(p.path) == 2 && value.Field(p.path[0]).IsNil() {
			value.Field(p.path[0]).Set(reflect.New(value.Field(p.path[0]).Type().Elem()))
		}
		raw, there := r.values[p.name]
		if !there || raw == nil {
			continue
		}
		field := value.Field(p.path[0])
		if len(p.path) == 2 {
			if field.IsNil() {
				field.Set(reflect.New(field.Type().Elem()))
			}
			field = field.Elem().Field(p.path[1])
		}
		if !load(field, p.name, raw) {
			r.unfit = append(r.unfit, fmt.Sprintf("%s %s: property %s holds %s, which is no %s", r.t, r.id, r.stood[p.name], shown(raw), wanted(p.kind)))
		}
	}
	node.ID = r.id
	r.settle(&node)
	return node
}

// settle evens out how words of fixed lists are written, and fills in what an
// older layout did not have.
func (r *reader) settle(n *schemas.Rule) {
	word := func(s string) string { return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "_", "-") }
	n.Severity, n.Scope, n.Authority, n.Confidence = word(n.Severity), word(n.Scope), word(n.Authority), word(n.Confidence)
	if n.Severity == "" {
		n.Severity = "medium"
		r.assumed = append(r.assumed, fmt.Sprintf("%s %s: it has no severity, taken as medium", r.t, r.id))
	}
	if n.Statement == "" && n.Abstraction != nil && n.Abstraction.Summary != "" {
		n.Statement = n.Abstraction.Summary
		r.assumed = append(r.assumed, fmt.Sprintf("%s %s: it has no statement, its summary is taken", r.t, r.id))
	}
}

// load puts a value into a field, and says whether it fits.
func load(field reflect.Value, name string, raw any) bool {
	switch {
	case field.Kind() == reflect.String:
		text, ok := asText(raw)
		if ok {
			field.SetString(text)
		}
		return ok
	case field.Kind() == reflect.Bool:
		yes, ok := asBool(raw)
		field.SetBool(yes)
		return ok
	case field.CanInt():
		n, ok := asNumber(raw)
		if !ok || n != float64(int64(n)) {
			return false
		}
		field.SetInt(int64(n))
		return true
	case field.CanFloat():
		n, ok := asNumber(raw)
		field.SetFloat(n)
		return ok
	case field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.String:
		list, ok := asList(raw, name == "tags")
		if ok && len(list) > 0 {
			field.Set(reflect.ValueOf(list).Convert(field.Type()))
		}
		return ok
	}
	text, is := raw.(string)
	return is && json.Unmarshal([]byte(text), field.Addr().Interface()) == nil
}

func asText(raw any) (string, bool) {
	switch v := raw.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case neo4j.Date:
		return v.Time().Format(time.DateOnly), true
	case neo4j.LocalDateTime:
		return v.Time().Format(time.DateOnly), true
	case time.Time:
		return v.UTC().Format(time.DateOnly), true
	case []any:
		list, ok := asList(v, false)
		return strings.Join(list, "\n"), ok
	}
	return "", false
}

func asBool(raw any) (yes, ok bool) {
	switch v := raw.(type) {
	case bool:
		return v, true
	case int64:
		return v != 0, v == 0 || v == 1
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true", "yes", "1":
			return true, true
		case "false", "no", "0", "":
			return false, true
		}
	}
	return false, false
}

func asNumber(raw any) (float64, bool) {
	switch v := raw.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case string:
		n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		return n, err == nil
	}
	return 0, false
}

// asList takes a list, a JSON list in a text, or a text: each line is an
// element, or each word between commas.
func asList(raw any, commas bool) ([]string, bool) {
	switch v := raw.(type) {
	case []any:
		list := make([]string, 0, len(v))
		for _, element := range v {
			text, ok := asText(element)
			if !ok {
				return nil, false
			}
			list = append(list, text)
		}
		return list, true
	case string:
		var list []string
		if strings.HasPrefix(strings.TrimSpace(v), "[") && json.Unmarshal([]byte(v), &list) == nil {
			return list, true
		}
		separator := "\n"
		if commas {
			separator = ","
		}
		for part := range strings.SplitSeq(v, separator) {
			part = strings.TrimSpace(part)
			for _, bullet := range []string{"- ", "* "} {
				part = strings.TrimPrefix(part, bullet)
			}
			if part != "" {
				list = append(list, part)
			}
		}
		return list, true
	}
	text, ok := asText(raw)
	return []string{text}, ok
}

// snake writes aName and A-Name as a_name.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if r == '-' || r == ' ' {
			r = '_'
		}
		if unicode.IsUpper(r) {
			before := i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1]))
			within := i > 0 && i+1 < len(runes) && unicode.IsUpper(runes[i-1]) && unicode.IsLower(runes[i+1])
			if before || within {
				b.WriteByte('_')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// shown is a value for a message.
func shown(raw any) string {
	text := []rune(fmt.Sprint(raw))
	if len(text) > 40 {
		text = append(slices.Clip(text[:39]), '…')
	}
	return strconv.Quote(string(text))
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "yes or no"
	case reflect.Int, reflect.Float64:
		return "number"
	default:
		return "list of texts"
	}
}
