// Package querytranslation says in English what a German, French, Spanish, Chinese or
// Japanese text is about: word by word, from a table of what developers say every day.
// The encoder and the rules are English, so that a text in another language would find nothing.
//
// It is no translation: grammar stays as it was, and what the table lacks –
// identifiers, names, rare words – stays too. English texts are never changed,
// nor are texts of fewer than two words by which a language is told.
package querytranslation

import (
	"cmp"
	_ "embed" // for the table
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

//go:embed words.txt
var table string

// languages are English, which has no words to look up, and those of the table.
var languages = sync.OnceValue(read)

type language struct {
	telling map[string]bool   // words by which it is told
	words   map[string]string // English, by folded word or phrase
}

func read() []language {
	all := make([]language, 5)
	for i := range all {
		all[i] = language{telling: map[string]bool{}, words: map[string]string{}}
	}
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		line, telling := strings.CutPrefix(line, "= ")
		columns := strings.Split(line, "|")
		for i, column := range columns {
			for word := range strings.FieldsSeq(column) {
				word = strings.TrimSuffix(ideographs.ReplaceAllStringFunc(word, func(r string) string { return fold(r) + "_" }), "_")
				if telling {
					all[i].telling[word] = true
				} else if _, known := all[i].words[word]; !known {
					all[i].words[word] = strings.TrimSpace(columns[0])
				}
			}
		}
	}
	return all
}

// token is a word and what stands behind it.
type token struct{ word, folded, after string }

// tokens are words. Chinese and Japanese put no spaces between them, so there each
// character is one, and a word of the table is a phrase.
var (
	tokens     = regexp.MustCompile(`(` + ideograph + `|(?:[^\P{L}\p{Han}\p{Hiragana}\p{Katakana}ー]|[\p{N}_])*)([^\p{L}\p{N}_]*)`)
	ideographs = regexp.MustCompile(ideograph)
)

const ideograph = `[\p{Han}\p{Hiragana}\p{Katakana}ー]`

func split(text string) []token {
	var all []token
	for _, m := range tokens.FindAllStringSubmatch(text, -1) {
		all = append(all, token{m[1], fold(m[1]), m[2]})
	}
	return all
}

// fold takes case and accents off a word. What is no word of a text – an
// abbreviation, a number, an identifier of several parts – becomes "".
func fold(word string) string {
	for i, r := range word {
		if !unicode.IsLetter(r) || i > 0 && unicode.IsUpper(r) {
			return ""
		}
	}
	bare := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(strings.ToLower(word)))
	return strings.ReplaceAll(bare, "ß", "ss")
}

// English is the text with the words that the table has in English, where it is
// in one of the table's languages. A text that is mostly of words known to the
// reader, who may keep rules in that language, stays as it is.
func English(text string, known func(word string) bool) string {
	l := spoken(split(text[:min(len(text), toldBy)]), known)
	if l == nil {
		return text
	}
	all := split(text)
	var b strings.Builder
	for at := 0; at < len(all); {
		english, n := l.phrase(all[at:])
		after := all[at+n-1].after
		unknown := english == "" && ideographs.MatchString(all[at].word) // is left out: it would tell the encoder nothing
		if !unknown && strings.Trim(after, "'’") == "" || english != "" && after == "-" {
			after = " "
		}
		english = cmp.Or(english, ideographs.ReplaceAllString(all[at].word, ""))
		b.WriteString(english + after)
		at += n
	}
	return strings.TrimSpace(b.String())
}

// toldBy is how much of a text tells its language, in bytes: what is asked
// stands before what is pasted.
const toldBy = 1000

// spoken is the language of the table that most words of a text tell, two at
// least and more than tell English; nil is none. A character of Chinese or Japanese
// tells these, the last. What is known is not told by the table's words, and where
// half of the words are, nothing is.
func spoken(text []token, known func(string) bool) *language {
	all := languages()
	counts, words := make([]int, len(all)), map[string]string{} // as they stand, by folded word
	for _, t := range text {
		if t.folded == "" || words[t.folded] != "" {
			continue
		}
		words[t.folded] = t.word
		ideograph := ideographs.MatchString(t.word) && !known(t.word)
		for i := range all {
			if all[i].tells(t, known) || ideograph && i == len(all)-1 {
				counts[i]++
			}
		}
	}
	best := slices.Index(counts, slices.Max(counts))
	if best == 0 || counts[best] < 2 || mostly(words, known) {
		return nil
	}
	return &all[best]
}

// tells says whether a word is the language's and not English.
func (l *language) tells(t token, known func(string) bool) bool {
	english := l.words[t.folded]
	return l.telling[t.folded] || english != "" && english != t.folded && !languages()[0].telling[t.folded] && !known(t.word)
}

func mostly(words map[string]string, known func(string) bool) bool {
	found := 0
	for _, word := range words {
		if known(word) {
			found++
		}
	}
	return 2*found > len(words)
}

// longestPhrase is how many words, or characters, an entry has at most.
const longestPhrase = 8

// phrase is the English of the words that a text begins with, and how many they are.
func (l *language) phrase(text []token) (english string, words int) {
	for n := min(longestPhrase, len(text)); n > 1; n-- {
		var key []string
		for _, t := range text[:n] {
			key = append(key, t.folded)
		}
		if english := l.words[strings.Join(key, "_")]; english != "" {
			return english, n
		}
	}
	return l.word(text[0].folded, mostParts), 1
}

const (
	shortestEntry = 4  // letters of an entry that others may follow
	longestEntry  = 24 // at most
	longestEnding = 4  // letters of an inflection
	mostParts     = 4  // of a compound: what has more may be cut in more ways than can be tried
)

// joints are what German puts between the parts of a compound.
var joints = []string{"", "s", "n", "en", "es", "er", "e"}

// word is the English of a word, of its stem or of the parts of a compound, which
// are so many at most; "" is not known.
func (l *language) word(word string, parts int) string {
	if english := l.words[word]; english != "" {
		return english
	}
	for end := min(len(word)-1, longestEntry); end >= shortestEntry; end-- {
		stem := l.words[word[:end]]
		if stem == "" {
			continue
		}
		for _, joint := range joints {
			if tail, ok := strings.CutPrefix(word[end:], joint); ok && parts > 1 && len(tail) >= shortestEntry {
				if rest := l.word(tail, parts-1); rest != "" {
					return stem + " " + rest
				}
			}
		}
		if len(word)-end <= longestEnding {
			return stem
		}
	}
	return ""
}
