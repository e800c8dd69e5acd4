package client

import (
	"fmt"
	"strings"
)

// leastColumn is how narrow the last column of a table may become: below that,
// its rows are shown one below the other.
const leastColumn = 24

// Table prints rows under a header, whose cells are separated by tabs. Where the
// lines are too narrow for them, the last column is broken; where that does not
// help, each row becomes a block with the header's words before its cells.
func Table[T any](a *Client, header string, rows []T, row func(T) string) error {
	heads := strings.Split(header, "\t")
	lines := [][]string{heads}
	for _, one := range rows {
		lines = append(lines, strings.Split(legible(row(one)), "\t"))
	}
	widths := make([]int, len(heads))
	for _, cells := range lines {
		for i := range cells {
			if i < len(widths) {
				widths[i] = max(widths[i], Columns(cells[i]))
			}
		}
	}
	last := len(widths) - 1
	before := columnGap * last
	for _, w := range widths[:last] {
		before += w
	}
	width := a.Env.Width(a.Out)
	if width > 0 && before+widths[last] > width && width-before < min(leastColumn, widths[last]) {
		return blocks(a, heads, lines[1:], width)
	}
	for _, cells := range lines {
		text := ""
		for i, cell := range cells[:min(len(cells), last)] {
			text += cell + strings.Repeat(" ", widths[i]-Columns(cell)+columnGap)
		}
		if len(cells) > last {
			text += hung(cells[last], before, width)
		}
		if _, err := fmt.Fprintln(a.Out, strings.TrimRight(text, " ")); err != nil {
			return err
		}
	}
	return nil
}

// hung is a text that begins in a column, its further lines below its first.
func hung(text string, column, width int) string {
	if width == 0 || column+Columns(text) <= width {
		return text
	}
	return strings.ReplaceAll(Fold(text, width-column), "\n", "\n"+strings.Repeat(" ", column))
}

// blocks prints each row below its first cell; cells that say nothing are left
// out.
func blocks(a *Client, heads []string, rows [][]string, width int) error {
	names := 0
	for _, head := range heads[1:] {
		names = max(names, Columns(strings.TrimSpace(head)))
	}
	for _, cells := range rows {
		text := strings.TrimSpace(cells[0]) + "\n"
		for i, cell := range cells[1:min(len(cells), len(heads))] {
			if cell = strings.TrimSpace(cell); cell != "" && cell != "-" {
				text += fmt.Sprintf("  %-*s  %s\n", names, strings.TrimSpace(heads[1+i]), cell)
			}
		}
		if _, err := fmt.Fprint(a.Out, Fold(text, width)); err != nil {
			return err
		}
	}
	return nil
}
