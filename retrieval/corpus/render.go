package corpus

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/writbus/writ/schemas"
)

// indent is one level of YAML nesting.
const indent = "  "

// Render writes a node as its canonical file: keys in a fixed order, empty
// fields left out, code as literal blocks. Parse(Render(r)) is r for every
// node that Parse returns.
func Render(r schemas.Rule) []byte {
	if r.Type == schemas.NodeRule {
		r.Type = ""
	}
	var b strings.Builder
	b.WriteString(fence + "\n")
	renderFields(&b, fields, reflect.ValueOf(r), "")
	b.WriteString(fence + "\n")
	if body := trimBody(r.Body); body != "" {
		b.WriteString("\n" + body + "\n")
	}
	return []byte(b.String())
}

// renderFields writes the fields of a struct that are set, each line behind
// the margin.
func renderFields(b *strings.Builder, fields []field, v reflect.Value, margin string) {
	for _, f := range fields {
		value := v.Field(f.index)
		if value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0 {
			continue
		}
		b.WriteString(margin + f.key + ":")
		switch f.kind {
		case textValue:
			b.WriteString(" " + scalar(value.String(), margin) + "\n")
		case flagValue:
			b.WriteString(" true\n")
		case integerValue:
			b.WriteString(" " + strconv.FormatInt(value.Int(), 10) + "\n")
		case numberValue:
			b.WriteString(" " + strconv.FormatFloat(value.Float(), 'f', -1, 64) + "\n")
		case listValue:
			renderList(b, slices.Contains(wordLists, f.key), value.Interface().([]string), margin)
		case edgeValue:
			renderEdges(b, value.Interface().([]schemas.Edge))
		case mapValue:
			renderMap(b, f.sub, value.Elem(), margin)
		}
	}
}

func renderMap(b *strings.Builder, sub []field, v reflect.Value, margin string) {
	if v.IsZero() {
		b.WriteString(" {}\n")
		return
	}
	b.WriteByte('\n')
	renderFields(b, sub, v, margin+indent)
}

func renderList(b *strings.Builder, words bool, items []string, margin string) {
	if words {
		out := make([]string, len(items))
		for i, s := range items {
			out[i] = flow(s)
		}
		fmt.Fprintf(b, " [%s]\n", strings.Join(out, ", "))
		return
	}
	b.WriteByte('\n')
	for _, s := range items {
		fmt.Fprintf(b, "%s- %s\n", margin+indent, inline(s))
	}
}

func renderEdges(b *strings.Builder, edges []schemas.Edge) {
	b.WriteByte('\n')
	for _, e := range edges {
		fmt.Fprintf(b, "%s- {type: %s, target: %s}\n", indent, flow(e.Type), flow(e.Target))
	}
}

// scalar picks the plainest style that reads back as the same text.
func scalar(s, margin string) string {
	if fitsBlock(s) {
		return block(s, margin+indent)
	}
	return inline(s)
}

// fitsBlock reports whether s is safe as a literal block: several lines, none
// of which ends in white space or holds anything that needs an escape, the
// first one not indented, at most one newline at the end and no run of blank
// lines that Parse refuses.
func fitsBlock(s string) bool {
	text := strings.TrimSuffix(s, "\n")
	lines := strings.Split(text, "\n")
	if strings.Contains(s, strings.Repeat("\n", maxBlank+1)) {
		return false
	}
	if len(lines) < 2 || lines[0] == "" || lines[len(lines)-1] == "" || lines[0][0] == ' ' || lines[0][0] == '\t' {
		return false
	}
	for _, line := range lines {
		if strings.TrimRightFunc(line, unicode.IsSpace) != line || strings.ContainsFunc(line, needsEscape) {
			return false
		}
	}
	return true
}

func needsEscape(r rune) bool { return r != '\t' && !unicode.IsPrint(r) }

func block(s, margin string) string {
	mark := "|-"
	if strings.HasSuffix(s, "\n") {
		mark, s = "|", strings.TrimSuffix(s, "\n")
	}
	var b strings.Builder
	b.WriteString(mark)
	for line := range strings.SplitSeq(s, "\n") {
		b.WriteByte('\n')
		if line != "" {
			b.WriteString(margin + line)
		}
	}
	return b.String()
}

// flowPattern is a subset of YAML's plain scalars that holds inside brackets
// as well: no indicator first, no colon, hash, bracket, comma or quote.
var flowPattern = regexp.MustCompile(`^[A-Za-z](?:[A-Za-z0-9 _./+-]*[A-Za-z0-9_.+])?$`)

// datePattern is a value YAML reads as text and people write bare.
var datePattern = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)

// reserved are the words YAML (1.1 and 1.2) takes for something other than text.
var reserved = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"}

func isReserved(s string) bool { return slices.Contains(reserved, strings.ToLower(s)) }

// flow writes a scalar that stands inside brackets.
func flow(s string) string {
	if flowPattern.MatchString(s) && !isReserved(s) {
		return s
	}
	return quote(s)
}

// inline writes a scalar that stands alone on its line.
func inline(s string) string {
	if datePattern.MatchString(s) || isPlain(s) && !isReserved(s) {
		return s
	}
	return quote(s)
}

// isPlain reports whether s is a plain scalar outside brackets: it begins with
// a letter and holds neither ": " nor " #", which end such a scalar.
func isPlain(s string) bool {
	for i, r := range s {
		if i == 0 && !unicode.IsLetter(r) || !unicode.IsPrint(r) {
			return false
		}
	}
	return s != "" && !strings.HasSuffix(s, " ") && !strings.HasSuffix(s, ":") &&
		!strings.Contains(s, ": ") && !strings.Contains(s, " #")
}

// quote writes a double-quoted YAML scalar on one line.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
