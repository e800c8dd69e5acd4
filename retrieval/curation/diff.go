package curation

import (
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"

	"github.com/writbus/writ/schemas"
)

// diffContext is how many lines stand around a change.
const diffContext = 2

// Diff is what changed from one version of a node to the next, field by field:
// "@@ statement @@" and under it the lines taken out after "-", those put in
// after "+", and the ones around them after a space. Versions that say the same
// have an empty diff.
func Diff(old, current schemas.Rule) string {
	var b strings.Builder
	for _, pair := range pairedFields(old, current) {
		if slices.Equal(pair.old, pair.new) {
			continue
		}
		b.WriteString("@@ " + pair.name + " @@\n")
		writeHunks(&b, editScript(pair.old, pair.new))
	}
	return b.String()
}

// edit is a line that stays (' '), goes ('-') or comes ('+').
type edit struct {
	op   byte
	line string
}

// editScript turns one list of lines into another with few edits, what goes
// before what comes.
func editScript(a, b []string) []edit {
	var script []edit
	add := func(op byte, lines []string) {
		for _, line := range lines {
			script = append(script, edit{op, line})
		}
	}
	kept := 0
	for _, d := range lcs.DiffLines(a, b) {
		add(' ', a[kept:d.Start])
		add('-', a[d.Start:d.End])
		add('+', b[d.ReplStart:d.ReplEnd])
		kept = d.End
	}
	add(' ', a[kept:])
	return script
}

// writeHunks writes the changed lines and those near them; "…" stands for what
// is left out between.
func writeHunks(b *strings.Builder, script []edit) {
	show := make([]bool, len(script))
	for i, e := range script {
		if e.op == ' ' {
			continue
		}
		for k := max(0, i-diffContext); k <= min(len(script)-1, i+diffContext); k++ {
			show[k] = true
		}
	}
	for i, e := range script {
		if show[i] {
			b.WriteByte(e.op)
			b.WriteString(e.line + "\n")
		} else if i > 0 && show[i-1] && slices.Contains(show[i:], true) {
			b.WriteString("…\n")
		}
	}
}
