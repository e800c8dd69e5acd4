package static

import (
	"unicode"
	"unicode/utf8"
)

// maxWordBytes is the longest word that is embedded. Longer runs are encoded
// data. Persisted in the meaning of every table; never change.
const maxWordBytes = 40

// Words cuts a text into lower-case words, one after the other. It is the one
// tokenisation of training and embedding: runs of letters and digits, cut at
// humps (readAll is read and all, HTTPServer is http and server), possessive
// 's dropped, other apostrophes closed up (don't is dont), stemmed. Everything
// else separates. Any bytes are a valid text.
type Words struct {
	text string
	at   int
	from int // where the last word began
	buf  [maxWordBytes + utf8.UTFMax]byte
}

// Reset starts over with another text.
func (w *Words) Reset(text string) { w.text, w.at = text, 0 }

// Next returns the next word, or nil at the end. It is valid until the next
// call.
func (w *Words) Next() []byte {
	for {
		word, ok := w.scan()
		if !ok {
			return nil
		}
		if word = stem(word); len(word) > 0 {
			return word
		}
	}
}

// Written is the last word as it stands in the text. It is valid after a word
// was returned.
func (w *Words) Written() string { return w.text[w.from:w.at] }

// class of a rune, as far as words care.
type class uint8

const (
	other class = iota
	lower       // letters without case are lower
	upper
	digit
	apostrophe
)

func classify(r rune) class {
	switch {
	case 'a' <= r && r <= 'z':
		return lower
	case 'A' <= r && r <= 'Z':
		return upper
	case '0' <= r && r <= '9':
		return digit
	case r == '\'' || r == '’':
		return apostrophe
	case r < utf8.RuneSelf || r == utf8.RuneError:
		return other
	case unicode.IsUpper(r):
		return upper
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return lower
	case unicode.IsDigit(r):
		return digit
	}
	return other
}

// peek decodes the rune at the byte offset.
func (w *Words) peek(at int) (rune, int) {
	if at >= len(w.text) {
		return 0, 0
	}
	if b := w.text[at]; b < utf8.RuneSelf {
		return rune(b), 1
	}
	return utf8.DecodeRuneInString(w.text[at:])
}

// scan reads one word into the buffer; an empty word with true is one that was
// too long or holds nothing but digits beyond a year's length.
func (w *Words) scan() ([]byte, bool) {
	r, size := w.peek(w.at)
	for c := classify(r); size > 0 && (c == other || c == apostrophe); c = classify(r) {
		w.at += size
		r, size = w.peek(w.at)
	}
	if size == 0 {
		return nil, false
	}
	w.from = w.at
	n, digits, last := 0, 0, other
	for size > 0 {
		c := classify(r)
		if c == apostrophe {
			next, nextSize := w.peek(w.at + size)
			if k := classify(next); nextSize == 0 || k != lower && k != upper {
				break
			}
			if after, afterSize := w.peek(w.at + size + nextSize); (next == 's' || next == 'S') &&
				(afterSize == 0 || classify(after) == other) {
				w.at += size + nextSize
				break
			}
			w.at += size
			r, size = next, nextSize
			continue
		}
		if c == other || c == upper && w.hump(last, w.at+size) {
			break
		}
		if c == digit {
			digits++
		}
		if n <= maxWordBytes {
			n += w.put(n, r, c)
		}
		last = c
		w.at += size
		r, size = w.peek(w.at)
	}
	if n > maxWordBytes || digits == n && n > 4 {
		return nil, true
	}
	return w.buf[:n], true
}

// put writes the rune in lower case and returns its length.
func (w *Words) put(at int, r rune, c class) int {
	if c == upper {
		r = unicode.ToLower(r)
	}
	if r < utf8.RuneSelf {
		w.buf[at] = byte(r)
		return 1
	}
	return utf8.EncodeRune(w.buf[at:], r)
}

// hump tells whether an upper-case letter that ends before next begins a word
// of its own.
func (w *Words) hump(last class, next int) bool {
	switch last {
	case lower, digit:
		return true
	case upper:
		r, size := w.peek(next)
		return size > 0 && classify(r) == lower
	default:
		return false
	}
}
