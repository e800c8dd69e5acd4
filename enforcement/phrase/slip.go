package phrase

import "strings"

// ownWords are words within one slip of "approve" or "approved" that mean
// something else.
var ownWords = set("approves approver approvo")

// mend turns a word that is one slip of the keyboard away from "approve" or
// "approved" into it: a letter left out, doubled or added, mistaken, or
// swapped with its neighbour.
func mend(w string) string {
	strange := strings.ContainsFunc(w, func(r rune) bool { return r < 'a' || r > 'z' })
	if strange || ownWords[w] || w == "approve" || w == "approved" {
		return w
	}
	for _, target := range []string{"approved", "approve"} {
		if oneSlip(w, target) {
			return target
		}
	}
	return w
}

func oneSlip(w, target string) bool {
	i := 0
	for i < len(w) && i < len(target) && w[i] == target[i] {
		i++
	}
	a, b := w[i:], target[i:]
	switch len(a) - len(b) {
	case 1:
		return a[1:] == b
	case -1:
		return a == b[1:]
	case 0:
		return len(a) == 0 || a[1:] == b[1:] || len(a) > 1 && a[0] == b[1] && a[1] == b[0] && a[2:] == b[2:]
	}
	return false
}
