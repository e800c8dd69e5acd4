package curation

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/lexical"
	"github.com/writbus/writ/schemas"
)

// How long the parts of a summary are, in words, where clauses allow it.
const (
	triggerWords   = 9
	statementWords = 20
)

// summarise writes what the members have in common and after it each member in
// brief: "Go code: closes a channel – Close it …; starts a goroutine – …." The
// words are the members' own.
func summarise(members []schemas.Rule) string {
	gist := sharedOpening(members)
	var shared, alone []string
	for _, m := range members {
		trigger, statement := shorten(m.Trigger, triggerWords), shorten(m.Statement, statementWords)
		rest, is := afterOpening(trigger, gist)
		said := says(statement, trigger)
		switch {
		case is && said:
			shared = append(shared, statement)
		case is:
			shared = append(shared, rest+" – "+statement)
		case said:
			alone = append(alone, statement)
		default:
			alone = append(alone, trigger+" – "+statement)
		}
	}
	var parts []string
	if len(shared) > 0 {
		parts = append(parts, gist+": "+strings.Join(shared, "; ")+".")
	}
	if len(alone) > 0 {
		parts = append(parts, strings.Join(alone, "; ")+".")
	}
	return strings.Join(parts, " ")
}

// openingMost is how many words a shared opening has at most.
const openingMost = 4

// sharedOpening is the subject that most triggers begin with, "" if fewer than
// half of them and two have the same. Of equally frequent ones the longest
// counts, then the first by alphabet.
func sharedOpening(members []schemas.Rule) string {
	counts := map[string]int{}
	for _, m := range members {
		words := strings.Fields(m.Trigger)
		for n := 1; n <= openingMost && n < len(words); n++ {
			if isVerb(words[n]) {
				counts[strings.Join(words[:n], " ")]++
				break
			}
		}
	}
	best := ""
	for _, opening := range slices.Sorted(maps.Keys(counts)) {
		n := counts[opening]
		if n < 2 || 2*n < len(members) {
			continue
		}
		if best == "" || cmp.Or(cmp.Compare(n, counts[best]), cmp.Compare(len(opening), len(best))) > 0 {
			best = opening
		}
	}
	return best
}

// isVerb guesses from the ending whether a word is the verb after a subject.
func isVerb(word string) bool {
	return slices.Contains([]string{"can", "may", "must", "will", "are", "have"}, word) ||
		strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && strings.ToLower(word) == word
}

// afterOpening is the rest of a trigger that begins with an opening.
func afterOpening(trigger, opening string) (string, bool) {
	if opening == "" {
		return trigger, false
	}
	rest, is := strings.CutPrefix(trigger, opening+" ")
	return rest, is && rest != ""
}

// says tells whether a statement holds every term of a trigger, which then need
// not be said twice.
func says(statement, trigger string) bool {
	in := map[string]bool{}
	for _, t := range lexical.CountTerms(statement) {
		in[t.Term] = true
	}
	return !slices.ContainsFunc(lexical.CountTerms(trigger), func(t lexical.Count) bool { return !in[t.Term] })
}

// topicMost is how many topics an abstraction is named by.
const topicMost = 3

// topics are the tags that most members have, then those of the centre.
func topics(members []schemas.Rule, centre schemas.Rule) []string {
	counts := map[string]int{}
	for _, m := range members {
		tags := slices.Clone(m.Tags)
		slices.Sort(tags)
		for _, tag := range slices.Compact(tags) {
			counts[tag]++
		}
	}
	ranked := slices.DeleteFunc(slices.Sorted(maps.Keys(counts)), func(tag string) bool {
		return strings.TrimSpace(tag) == "" || counts[tag] < 2 && !slices.Contains(centre.Tags, tag)
	})
	slices.SortStableFunc(ranked, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	return ranked[:min(topicMost, len(ranked))]
}
