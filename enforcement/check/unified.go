package check

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrDiff is wrapped by [ParseDiff] when a text claims to be a diff and is
// broken.
var ErrDiff = errors.New("check: malformed diff")

// FileDiff is what a diff says of one file.
type FileDiff struct {
	Old   string  // path before, "" for a new file
	New   string  // path after, "" for a deleted file
	Added []Range // lines of the new content that were added or changed, never nil
}

// ParseDiff reads a unified diff: the output of git diff, show or log -p with
// renames, quoted paths, binary files and merges, or of diff -u. Text before,
// between and after the files is passed over. Git's prefixes of paths (a/ and
// b/, or its mnemonic ones) are taken off.
func ParseDiff(diff string) ([]FileDiff, error) {
	p := diffParser{lines: strings.Split(strings.TrimSuffix(diff, "\n"), "\n")}
	for p.at < len(p.lines) {
		if err := p.next(); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrDiff, p.at+1, err)
		}
	}
	p.close()
	return p.out, nil
}

type diffParser struct {
	lines []string
	at    int
	open  bool // a file is being read
	git   bool // it began with a line of git
	file  FileDiff
	out   []FileDiff
}

func (p *diffParser) next() error {
	line := strings.TrimSuffix(p.lines[p.at], "\r")
	switch {
	case strings.HasPrefix(line, "diff --git "):
		p.begin(true)
		p.file.Old, p.file.New = headerPaths(line[len("diff --git "):])
	case strings.HasPrefix(line, "diff --cc "), strings.HasPrefix(line, "diff --combined "):
		p.begin(true)
		name := unquote(strings.SplitN(line, " ", 3)[2])
		p.file.Old, p.file.New = name, name
	case p.git && p.extended(line):
	case strings.HasPrefix(line, "--- ") && p.at+1 < len(p.lines) && strings.HasPrefix(p.lines[p.at+1], "+++ "):
		if !p.git || len(p.file.Added) > 0 {
			p.begin(false)
		}
		p.file.Old, p.file.New = stripped(pathOf(line[4:]), pathOf(strings.TrimSuffix(p.lines[p.at+1], "\r")[4:]))
		p.at++
	case p.open && strings.HasPrefix(line, "@@"):
		return p.hunk(line)
	}
	p.at++
	return nil
}

func (p *diffParser) begin(git bool) {
	p.close()
	p.open, p.git, p.file = true, git, FileDiff{Added: []Range{}}
}

func (p *diffParser) close() {
	if p.open && (p.file.Old != "" || p.file.New != "") {
		p.file.Added = Normalise(p.file.Added)
		p.out = append(p.out, p.file)
	}
	p.open, p.git = false, false
}

// extended reads the lines that git writes between its header and the hunks.
func (p *diffParser) extended(line string) bool {
	for _, prefix := range []string{"rename from ", "copy from "} {
		if name, found := strings.CutPrefix(line, prefix); found {
			p.file.Old = unquote(name)
			return true
		}
	}
	for _, prefix := range []string{"rename to ", "copy to "} {
		if name, found := strings.CutPrefix(line, prefix); found {
			p.file.New = unquote(name)
			return true
		}
	}
	switch {
	case strings.HasPrefix(line, "new file mode "):
		p.file.Old = ""
	case strings.HasPrefix(line, "deleted file mode "):
		p.file.New = ""
	default:
		return false
	}
	return true
}

