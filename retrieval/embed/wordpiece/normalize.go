package wordpiece

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Normalization is what happens to a text before it is split, in this order.
type Normalization struct {
	CleanText          bool // drop control characters, make every space a plain one
	HandleChineseChars bool // each is a word of its own
	StripAccents       bool // decompose, then drop non-spacing marks
	Lowercase          bool
}

// Uncased is the normalisation of BERT's uncased models.
var Uncased = Normalization{CleanText: true, HandleChineseChars: true, StripAccents: true, Lowercase: true}

// append normalises one character of a text. Decomposition is done character
// by character: what canonical ordering would move are the marks that are
// dropped.
func (n Normalization) append(dst []rune, r rune) []rune {
	if n.CleanText {
		switch {
		case r == 0 || r == utf8.RuneError || isControl(r):
			return dst
		case isSpace(r):
			return append(dst, ' ')
		}
	}
	if n.HandleChineseChars && isChinese(r) {
		dst = append(dst, ' ')
		return append(n.fold(dst, r), ' ')
	}
	return n.fold(dst, r)
}

func (n Normalization) fold(dst []rune, r rune) []rune {
	if r < utf8.RuneSelf {
		if n.Lowercase && 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return append(dst, r)
	}
	if !n.StripAccents {
		return n.lower(dst, r)
	}
	if lead, vowel, tail, ok := jamo(r); ok {
		dst = append(dst, lead, vowel)
		if tail != 0 {
			dst = append(dst, tail)
		}
		return dst
	}
	var raw [utf8.UTFMax]byte
	parts := norm.NFD.Properties(raw[:utf8.EncodeRune(raw[:], r)]).Decomposition()
	if parts == nil {
		return n.bare(dst, r)
	}
	for len(parts) > 0 {
		part, size := utf8.DecodeRune(parts)
		parts = parts[size:]
		dst = n.bare(dst, part)
	}
	return dst
}

func (n Normalization) bare(dst []rune, r rune) []rune {
	if unicode.Is(unicode.Mn, r) {
		return dst
	}
	return n.lower(dst, r)
}

func (n Normalization) lower(dst []rune, r rune) []rune {
	if !n.Lowercase {
		return append(dst, r)
	}
	if r == 'İ' { // the only character that becomes two
		return append(dst, 'i', '\u0307')
	}
	return append(dst, unicode.ToLower(r))
}

// jamo decomposes a Hangul syllable (Unicode Standard, section 3.12).
func jamo(r rune) (lead, vowel, tail rune, ok bool) {
	const (
		first, last          = 0xac00, 0xd7a3
		leads, vowels, tails = 0x1100, 0x1161, 0x11a7
		perVowel, perLead    = 28, 28 * 21
	)
	if r < first || r > last {
		return 0, 0, 0, false
	}
	s := r - first
	lead, vowel = leads+s/perLead, vowels+s%perLead/perVowel
	if t := s % perVowel; t > 0 {
		tail = tails + t
	}
	return lead, vowel, tail, true
}

func isControl(r rune) bool {
	return r != '\t' && r != '\n' && r != '\r' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs)
}

func isSpace(r rune) bool { return unicode.IsSpace(r) }

func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return '!' <= r && r <= '/' || ':' <= r && r <= '@' || '[' <= r && r <= '`' || '{' <= r && r <= '~'
	}
	return unicode.IsPunct(r)
}

// isChinese says whether r is in a CJK ideograph block of BERT's list, which has
// neither Hangul nor the kana.
func isChinese(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4dbf, 0x4e00 <= r && r <= 0x9fff, 0xf900 <= r && r <= 0xfaff:
		return true
	case 0x20000 <= r && r <= 0x2a6df, 0x2a700 <= r && r <= 0x2b73f, 0x2b740 <= r && r <= 0x2b81f,
		0x2b820 <= r && r <= 0x2ceaf, 0x2f800 <= r && r <= 0x2fa1f:
		return true
	}
	return false
}
