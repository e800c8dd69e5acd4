// Package spelling finds the names that a misspelt one may mean.
package spelling

import "strings"

// Distance counts the insertions, deletions, replacements and exchanges of
// neighbours between two words, byte by byte (optimal string alignment).
func Distance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, above, row = above, row, before
		row[0] = i + 1
		for j := range len(b) {
			cost := above[j]
			if a[i] != b[j] {
				cost++
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				cost = min(cost, before[j-1]+1)
			}
			row[j+1] = min(cost, row[j]+1, above[j+1]+1)
		}
	}
	return row[len(b)]
}

// Near lists at most a number of names that a word may mean, the nearest first,
// and then those that begin with it or that it begins with. Case does not matter;
// of equals the order is kept. A long word may have more errors than a short one.
func Near(word string, names []string, most int) []string {
	word = strings.ToLower(word)
	var near []string
	taken := map[string]bool{}
	take := func(name string) {
		if !taken[name] && len(near) < most {
			taken[name] = true
			near = append(near, name)
		}
	}
	distances := make([]int, len(names))
	for i, name := range names {
		distances[i] = Distance(word, strings.ToLower(name))
	}
	for edits := range 2 + len(word)/4 {
		for i, name := range names {
			if distances[i] == edits {
				take(name)
			}
		}
	}
	for _, name := range names {
		lower := strings.ToLower(name)
		if len(word) > 2 && (strings.HasPrefix(lower, word) || strings.HasPrefix(word, lower)) {
			take(name)
		}
	}
	return near
}

// Meant says in a message which names a word may mean, ", perhaps X or Y is meant",
// "" where none is near.
func Meant(word string, names []string) string {
	near := Near(word, names, 3)
	if len(near) == 0 {
		return ""
	}
	return ", perhaps " + strings.Join(near, " or ") + " is meant"
}
