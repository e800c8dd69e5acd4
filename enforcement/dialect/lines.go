package dialect

import (
	"math"
	"strconv"
	"strings"
)

// Lines is a part of a text, both ends included and counted from 1. To is 0
// where it goes on to the end; the zero value is the whole text.
type Lines struct{ From, To int }

// CutLines takes the lines off what /read reads: "PATH:10", "PATH:10-20",
// "PATH:10-" and the same of "#ID". What looks like lines always is: no file
// whose name ends so can be read. Without lines the name comes back as it is.
func CutLines(name string) (string, Lines) {
	i := strings.LastIndexByte(name, ':')
	if i < 0 {
		return name, Lines{}
	}
	first, last, span := strings.Cut(name[i+1:], "-")
	from, ok := lineNumber(first)
	switch {
	case !ok:
		return name, Lines{}
	case !span:
		return name[:i], Lines{from, from}
	case last == "":
		return name[:i], Lines{From: from}
	}
	to, ok := lineNumber(last)
	if !ok {
		return name, Lines{}
	}
	return name[:i], Lines{from, to}
}

// lineNumber reads digits alone, no zero. Numbers beyond every file are cut down.
func lineNumber(s string) (int, bool) {
	if strings.Trim(s, "0") == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return math.MaxInt32, true
	}
	return n, true
}
