package describe

import "strings"

// withoutMarks takes from a line the mark that begins a comment, with one blank
// behind it, and the one that ends a comment.
func withoutMarks(line string) string {
	if n := markLen(line); n > 0 {
		line = line[n:]
		if line != "" && strings.IndexByte(" \t\n\f\r", line[0]) >= 0 {
			line = line[1:]
		}
	}
	for _, mark := range []string{"*/", `"""`, "'''"} {
		if before, found := strings.CutSuffix(line, mark); found {
			return before
		}
	}
	return line
}

// markLen is the length of the mark of a comment that a line begins with, 0 for
// none.
func markLen(line string) int {
	run := func(from int, mark byte) int {
		for from < len(line) && line[from] == mark {
			from++
		}
		return from
	}
	then := func(at int, mark byte) int {
		if at < len(line) && line[at] == mark {
			return at + 1
		}
		return at
	}
	switch {
	case strings.HasPrefix(line, "//"):
		return then(run(0, '/'), '!')
	case strings.HasPrefix(line, "/*"):
		return then(run(1, '*'), '!')
	case strings.HasPrefix(line, "*"):
		return then(run(0, '*'), '/')
	case strings.HasPrefix(line, "#"):
		return then(run(0, '#'), '!')
	case strings.HasPrefix(line, "--"), strings.HasPrefix(line, ";"), strings.HasPrefix(line, "%"):
		return run(0, line[0])
	case strings.HasPrefix(line, `"""`), strings.HasPrefix(line, "'''"):
		return 3
	}
	return 0
}