// hunk reads one hunk by the counts in its header; a combined one, of a merge,
// has a column per parent.
func (p *diffParser) hunk(header string) error {
	marks := len(header) - len(strings.TrimLeft(header, "@"))
	fields := strings.Fields(header[marks:])
	parents := marks - 1
	if parents < 1 || len(fields) < parents+1 {
		return fmt.Errorf("hunk header %q is cut off", header)
	}
	old := make([]int, parents)
	for i := range old {
		_, n, err := spanOf(fields[i], '-')
		if err != nil {
			return err
		}
		old[i] = n
	}
	line, left, err := spanOf(fields[parents], '+')
	if err != nil {
		return err
	}
	for p.at++; left > 0 || anyPositive(old); p.at++ {
		if p.at >= len(p.lines) {
			return errors.New("the diff ends inside a hunk")
		}
		text := strings.TrimSuffix(p.lines[p.at], "\r")
		if strings.HasPrefix(text, `\`) {
			continue
		}
		column := text
		if len(column) < parents {
			column += strings.Repeat(" ", parents-len(column))
		}
		column = column[:parents]
		if strings.Trim(column, " +-") != "" {
			return fmt.Errorf("%q is no line of a hunk", text)
		}
		removed := strings.Contains(column, "-")
		for i := range old {
			if column[i] == '-' || column[i] == ' ' && !removed {
				old[i]--
			}
		}
		if removed {
			continue
		}
		if strings.Contains(column, "+") {
			p.file.Added = append(p.file.Added, Range{line, line})
		}
		line++
		left--
	}
	return nil
}

func anyPositive(n []int) bool {
	return slices.ContainsFunc(n, func(one int) bool { return one > 0 })
}

// maxDiffLine bounds line numbers, so that sums of them stay numbers.
const maxDiffLine = 1 << 30

// spanOf reads -12,5 or +12: the first line and the number of lines.
func spanOf(field string, sign byte) (first, count int, err error) {
	if field == "" || field[0] != sign {
		return 0, 0, fmt.Errorf("%q is no range of lines", field)
	}
	from, n, counted := strings.Cut(field[1:], ",")
	if !counted {
		n = "1"
	}
	if first, err = strconv.Atoi(from); err == nil {
		count, err = strconv.Atoi(n)
	}
	if err != nil || first < 0 || count < 0 || first > maxDiffLine || count > maxDiffLine {
		return 0, 0, fmt.Errorf("%q is no range of lines", field)
	}
	return first, count, nil
}

// pathOf reads the path of a --- or +++ line: quoted, or up to a tab, after
// which diff writes the time.
func pathOf(s string) string {
	if strings.HasPrefix(s, `"`) {
		path, _ := cutPath(s)
		return path
	}
	s, _, _ = strings.Cut(s, "\t")
	return s
}

// stripped takes the prefixes off a pair of paths and empties /dev/null.
func stripped(before, after string) (string, string) {
	for _, pair := range []string{"ab", "iw", "ci", "cw", "co", "oi", "ow", "ba", "wi", "ic", "wc", "12"} {
		a, foundA := strings.CutPrefix(before, pair[:1]+"/")
		b, foundB := strings.CutPrefix(after, pair[1:]+"/")
		if (foundA || before == "/dev/null") && (foundB || after == "/dev/null") {
			before, after = a, b
			break
		}
	}
	if before == "/dev/null" {
		before = ""
	}
	if after == "/dev/null" {
		after = ""
	}
	return before, after
}

// maxHeader is the longest header that is searched for two equal paths: twice
// what file systems allow.
const maxHeader = 10 << 10

// headerPaths reads the two paths behind "diff --git". Unquoted, they are told
// apart by being equal after their prefixes; where they differ, later lines
// name them.
func headerPaths(s string) (before, after string) {
	if strings.HasPrefix(s, `"`) || strings.HasSuffix(s, `"`) {
		first, rest := cutPath(s)
		return stripped(first, unquote(rest))
	}
	for i := 1; i < len(s)-1 && len(s) <= maxHeader; i++ {
		if s[i] != ' ' {
			continue
		}
		if a, b := stripped(s[:i], s[i+1:]); a == b {
			return a, b
		}
	}
	first, rest, _ := strings.Cut(s, " ")
	return stripped(first, rest)
}

func cutPath(s string) (first, rest string) {
	if !strings.HasPrefix(s, `"`) {
		first, rest, _ = strings.Cut(s, " ")
		return first, rest
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return unquote(s[:i+1]), strings.TrimPrefix(s[i+1:], " ")
		}
	}
	return unquote(s), ""
}

var escapes = map[byte]byte{'a': '\a', 'b': '\b', 't': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r', '"': '"', '\\': '\\'}

// unquote undoes git's quoting of paths, which is that of C with octal bytes.
func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	s = s[1 : len(s)-1]
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		if c, found := escapes[s[i]]; found {
			out = append(out, c)
			continue
		}
		if n, err := strconv.ParseUint(s[i:min(i+3, len(s))], 8, 8); err == nil && i+3 <= len(s) {
			out = append(out, byte(n))
			i += 2
			continue
		}
		out = append(out, '\\', s[i])
	}
	return string(out)
}
