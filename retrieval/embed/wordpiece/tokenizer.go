package wordpiece

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

var (
	// ErrVocabulary is returned for a vocabulary that cannot be used.
	ErrVocabulary = errors.New("wordpiece: unusable vocabulary")
	// ErrUnsupported is returned for a tokenizer of another kind.
	ErrUnsupported = errors.New("wordpiece: unsupported tokenizer")
)

// The tokens BERT gives a meaning to.
const (
	unknownToken = "[UNK]"
	startToken   = "[CLS]"
	endToken     = "[SEP]"
)

// maxWord is the longest word, in characters, that is looked up; a longer one
// is unknown. BERT's max_input_chars_per_word.
const maxWord = 100

// Config describes a tokenizer.
type Config struct {
	Vocabulary    map[string]int32 // token to number; continuations start with Prefix
	Unknown       string           // the token for unknown words, "[UNK]" if empty
	Prefix        string           // "##" if empty
	MaxWord       int              // 100 if 0
	Special       []string         // found verbatim in a text, before normalisation
	Normalization Normalization
}

// Tokenizer is a vocabulary and how texts are split. It never changes.
type Tokenizer struct {
	norm       Normalization
	first      map[string]int32 // pieces that start a word
	next       map[string]int32 // pieces that continue one, without the prefix
	longest    int              // piece, in bytes
	maxWord    int
	size       int
	unknown    int32
	start, end int32 // −1 if the vocabulary has none
	special    []special
	specials   [256]bool // by first byte
	tokens     []string  // by number
}

// special is a token that texts may hold verbatim.
type special struct {
	text string
	id   int32
}

// New checks a configuration and makes its tokenizer.
func New(c Config) (*Tokenizer, error) {
	t := &Tokenizer{
		norm: c.Normalization, first: map[string]int32{}, next: map[string]int32{}, maxWord: c.MaxWord,
		start: -1, end: -1, tokens: make([]string, len(c.Vocabulary)),
	}
	t.maxWord = cmp.Or(t.maxWord, maxWord)
	prefix := cmp.Or(c.Prefix, "##")
	for token, id := range c.Vocabulary {
		if id < 0 {
			return nil, fmt.Errorf("%w: token %q has number %d", ErrVocabulary, token, id)
		}
		t.add(token, prefix, id)
	}
	unknown := c.Unknown
	unknown = cmp.Or(unknown, unknownToken)
	var ok bool
	if t.unknown, ok = c.Vocabulary[unknown]; !ok {
		return nil, fmt.Errorf("%w: it has no %s for unknown words", ErrVocabulary, unknown)
	}
	if id, ok := c.Vocabulary[startToken]; ok {
		t.start = id
	}
	if id, ok := c.Vocabulary[endToken]; ok {
		t.end = id
	}
	for _, text := range c.Special {
		id, ok := c.Vocabulary[text]
		if !ok || text == "" {
			return nil, fmt.Errorf("%w: the special token %q is not in it", ErrVocabulary, text)
		}
		t.special = append(t.special, special{text, id})
		t.specials[text[0]] = true
	}
	return t, nil
}

func (t *Tokenizer) add(token, prefix string, id int32) {
	t.size = max(t.size, int(id)+1)
	if int(id) < len(t.tokens) {
		t.tokens[id] = token
	}
	piece, continues := strings.CutPrefix(token, prefix)
	t.longest = max(t.longest, len(token))
	// "##" alone continues no word: an empty piece would match for ever.
	if continues && piece != "" {
		t.next[piece] = id
	}
	t.first[token] = id
}

// Size is one more than the greatest token number.
func (t *Tokenizer) Size() int { return t.size }

// Unknown is the number that stands for words the vocabulary cannot spell.
func (t *Tokenizer) Unknown() int32 { return t.unknown }

// Framed says whether the vocabulary has the tokens that [Tokenizer.Encode]
// puts around a text.
func (t *Tokenizer) Framed() bool { return t.start >= 0 && t.end >= 0 }

// Token is the token of a number, "" for a number without one.
func (t *Tokenizer) Token(id int32) string {
	if id < 0 || int(id) >= len(t.tokens) {
		return ""
	}
	return t.tokens[id]
}

// Encode appends [CLS], the text's tokens and [SEP] to dst, at most limit
// tokens in all, cutting the text's off at the end. It needs [Tokenizer.Framed]
// and a limit of at least 2.
func (t *Tokenizer) Encode(dst []int32, text string, limit int) []int32 {
	dst = append(dst, t.start)
	return append(t.Tokens(dst, text, limit-2), t.end)
}

// Tokens appends the text's tokens to dst, at most limit of them.
func (t *Tokenizer) Tokens(dst []int32, text string, limit int) []int32 {
	s := splitter{t: t, out: dst, limit: len(dst) + max(limit, 0)}
	for i := 0; i < len(text) && !s.full(); {
		if t.specials[text[i]] {
			if found, ok := t.specialAt(text[i:]); ok {
				s.flush()
				s.emit(found.id)
				i += len(found.text)
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		s.runes = t.norm.append(s.runes[:0], r)
		for _, r := range s.runes {
			s.take(r)
		}
	}
	s.flush()
	return s.out
}

// specialAt finds the longest special token that text starts with.
func (t *Tokenizer) specialAt(text string) (found special, ok bool) {
	for _, s := range t.special {
		if len(s.text) > len(found.text) && strings.HasPrefix(text, s.text) {
			found, ok = s, true
		}
	}
	return found, ok
}

// splitter gathers characters into words and words into tokens.
type splitter struct {
	t     *Tokenizer
	out   []int32
	limit int    // of len(out)
	runes []rune // one character, normalised
	word  []byte
	count int // characters of the word, also those beyond the longest
}

func (s *splitter) full() bool { return len(s.out) >= s.limit }

func (s *splitter) emit(id int32) {
	if !s.full() {
		s.out = append(s.out, id)
	}
}

func (s *splitter) take(r rune) {
	switch {
	case isSpace(r):
		s.flush()
	case isPunctuation(r):
		s.flush()
		s.put(r)
		s.flush()
	default:
		s.put(r)
	}
}

func (s *splitter) put(r rune) {
	if s.count++; s.count <= s.t.maxWord {
		s.word = utf8.AppendRune(s.word, r)
	}
}

// flush ends the word: the longest piece it starts with, the longest that
// continues it, and so on; a word that cannot be spelled is one unknown token.
func (s *splitter) flush() {
	word, long := s.word, s.count > s.t.maxWord
	s.word, s.count = s.word[:0], 0
	if len(word) == 0 || s.full() {
		return
	}
	if long {
		s.emit(s.t.unknown)
		return
	}
	began, pieces := len(s.out), s.t.first
	for len(word) > 0 {
		id, size := s.t.longestPiece(pieces, word)
		if size == 0 {
			s.out = append(s.out[:began], s.t.unknown)
			return
		}
		s.out = append(s.out, id)
		word, pieces = word[size:], s.t.next
	}
	// Only now, since a piece that is cut off may have been unknown.
	s.out = s.out[:min(len(s.out), s.limit)]
}

func (t *Tokenizer) longestPiece(pieces map[string]int32, word []byte) (id int32, size int) {
	for size := min(len(word), t.longest); size > 0; size-- {
		if size < len(word) && !utf8.RuneStart(word[size]) {
			continue
		}
		if id, ok := pieces[string(word[:size])]; ok {
			return id, size
		}
	}
	return 0, 0
}
