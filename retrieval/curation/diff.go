package curation

import (
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// diffContext is how many lines stand around a change.
const diffContext = 2

// diffCells bounds the table of a comparison; texts beyond it are shown as
// replaced whole.
const diffCells = 1 << 20

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

// editScript turns one list of lines into another with the fewest edits, what
// goes before what comes.
func editScript(a, b []string) []edit {
	var script []edit
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		script = append(script, edit{' ', a[head]})
		head++
	}
	a, b = a[head:], b[head:]
	tail := 0
	for tail < len(a) && tail < len(b) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	end := a[len(a)-tail:]
	a, b = a[:len(a)-tail], b[:len(b)-tail]
	script = append(script, between(a, b)...)
	for _, line := range end {
		script = append(script, edit{' ', line})
	}
	return script
}

// between is the edit script by longest common subsequence.
func between(a, b []string) []edit {
	var script []edit
	i, j := 0, 0
	if (len(a)+1)*(len(b)+1) <= diffCells {
		common := commonLengths(a, b)
		for i < len(a) && j < len(b) {
			switch {
			case a[i] == b[j]:
				script = append(script, edit{' ', a[i]})
				i, j = i+1, j+1
			case common[i+1][j] >= common[i][j+1]:
				script = append(script, edit{'-', a[i]})
				i++
			default:
				script = append(script, edit{'+', b[j]})
				j++
			}
		}
	}
	for ; i < len(a); i++ {
		script = append(script, edit{'-', a[i]})
	}
	for ; j < len(b); j++ {
		script = append(script, edit{'+', b[j]})
	}
	return script
}

// commonLengths holds at [i][j] the length of the longest common subsequence of
// a from i and b from j.
func commonLengths(a, b []string) [][]int {
	lengths := make([][]int, len(a)+1)
	for i := range lengths {
		lengths[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				lengths[i][j] = lengths[i+1][j+1] + 1
			} else {
				lengths[i][j] = max(lengths[i+1][j], lengths[i][j+1])
			}
		}
	}
	return lengths
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
