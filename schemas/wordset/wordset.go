// Package wordset makes sets of the words of a text, for tables of words that are
// written as people write them.
package wordset

import "strings"

// Of is the set of the words of a text, which white space separates.
func Of(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		set[w] = true
	}
	return set
}

// In is the set of a list's words: in a text of lists with an empty line between them,
// each begins with a line of its name and a colon.
func In(lists, name string) map[string]bool {
	_, list, _ := strings.Cut("\n\n"+strings.ReplaceAll(lists, "\r", ""), "\n\n"+name+":\n")
	list, _, _ = strings.Cut(list, "\n\n")
	return Of(list)
}
