package corpus

import (
	"cmp"
	_ "embed" // legacy.txt
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/schemas"
)

// bodyKey is where text without a field of its own goes.
const bodyKey = "body"

//go:embed legacy.txt
var legacyText string

// legacyFields is what legacy.txt says of one type of nodes, or of all.
type legacyFields struct {
	places map[string]string // where a property belongs, by its name
	fills  []fillIn
}

const ofAll schemas.NodeType = "any"

var legacyOf = sync.OnceValue(func() map[schemas.NodeType]legacyFields {
	all := map[schemas.NodeType]legacyFields{}
	for _, paragraph := range strings.Split(strings.ReplaceAll(legacyText, "\r", ""), "\n\n")[1:] {
		lines := strings.Split(strings.TrimSpace(paragraph), "\n")
		of := legacyFields{places: map[string]string{}}
		for _, line := range lines[1:] {
			if path, from, fills := strings.Cut(line, " from "); fills {
				of.fills = append(of.fills, fillIn{path, strings.Fields(from)})
				continue
			}
			place, names, _ := strings.Cut(line, ": ")
			for name := range strings.FieldsSeq(names) {
				of.places[name] = place
			}
		}
		all[schemas.NodeType(lines[0])] = of
	}
	return all
})

// maxOutcomes bounds what a corpus may say was counted of one rule.
const maxOutcomes = 1_000_000

// identityNames are properties that are taken elsewhere.
var identityNames = []string{"type", "node_type", "id", "node_id", "dump_id"}

// place says where a property of an older format belongs: the path of a field,
// bodyKey, or "-> TYPE" or "<- TYPE" for an edge; "" for nowhere.
func place(own schemas.NodeType, name string) string {
	if to, found := legacyOf()[own].places[name]; found {
		return to
	}
	detail := detailKeys[own]
	if f, has := fieldOf(fields, detail); has {
		if _, found := fieldOf(f.sub, strings.TrimPrefix(name, detail+"_")); found {
			return detail + "." + strings.TrimPrefix(name, detail+"_")
		}
	}
	if f, found := fieldOf(fields, name); found && (f.kind != mapValue || name == detail || name == "check") {
		return name
	}
	if check, _ := fieldOf(fields, "check"); strings.HasPrefix(name, "check_") {
		if _, found := fieldOf(check.sub, strings.TrimPrefix(name, "check_")); found {
			return "check." + strings.TrimPrefix(name, "check_")
		}
	}
	if name == bodyKey {
		return bodyKey
	}
	return legacyOf()[ofAll].places[name]
}

// at finds the field of a path.
func (d *document) at(path string) (field, reflect.Value) {
	key, rest, nested := strings.Cut(path, ".")
	f, _ := fieldOf(fields, key)
	v := reflect.ValueOf(&d.rule).Elem().Field(f.index)
	if !nested {
		return f, v
	}
	if v.IsNil() {
		v.Set(reflect.New(v.Type().Elem()))
	}
	sub, _ := fieldOf(f.sub, rest)
	return sub, v.Elem().Field(sub.index)
}

// detail gives the node the struct of its type.
func (c *conversion) detail() {
	if key, has := detailKeys[c.own]; has {
		_, v := c.at(key)
		v.Set(reflect.New(v.Type().Elem()))
	}
}

