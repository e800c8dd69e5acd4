package check

import (
	"bytes"
	"cmp"
	"slices"
)

// Range is a run of lines, from 1, both ends included.
type Range struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// touches says whether one of the sorted ranges has a line of first…last.
func touches(ranges []Range, first, last int) bool {
	i, _ := slices.BinarySearchFunc(ranges, first, func(r Range, n int) int { return cmp.Compare(r.Last, n) })
	return i < len(ranges) && ranges[i].First <= last
}

// Normalise sorts ranges and joins those that overlap or touch. [Set.Run] and
// [Secrets] expect ranges in this form, and [Changed] and [ParseDiff] return
// them so. An empty list stays distinct from nil.
func Normalise(ranges []Range) []Range {
	if ranges == nil {
		return nil
	}
	sorted := slices.Clone(ranges)
	slices.SortFunc(sorted, func(a, b Range) int { return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last)) })
	out := []Range{}
	for _, r := range sorted {
		switch n := len(out); {
		case r.Last < r.First:
		case n > 0 && r.First <= out[n-1].Last+1:
			out[n-1].Last = max(out[n-1].Last, r.Last)
		default:
			out = append(out, r)
		}
	}
	return out
}

// maxEdits bounds the search for the shortest difference; texts further apart
// count as changed between their common beginning and end.
const maxEdits = 1000

// Changed is the lines of the new content that the old one did not have, by
// the shortest edit script (Myers, An O(ND) Difference Algorithm, 1986). It is
// never nil: an empty list means that nothing was added. Line ends count, the
// newline of the last line does not. go-udiff, which shows differences to people,
// does not serve here: from about a hundred edits on it settles for a rough
// script, without a setting for that, and lines that nobody touched would count as
// changed (7,498 in a file where 1,306 were). Other libraries stop by the clock or
// look for no shortest script.
func Changed(before, after []byte) []Range {
	a, b := splitLines(before), splitLines(after)
	start := 0
	for start < len(a) && start < len(b) && bytes.Equal(a[start], b[start]) {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && bytes.Equal(a[len(a)-1-end], b[len(b)-1-end]) {
		end++
	}
	a, b = a[start:len(a)-end], b[start:len(b)-end]
	switch {
	case len(b) == 0:
		return []Range{}
	case len(a) == 0:
		return []Range{{start + 1, start + len(b)}}
	}
	kept, found := common(numbered(a, b))
	if !found {
		return []Range{{start + 1, start + len(b)}}
	}
	out := []Range{}
	for i := range b {
		if !kept[i] {
			out = append(out, Range{start + i + 1, start + i + 1})
		}
	}
	return Normalise(out)
}

func splitLines(content []byte) [][]byte {
	if len(content) == 0 {
		return nil
	}
	return bytes.Split(bytes.TrimSuffix(content, []byte("\n")), []byte("\n"))
}

// numbered gives equal lines equal numbers.
func numbered(a, b [][]byte) (x, y []int) {
	ids := map[string]int{}
	number := func(lines [][]byte) []int {
		out := make([]int, len(lines))
		for i, l := range lines {
			id, known := ids[string(l)]
			if !known {
				id = len(ids)
				ids[string(l)] = id
			}
			out[i] = id
		}
		return out
	}
	return number(a), number(b)
}

// common tells which elements of b belong to a longest common subsequence with
// a; it gives up beyond maxEdits.
func common(a, b []int) (kept []bool, found bool) {
	limit := min(len(a)+len(b), maxEdits)
	// On diagonal k, which is the place in a minus that in b, frontier holds
	// how far into a the best path comes; trace keeps diagonals -d…d of it for
	// each number of edits d.
	frontier := make([]int, 2*limit+3)
	at := func(k int) *int { return &frontier[k+limit+1] }
	var trace [][]int
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			var x int
			if k == -d || k != d && *at(k - 1) < *at(k + 1) {
				x = *at(k + 1)
			} else {
				x = *at(k - 1) + 1
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x++
				y++
			}
			*at(k) = x
			if x >= len(a) && y >= len(b) {
				return walkBack(trace, len(a), len(b), d), true
			}
		}
		trace = append(trace, slices.Clone(frontier[limit+1-d:limit+2+d]))
	}
	return nil, false
}

// walkBack follows the best path of d edits from its end and marks what it
// keeps of b.
func walkBack(trace [][]int, x, y, d int) []bool {
	kept := make([]bool, y)
	for ; d > 0; d-- {
		reach := func(k int) int { return trace[d-1][k+d-1] }
		k := x - y
		from := k - 1
		if k == -d || k != d && reach(k-1) < reach(k+1) {
			from = k + 1
		}
		px := reach(from)
		py := px - from
		for x > px && y > py {
			x--
			y--
			kept[y] = true
		}
		x, y = px, py
	}
	for y > 0 {
		y--
		kept[y] = true
	}
	return kept
}
