package markdown

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const columnGap = 2

// table prints rows of cells; cells that are too long for the page are wrapped.
func (p *printer) table(lines []string, i int) int {
	end := run(lines, i, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "|") })
	var rows [][]string
	for _, line := range lines[i:end] {
		if cells := cells(line); !ruled(cells) {
			rows = append(rows, cells)
		}
	}
	widths, fits := p.widths(rows)
	if !fits {
		p.blocks(rows)
		return end
	}
	apart := false // rows of several lines are told apart by a blank one
	for _, row := range rows {
		for i, cell := range row {
			apart = apart || len(widths) > 2 && len(p.wrap(cell, widths[i])) > 2
		}
	}
	for n, row := range rows {
		if n == 0 && strings.Join(row, "") == "" {
			continue // a table without a head
		}
		if n > 1 && apart {
			p.out.WriteByte('\n')
		}
		p.row(row, widths)
		if n == 0 {
			p.rule(widths)
		}
	}
	p.out.WriteByte('\n')
	return end
}

// cells parts a line at the bars that are not escaped.
func cells(line string) []string {
	const bar = "\x00"
	line = strings.ReplaceAll(strings.Trim(strings.TrimSpace(line), "|"), `\|`, bar)
	parts := strings.Split(line, "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(strings.ReplaceAll(parts[i], bar, `\|`))
	}
	return parts
}

// ruled says whether cells are the line below a head.
func ruled(cells []string) bool {
	return !slices.ContainsFunc(cells, func(c string) bool { return c == "" || strings.Trim(c, ":-") != "" })
}

// widths gives each column what its longest cell needs, and takes from the
// widest, down to its longest word, until the page holds them all; fits is false
// where it does not.
func (p *printer) widths(rows [][]string) (widths []int, fits bool) {
	var least []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths, least = append(widths, 1), append(least, 1)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(p.shown(cell)))
			for _, w := range p.words(cell) {
				least[i] = max(least[i], w.width)
			}
		}
	}
	over := columnGap*max(len(widths)-1, 0) - p.options.Width
	for _, w := range widths {
		over += w
	}
	for ; over > 0; over-- {
		widest := -1
		for i, w := range widths {
			if w > least[i] && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return widths, false // its words are wider than the page
		}
		widths[widest]--
	}
	return widths, true
}

// blocks prints each row below its first cell, with the head's words before the
// others.
func (p *printer) blocks(rows [][]string) {
	for n, row := range rows {
		if n == 0 {
			continue
		}
		for i, cell := range row {
			lines := p.wrap(cell, p.options.Width-2*columnGap)
			if i == 0 {
				p.out.WriteString(p.paint("1", p.shown(cell)) + "\n")
				continue
			}
			if i < len(rows[0]) && rows[0][i] != "" {
				p.out.WriteString(strings.Repeat(" ", columnGap) + p.paint("2", p.shown(rows[0][i])) + "\n")
			}
			for _, line := range lines {
				p.out.WriteString(strings.TrimRight(strings.Repeat(" ", 2*columnGap)+line, " ") + "\n")
			}
		}
	}
	p.out.WriteByte('\n')
}

// rule parts the head from the rows.
func (p *printer) rule(widths []int) {
	var parts []string
	for _, w := range widths {
		parts = append(parts, strings.Repeat("─", w))
	}
	p.out.WriteString(p.paint("2", strings.Join(parts, strings.Repeat(" ", columnGap))) + "\n")
}

func (p *printer) row(row []string, widths []int) {
	columns := make([][]string, len(widths))
	tall := 1
	for i := range widths {
		cell := ""
		if i < len(row) {
			cell = row[i]
		}
		columns[i] = p.wrap(cell, widths[i])
		tall = max(tall, len(columns[i]))
	}
	for n := range tall {
		line := ""
		for i, lines := range columns {
			text := ""
			if n < len(lines) {
				text = lines[n]
			}
			line += text
			if i < len(columns)-1 {
				line += strings.Repeat(" ", max(0, widths[i]-visible(text))+columnGap)
			}
		}
		p.out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// visible is the width of a text without its colours.
func visible(text string) int {
	n := 0
	for text != "" {
		if rest, found := strings.CutPrefix(text, "\x1b["); found {
			_, text, _ = strings.Cut(rest, "m")
			continue
		}
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		n++
	}
	return n
}
