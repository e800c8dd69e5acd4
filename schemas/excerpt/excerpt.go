// Package excerpt shortens and joins texts for lines, tables and messages.
//
// What it returns is valid UTF-8 and never ends within a character; what was cut
// off is marked, and the mark counts into the length that was asked for. It knows
// nothing of the width of characters on a screen.
package excerpt

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/writbus/writ/schemas/lazyregexp"
)

const (
	mark    = "…"
	invalid = "\uFFFD"
)

// Line joins the words of a text with single spaces.
func Line(text string) string {
	if IsLine(text) {
		return text
	}
	return strings.Join(strings.Fields(text), " ")
}

// IsLine says whether [Line] would return a text as it is, for sure: words of
// ASCII with single spaces.
func IsLine(text string) bool {
	space := true
	for i := range len(text) {
		switch c := text[i]; {
		case c == ' ' && space, c < ' ', c > '~':
			return false
		default:
			space = c == ' '
		}
	}
	return !space || text == ""
}

// Visible puts a mark in the place of what a terminal obeys instead of showing it: the
// control characters but for those that are kept, and what turns the order of letters.
func Visible(text, kept string) string {
	return strings.Map(func(r rune) rune {
		if !strings.ContainsRune(kept, r) && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return utf8.RuneError
		}
		return r
	}, text)
}

// First is the first line of a text that is not blank.
func First(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

// Joined joins the texts that are not empty.
func Joined(separator string, texts ...string) string {
	kept := slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return text == "" })
	return strings.Join(kept, separator)
}

// Count is a number of things, whose plural ends with s.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// Runes shortens a text to so many characters.
func Runes(text string, most int) string { return RunesWith(text, most, mark) }

// RunesWith shortens a text to so many characters and puts a mark of its own
// where it is cut.
func RunesWith(text string, most int, mark string) string {
	text = strings.ToValidUTF8(text, invalid)
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	room := max(most-utf8.RuneCountInString(mark), 0)
	for at := range text {
		if room == 0 {
			return text[:at] + mark
		}
		room--
	}
	return text
}

// Words shortens a text to so many characters, at the end of a word where that
// costs less than half of them.
func Words(text string, most int) string {
	short := Runes(text, most)
	if short == text {
		return text
	}
	cut := strings.TrimSuffix(short, mark)
	if at := strings.LastIndexByte(cut, ' '); at > len(cut)/2 {
		cut = cut[:at]
	}
	return cut + mark
}

// Bytes shortens a text to so many bytes.
func Bytes(text string, most int) string { return BytesWith(text, most, mark) }

// BytesWith shortens a text to so many bytes and puts a mark of its own where it
// is cut.
func BytesWith(text string, most int, mark string) string {
	text = strings.ToValidUTF8(text, invalid)
	if len(text) <= most {
		return text
	}
	cut := max(most-len(mark), 0)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + mark
}

// rooms are packages that begin their errors with their own names, where no setting
// and no file is called so.
var rooms = strings.Fields(`audit backup bert blocks bus config confine corpus credential curation daemon embed embedded
	evidence fulltext httphook hub launch leaving ledger minilm move openai pebblestore projections release retrieval
	rulebook safetensors schemas sharing snapshot tune usage vault wordpiece`)

// Plain is the text of an error as it is told to a person: without the names of the
// packages that it passed at its beginning, and without what the system was asked of a
// file that it names.
func Plain(text string) string {
	for {
		room, rest, found := strings.Cut(text, ": ")
		if !found || !slices.Contains(rooms, room) {
			return asked.Regexp().ReplaceAllString(text, "$1")
		}
		text = rest
	}
}

var asked = lazyregexp.New(`\b(?:open|l?stat|fork/exec) (/[^:]*: |[A-Z]:\\)`)
