package scanner

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// verbs are the facts of the language's own table, as far as the scanner needs
// them.
func verbs() []Verb {
	all := []Verb{
		{Name: "list"},
		{Name: "map"},
		{Name: "help"},
		{Name: "parallel", Block: &Block{Terminators: []string{"endparallel"}}},
		{Name: "write", Required: true, Block: &Block{Terminators: []string{"endwrite"}}},
		{Name: "mem", Required: true, Block: &Block{Words: []string{"add", "entry"}, Terminators: []string{"endentry", "endmem"}}},
		{Name: "todo", Required: true, Block: &Block{Words: []string{"add"}, Terminators: []string{"endtodo"}, Optional: true}},
		{Name: "lesson", Required: true, Block: &Block{
			Terminators: []string{"endlesson"}, Optional: true, Whole: []string{"list", "search", "delete"}, Colon: true,
		}},
	}
	for _, name := range strings.Fields("fetch search browse read exec agent pane advise mcp a2a schedule") {
		all = append(all, Verb{Name: name, Required: true})
	}
	return all
}

func table(t testing.TB) *Table {
	t.Helper()
	tab, err := NewTable(verbs())
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// recorder keeps what a scanner hands on; order is the sequence with adjacent
// pieces of prose joined.
type recorder struct {
	visible     bytes.Buffer
	commands    []Command
	diagnostics []Diagnostic
	order       []string
	inProse     bool
	calls       int
}

func (r *recorder) Prose(p []byte) {
	if len(p) == 0 {
		panic("empty prose")
	}
	r.calls++
	r.visible.Write(p)
	if r.inProse {
		r.order[len(r.order)-1] += string(p)
		return
	}
	r.order, r.inProse = append(r.order, "prose "+string(p)), true
}

func (r *recorder) Command(c Command) {
	r.inProse = false
	r.commands = append(r.commands, c)
	r.order = append(r.order, fmt.Sprintf("command %+v", c))
}

func (r *recorder) Diagnostic(d Diagnostic) {
	r.inProse = false
	r.diagnostics = append(r.diagnostics, d)
	r.order = append(r.order, fmt.Sprintf("diagnostic %+v", d))
}

func (r *recorder) kinds() []string {
	kinds := []string{}
	for _, d := range r.diagnostics {
		kinds = append(kinds, string(d.Kind))
	}
	return kinds
}

func scanAll(tab *Table, chunks ...string) *recorder {
	r := &recorder{}
	s := New(tab, r)
	for _, c := range chunks {
		s.Write([]byte(c))
	}
	s.Close()
	return r
}
