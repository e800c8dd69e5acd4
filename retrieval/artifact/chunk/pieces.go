package chunk

import (
	"unicode"
	"unicode/utf8"
)

// pieceLen is the length of the first piece of a text that is not empty. It
// does what the encoding's splitting pattern does:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//	 ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func pieceLen(s string) int {
	from := int(leads[s[0]])
	at := from
	for at < len(s) && asciiClass[s[at]] == letter {
		at++
	}
	if at > from && (at == len(s) || s[at] < utf8.RuneSelf) {
		return at
	}
	r, size := first(s)
	switch class(r) {
	case letter:
		return size + run(s[size:], letter)
	case number:
		return size + numbers(s[size:], 2)
	case space:
		return spaceLen(s, r, size)
	}
	if n := suffix(s); n > 0 {
		return n
	}
	if n := run(s[size:], letter); n > 0 {
		return size + n
	}
	return punctuation(s, size)
}

// spaceLen is the length of a piece that begins with white space.
func spaceLen(s string, r rune, size int) int {
	next, nextClass := rune(0), end
	if len(s) > size {
		next, _ = first(s[size:])
		nextClass = class(next)
	}
	switch {
	case r != '\r' && r != '\n' && nextClass == letter:
		return size + run(s[size:], letter)
	case r == ' ' && nextClass == other:
		return punctuation(s, size)
	}
	// A run of white space goes to behind its first line ends; without any it
	// leaves its last character to what follows. (By the pattern it would go to
	// the last ones. The engine of the library that counts everywhere else takes
	// the first, and counts have to agree.)
	at, lineEnd, last := 0, 0, 0
	for at < len(s) {
		r, size := first(s[at:])
		ends := r == '\r' || r == '\n'
		if class(r) != space || lineEnd > 0 && !ends {
			break
		}
		last = at
		at += size
		if ends {
			lineEnd = at
		}
	}
	switch {
	case lineEnd > 0:
		return lineEnd
	case at == len(s) || last == 0:
		return at
	}
	return last
}

// punctuation is the length of a run of other characters from an offset, with
// the line ends that follow.
func punctuation(s string, from int) int {
	at := from + run(s[from:], other)
	for at < len(s) && (s[at] == '\r' || s[at] == '\n') {
		at++
	}
	return at
}

// suffix is the length of an English suffix such as 's, 0 for none.
func suffix(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	switch s[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(s) < 3 {
		return 0
	}
	switch string([]byte{s[1] | 0x20, s[2] | 0x20}) {
	case "re", "ve", "ll":
		return 3
	}
	return 0
}

func numbers(s string, most int) int {
	at := 0
	for ; most > 0 && at < len(s); most-- {
		r, size := first(s[at:])
		if class(r) != number {
			break
		}
		at += size
	}
	return at
}

func run(s string, of uint8) int {
	at := 0
	for at < len(s) && asciiClass[s[at]] == of {
		at++
	}
	if at == len(s) || s[at] < utf8.RuneSelf {
		return at
	}
	for at < len(s) {
		r, size := first(s[at:])
		if class(r) != of {
			break
		}
		at += size
	}
	return at
}

func first(s string) (rune, int) {
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	return utf8.DecodeRuneInString(s)
}

// Classes of characters.
const (
	other uint8 = iota
	letter
	number
	space
	end  // of the text
	wide // more than one byte
)

var asciiClass = func() (all [256]uint8) {
	for b := range all {
		all[b] = wide
		if b < utf8.RuneSelf {
			all[b] = slowClass(rune(b))
		}
	}
	return all
}()

// leads is 1 for the characters that a word may begin with beside its letters.
// An apostrophe may begin a suffix.
var leads = func() (all [256]uint8) {
	for b := range utf8.RuneSelf {
		if c := asciiClass[b]; (c == other || c == space) && b != '\r' && b != '\n' && b != '\'' {
			all[b] = 1
		}
	}
	return all
}()

func class(r rune) uint8 {
	if r < utf8.RuneSelf {
		return asciiClass[r]
	}
	return slowClass(r)
}

func slowClass(r rune) uint8 {
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return number
	case unicode.IsSpace(r):
		return space
	}
	return other
}
