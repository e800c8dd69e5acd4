package settings

import (
	"bytes"
	"encoding/json"
	"strings"
)

// add puts a value at a container's end, as the text around it is laid out. A
// key is given for objects.
func (d document) add(to *node, key string, value any) document {
	layout := d.layoutOf(to)
	text := layout.render(value)
	if to.kind == '{' {
		text = quote(key) + layout.colon + text
	}
	if len(to.children) > 0 {
		last := to.children[len(to.children)-1].end
		end := d.lineEnd(last)
		if end > last && layout.unit == "" { // a comment may end with its line alone
			layout.before = layout.newline
		}
		return d.splice(last, end, ","+string(d.text[last:end])+layout.before+text)
	}
	remarks := strings.TrimRight(d.remarks(to.start+1, to.end-1), whitespace)
	return d.splice(to.start+1, to.end-1, remarks+layout.open+text+layout.close)
}

// lineEnd is the end of what is remarked behind a value on its line.
func (d document) lineEnd(value int) int {
	line, _, _ := bytes.Cut(d.plain[value:], []byte("\n"))
	if len(bytes.TrimSpace(line)) > 0 {
		return value
	}
	return value + len(bytes.TrimRight(d.text[value:value+len(line)], whitespace))
}

// remove takes out a container's child, with its comma and the white space
// that came with it. Comments beside it stay.
func (d document) remove(from *node, i int) document {
	last, end := len(from.children)-1, from.children[i].end
	switch {
	case last == 0:
		before, after := d.remarks(from.start+1, from.at[0]), d.remarks(end, from.end-1)
		if tail := string(d.text[end : from.end-1]); before != "" && after == "" && strings.Contains(tail, "\n") {
			before, after = strings.TrimRight(before, whitespace), tail // the bracket stands where it stood
		}
		return d.splice(from.start+1, from.end-1, before+after)
	case i == 0:
		return d.splice(from.at[0], from.at[1], strings.TrimLeft(d.remarks(end, from.at[1]), whitespace))
	}
	before := from.children[i-1].end
	remarks := d.remarks(before, from.at[i])
	if strings.IndexByte("\r\n", d.text[end]) >= 0 {
		remarks = strings.TrimRight(remarks, whitespace)
	}
	return d.splice(before, end, remarks)
}

// splice replaces text[from:to]. The result is JSON again, by construction of
// its callers.
func (d document) splice(from, to int, with string) document {
	text := make([]byte, 0, len(d.text)-(to-from)+len(with))
	text = append(text, d.text[:from]...)
	text = append(text, with...)
	text = append(text, d.text[to:]...)
	edited, err := parse(text)
	if err != nil {
		panic("settings: an edit broke the settings: " + err.Error())
	}
	return edited
}

// layout is how a new child of a container is written.
type layout struct {
	before      string // between the comma and the child
	open, close string // around the child, in an empty container
	colon       string
	indent      string // of the child's own lines
	unit        string // one step of indentation, "" writes the child on one line
	newline     string
}

func (d document) layoutOf(n *node) layout {
	newline := "\n"
	if bytes.Contains(d.text, []byte("\r\n")) {
		newline = "\r\n"
	}
	onlyRoot := n == d.root && len(n.children) == 0
	if !onlyRoot && !d.spread(n) {
		l := layout{colon: ":", newline: newline}
		if bytes.Contains(d.text, []byte(`": `)) {
			l.colon, l.before = ": ", " "
		}
		return l
	}
	unit := d.unit()
	base := d.indentAt(n.start)
	l := layout{colon: ": ", newline: newline, unit: unit, indent: base + unit}
	if len(n.children) > 0 {
		l.indent = d.indentAt(n.at[len(n.at)-1])
	}
	l.before = newline + l.indent
	l.open, l.close = newline+l.indent, newline+base
	return l
}

// spread says whether a container's children stand on lines of their own. An
// empty one does as the whole text does.
func (d document) spread(n *node) bool {
	if len(n.children) == 0 {
		return bytes.IndexByte(bytes.TrimSpace(d.text), '\n') >= 0
	}
	return bytes.IndexByte(d.text[n.start:n.at[0]], '\n') >= 0
}

// unit is the text's step of indentation: that of its first indented line, two
// spaces where there is none.
func (d document) unit() string {
	for _, line := range bytes.Split(d.text, []byte("\n")) {
		rest := bytes.TrimLeft(line, " \t")
		if n := len(line) - len(rest); n > 0 && len(bytes.TrimSpace(rest)) > 0 {
			return string(line[:n])
		}
	}
	return "  "
}

// indentAt is the white space that begins the line of an offset.
func (d document) indentAt(offset int) string {
	start := bytes.LastIndexByte(d.text[:offset], '\n') + 1
	line := bytes.TrimPrefix(d.text[start:], byteOrderMark)
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func (l layout) render(value any) string {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	if l.unit != "" {
		encoder.SetIndent(l.indent, l.unit)
	}
	if err := encoder.Encode(value); err != nil {
		panic("settings: a value of this package does not marshal: " + err.Error())
	}
	return strings.ReplaceAll(strings.TrimSuffix(buf.String(), "\n"), "\n", l.newline)
}

func quote(key string) string {
	raw, _ := json.Marshal(key)
	return string(raw)
}
