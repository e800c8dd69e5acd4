package plan

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/writbus/writ/schemas/wordset"
)

func (s *section) empty() bool {
	return !slices.ContainsFunc(s.blocks, func(b block) bool { return b.kind != subheading && b.text() != "" })
}

// placeholder returns the line and a description of the first placeholder, or
// an empty description. Cells without a word stand for "none" in tables and
// are left alone, as are bullets without text.
func (s *section) placeholder() (int, string) {
	words, line := 0, s.line
	only := false // the section is one path or rule id, which is not a word
	for _, b := range s.blocks {
		t := b.text()
		if b.kind == subheading || b.kind == header {
			continue
		}
		if t == "" {
			if b.box != nil {
				return b.line, "a check box without text"
			}
			continue
		}
		if what := b.placeholder(t); what != "" {
			return b.line, what
		}
		if words == 0 {
			line = b.line
		}
		for _, w := range strings.Fields(t) {
			n := countWords(w)
			words += n
			if n > 0 && (pathLike(strings.Trim(w, edgePunctuationOfPaths), true) || len(ruleIDs(w)) > 0) {
				only = true
			}
		}
	}
	if words <= 1 && !only {
		return line, "a single word"
	}
	return 0, ""
}

func (b block) placeholder(t string) string {
	hasWord := strings.ContainsFunc(t, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	switch {
	case !hasWord:
		if b.kind == cell && !strings.ContainsAny(t, ".…?") {
			return ""
		}
		return "only " + clip(t)
	case b.begins(t):
		return "a placeholder (" + clip(t) + ")"
	case undetermined(t):
		return "a placeholder (" + clip(t) + ")"
	case filler(t):
		return "filler text"
	}
	return ""
}

const edgePunctuation = ".,;:!?()[]{}<>\"'“”‘’«»*_~`–—…"

// marker matches TODO, TBD and FIXME at the beginning. In small letters they
// are words one may begin a sentence with ("todo lists are…"), so there they
// count only when nothing or punctuation follows.
var (
	marker      = regexp.MustCompile(`^(?:TODO|TBD|TBC|FIXME|XXX)(?:[^\pL\pN_./-]|[.-]*(?:\s|$))`)
	markerSmall = regexp.MustCompile(`(?i)^(?:to-?do|tbd|tba|tbc|fixme|xxx)(?:\s*$|\s*[:;!?…)\](–—]|\.*\s*$|\s+-\s)`)
)

func (b block) begins(t string) bool {
	// A code span names the marker instead of being one, unless it is all there is.
	for _, s := range b.spans {
		if strings.TrimSpace(s.text) == "" {
			continue
		}
		if s.code && strings.TrimSpace(s.text) != t {
			return false
		}
		break
	}
	t = strings.TrimLeft(t, edgePunctuation+" \t\n-")
	return marker.MatchString(t) || markerSmall.MatchString(t)
}

// decided are the participles of "to be …" that leave the content open.
var decided = wordset.In(wordLists, "decided")

// hollow are words that add nothing to a statement that something is open.
var hollow = wordset.In(wordLists, "hollow")

// announced are words by which a text says that something is still to come.
var announced = wordset.In(wordLists, "announced")

// undone are words behind which a participle leaves the content open.
var undone = wordSet(`be being not yet`)

// undetermined tells whether a paragraph says only that it is still to be
// written: every word is hollow and one announces the absence.
func undetermined(t string) bool {
	words := plainWords(t)
	open, before := false, ""
	for _, w := range words {
		if !hollow[w] && !decided[w] {
			return false
		}
		open = open || announced[w] || decided[w] && undone[before]
		before = w
	}
	return open && len(words) > 1
}

// latin is the vocabulary of the typesetters' filler text.
var latin = wordset.In(wordLists, "latin")

var nonsense = wordset.In(wordLists, "nonsense")

func filler(t string) bool {
	words := plainWords(t)
	if len(words) == 0 {
		return false
	}
	inLatin, inNonsense, same := 0, 0, true
	for _, w := range words {
		if latin[w] {
			inLatin++
		}
		if nonsense[w] {
			inNonsense++
		}
		same = same && w == words[0]
	}
	joined := strings.Join(words, " ")
	switch {
	case strings.HasPrefix(joined, "lorem ipsum"):
		return true
	case inLatin >= 3 && inLatin*3 >= len(words)*2:
		return true
	case inNonsense == len(words) && len(words) > 1:
		return true
	case same && len(words) > 1 && !strings.ContainsFunc(words[0], unicode.IsDigit):
		return true
	}
	return strings.Contains(joined, "quick brown fox jumps over the lazy dog")
}

//go:embed words.txt
var wordLists string

var wordSet = wordset.Of

// plainWords are the lower-case runs of letters and digits.
func plainWords(t string) []string {
	return strings.FieldsFunc(strings.ToLower(t), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	})
}

// unspaced are the scripts written without spaces between words.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai,
	unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// lettersPerWord is a generous word length in such scripts; it only has to
// keep a sentence from being taken for one word.
const lettersPerWord = 5

// countWords counts the words in a piece without spaces: one if it has a
// letter or digit, more where the script does not use spaces.
func countWords(piece string) int {
	n, letters, any := 0, 0, false
	for _, r := range piece {
		switch {
		case unicode.In(r, unspaced...):
			letters++
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			any = true
		case letters > 0:
			n, letters = n+(letters+lettersPerWord-1)/lettersPerWord, 0
		}
	}
	n += (letters + lettersPerWord - 1) / lettersPerWord
	if any {
		n++
	}
	return n
}