// take puts one property where it belongs.
func (c *conversion) take(v legacyValue) {
	if isEmpty(v.value) || slices.Contains(identityNames, v.name) || slices.Contains(idNames[c.own], v.name) {
		return
	}
	if kind, bad := v.value.(unread); bad {
		c.skipped(v.line, "%s is a YAML %s: left out", v.name, kind)
		return
	}
	to := place(c.own, v.name)
	kind, edge := strings.CutPrefix(to, "-> ")
	switch {
	case v.name == "times_seen_positive":
		c.outcomes.Positive = asCount(v.value)
	case v.name == "times_seen_negative":
		c.outcomes.Negative = asCount(v.value)
	case to == "":
		c.note(v.line, KindDropped, "property %s has no place here: left out", v.name)
	case strings.HasPrefix(to, "<- "):
		c.skipped(v.line, "%s names %s, which is not in this import: the edge from there is left out", v.name, asText(v.value))
		c.notes[len(c.notes)-1].Target = asText(v.value)
	case to == bodyKey:
		c.rule.Body = trimBody(c.rule.Body + "\n\n" + cleanBody(asText(v.value)))
	case edge:
		for _, target := range asList(v.value, true) {
			c.addEdge(kind, target, v.line)
		}
	default:
		f, into := c.at(to)
		c.set(f, to, into, v)
	}
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

func (c *conversion) set(f field, path string, into reflect.Value, v legacyValue) {
	_, twice := c.lines[path]
	switch {
	case f.kind == edgeValue:
		c.takeEdges(v)
		return
	case f.kind == mapValue:
		c.takeMap(f, path, v)
		return
	case twice && f.kind != listValue:
		c.skipped(v.line, "%s is given twice: the first one holds", path)
		return
	case !twice:
		c.lines[path] = v.line
	}
	ok := true
	switch f.kind {
	case textValue:
		text := c.settle(path, cleanText(asText(v.value)), v.line)
		if into.SetString(text); text == "" {
			delete(c.lines, path)
		}
	case listValue:
		list := into.Interface().([]string)
		for _, s := range asList(v.value, slices.Contains(wordLists, f.key)) {
			if s = cleanText(s); !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
		into.Set(reflect.ValueOf(list))
	case flagValue:
		var b bool
		b, ok = asFlag(v.value)
		into.SetBool(b)
	default:
		var n float64
		if n, ok = asNumber(v.value); ok && f.kind == integerValue {
			ok = n == float64(int32(n))
			into.SetInt(int64(n) * int64(boolean(ok)))
		} else if ok {
			into.SetFloat(n)
		}
	}
	if !ok {
		c.skipped(v.line, "%s is not understood: %q is left out", path, asText(v.value))
	}
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// takeMap reads the fields of a mapping, as today's format has them.
func (c *conversion) takeMap(f field, path string, v legacyValue) {
	m, ok := v.value.(map[string]any)
	if !ok || detailKeys[c.own] != f.key && f.key != "check" {
		c.skipped(v.line, "%s has no place in a %s: left out", path, c.own)
		return
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if _, found := fieldOf(f.sub, normal(key)); !found {
			c.skipped(v.line, "%s has no place under %s: left out", key, path)
			continue
		}
		if isEmpty(m[key]) {
			continue
		}
		sub, into := c.at(path + "." + normal(key))
		c.set(sub, path+"."+normal(key), into, legacyValue{name: normal(key), value: m[key], line: v.line})
	}
}

// severityNames are other words for the four severities.
var severityNames = map[string]string{
	"blocker": "critical", "error": "high", "major": "high", "moderate": "medium", "normal": "medium", "warning": "medium",
	"minor": "low", "info": "low", "informational": "low",
}

// settle brings the values that are words of a set into its spelling. What is
// outside the set is left out.
func (c *conversion) settle(path, s string, line int) string {
	word := strings.ReplaceAll(normal(s), "_", "-")
	var set []string
	switch path {
	case "severity":
		word, set = cmp.Or(severityNames[word], word), severities
	case "confidence":
		set = confidences
	case "authority":
		set = authorities
	case "domain", "scope":
		return strings.ToLower(strings.TrimSpace(s))
	case "last_validated":
		day := s[:min(len(s), len(time.DateOnly))]
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			c.skipped(line, "last_validated %q is no date: left out", s)
			return ""
		}
		return day
	default:
		return s
	}
	if !slices.Contains(set, word) {
		c.skipped(line, "%s %q is unknown: left out", path, s)
		return ""
	}
	return word
}

func asText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = asText(item)
		}
		return strings.Join(parts, "\n")
	case map[string]any:
		return pair(v)
	case nil:
		return ""
	}
	return fmt.Sprint(v)
}

// pair writes a small map as one text: an excuse and its answer in that order,
// anything else as its sorted keys have it.
func pair(m map[string]any) string {
	keys := slices.Sorted(maps.Keys(m))
	if thought, counter := asText(m["thought"]), asText(m["counter"]); len(m) == 2 && thought != "" && counter != "" {
		return thought + " → " + counter
	}
	parts := make([]string, len(keys))
	for i, key := range keys {
		parts[i] = key + " " + asText(m[key])
	}
	return strings.Join(parts, ", ")
}

// asList makes entries of a value. A text is cut at its bullets; one without
// is one entry, or of a list of words cut at its commas.
func asList(v any, words bool) []string {
	var out []string
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			out = append(out, strings.TrimSpace(asText(item)))
		}
	default:
		s := asText(v)
		if out = bullets(s); len(out) > 0 {
			break
		}
		if !words {
			out = []string{strings.TrimSpace(s)}
			break
		}
		if s = strings.TrimSpace(s); len(s) > 1 && s[0] == '[' && s[len(s)-1] == ']' {
			s = s[1 : len(s)-1]
		}
		for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == '\n' || r == ';' }) {
			out = append(out, strings.Trim(strings.TrimSpace(w), "\"'`"))
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return strings.TrimSpace(s) == "" })
}

var bulletPattern = regexp.MustCompile(`^ {0,3}(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(.*)$`)

// bullets returns the entries of the first level of the lists in a text, with
// the lines that continue them; none where there is no list.
func bullets(s string) []string {
	var out []string
	open := false
	for line := range strings.SplitSeq(s, "\n") {
		switch m := bulletPattern.FindStringSubmatch(line); {
		case m != nil:
			out, open = append(out, strings.TrimSpace(m[1])), true
		case strings.TrimSpace(line) == "":
			open = false
		case open || len(out) > 0 && (line[0] == ' ' || line[0] == '\t'):
			out[len(out)-1] += "\n" + strings.TrimSpace(line)
		}
	}
	return out
}

func asFlag(v any) (value, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case int64:
		return v != 0, v == 0 || v == 1
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true", "yes", "on", "1":
			return true, true
		case "false", "no", "off", "0", "none":
			return false, true
		}
	}
	return false, false
}

// asCount reads a number of outcomes; what is none counts nothing.
func asCount(v any) int {
	n, ok := asNumber(v)
	if !ok || n < 0 || n > maxOutcomes {
		return 0
	}
	return int(n)
}

func asNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case string:
		word, _, _ := strings.Cut(strings.TrimSpace(v), " ")
		f, err := strconv.ParseFloat(word, 64)
		return f, err == nil && f-f == 0
	}
	return 0, false
}
