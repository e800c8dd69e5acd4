package static

import (
	"bytes"
	"slices"
)

// stem takes the inflection off a lower-case English word, in place: plurals,
// -ed, -ing, and a final y or e (steps 1 and 5a of Porter, "An algorithm for
// suffix stripping", 1980). Derivations (-ation, -ness) stay words of their own:
// training learns how near they are, and word indexes beside the embedder
// usually merge them. Words of up to three bytes and words with other than
// ASCII letters stay as they are. Persisted in the meaning of every table; never
// change.
func stem(w []byte) []byte {
	if len(w) <= 3 || !letters(w) {
		return w
	}
	return finalE(finalY(past(plural(w))))
}

func letters(w []byte) bool {
	return !slices.ContainsFunc(w, func(b byte) bool { return b < 'a' || b > 'z' })
}

// plural is step 1a.
func plural(w []byte) []byte {
	switch {
	case w[len(w)-1] != 's' || bytes.HasSuffix(w, []byte("ss")):
		return w
	case bytes.HasSuffix(w, []byte("sses")), bytes.HasSuffix(w, []byte("ies")):
		return w[:len(w)-2]
	}
	return w[:len(w)-1]
}

// past is step 1b.
func past(w []byte) []byte {
	switch {
	case bytes.HasSuffix(w, []byte("eed")):
		if measure(w[:len(w)-3]) > 0 {
			return w[:len(w)-1]
		}
	case bytes.HasSuffix(w, []byte("ed")) && hasVowel(w[:len(w)-2]):
		return mend(w[:len(w)-2])
	case bytes.HasSuffix(w, []byte("ing")) && hasVowel(w[:len(w)-3]):
		return mend(w[:len(w)-3])
	}
	return w
}

// mend gives the rest of a word the end it has on its own: hopp is hop, siz
// is size, conflat is conflate.
func mend(w []byte) []byte {
	n := len(w)
	switch {
	case bytes.HasSuffix(w, []byte("at")), bytes.HasSuffix(w, []byte("bl")), bytes.HasSuffix(w, []byte("iz")):
		return append(w, 'e') // there is room: a longer suffix was cut off
	case n >= 2 && w[n-1] == w[n-2] && !vowel(w, n-1) && w[n-1] != 'l' && w[n-1] != 's' && w[n-1] != 'z':
		return w[:n-1]
	case measure(w) == 1 && shortEnd(w):
		return append(w, 'e')
	}
	return w
}

// finalY is step 1c.
func finalY(w []byte) []byte {
	if n := len(w); w[n-1] == 'y' && hasVowel(w[:n-1]) {
		w[n-1] = 'i'
	}
	return w
}

// finalE is step 5a, for what is left longer than three letters.
func finalE(w []byte) []byte {
	if n := len(w); n > 3 && w[n-1] == 'e' {
		if m := measure(w[:n-1]); m > 1 || m == 1 && !shortEnd(w[:n-1]) {
			return w[:n-1]
		}
	}
	return w
}

// vowel tells whether the letter is one: y is after a consonant.
func vowel(w []byte, at int) bool {
	switch w[at] {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	case 'y':
		return at > 0 && !vowel(w, at-1)
	}
	return false
}

func hasVowel(w []byte) bool {
	for i := range w {
		if vowel(w, i) {
			return true
		}
	}
	return false
}

// measure counts the vowel-consonant sequences.
func measure(w []byte) int {
	m, before := 0, false
	for i := range w {
		is := vowel(w, i)
		if before && !is {
			m++
		}
		before = is
	}
	return m
}

// shortEnd tells whether the word ends consonant, vowel, consonant, the last
// not w, x or y.
func shortEnd(w []byte) bool {
	n := len(w)
	return n >= 3 && !vowel(w, n-3) && vowel(w, n-2) && !vowel(w, n-1) && w[n-1] != 'w' && w[n-1] != 'x' && w[n-1] != 'y'
}
