package classify

import (
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// Buckets is how many weights a model has; features share them by hash.
	Buckets = 1 << 15
	// maxWords bounds what is read: the sense of an observation is in its
	// beginning.
	maxWords = 160
	// partRunes is the length of a part of a word.
	partRunes = 4
)

// feature is a sign of a text, with the words that a reason shows for it; ""
// is not shown.
type feature struct {
	bucket uint32
	shown  string
	sign   bool // counts whole, whatever the length of the text
}

// signs are groups of words that mean the same to the classifier.
var signs = map[string][]string{
	"rule": {
		"must", "never", "always", "only", "cannot", "can't", "don't", "mustn't", "require", "requires", "required", "needs", "need", "avoid", "keep",
		"prefer", "prefers", "forbids", "allowed", "reserved", "use", "uses", "mandatory", "pinned", "limited", "limit",
	},
	"cause":  {"because", "since", "so", "otherwise", "hence", "therefore", "reason", "cause", "unless", "until", "due", "turned", "workaround", "decided", "decision", "agreed"},
	"shared": {"we", "our", "team", "user", "production", "staging", "ci", "convention", "customers", "vendor"},
	"self":   {"i", "i'm", "i'll", "i've", "i'd", "me", "my", "let", "let's"},
	"now":    {"now", "next", "again", "currently", "yet", "still", "moment", "today", "finally", "already", "just", "later", "then"},
	"vague":  {"maybe", "perhaps", "might", "could", "seems", "looks", "probably", "possibly", "sure", "think", "believe", "guess", "bit", "some", "several", "various"},
	"report": {
		"added", "updated", "fixed", "changed", "removed", "moved", "renamed", "created", "ran", "tests", "passed", "passes", "done", "complete", "finished", "compiled",
		"compiles", "reverted", "pushed", "committed", "opened", "replaced", "applied", "looking", "reading", "checking", "running",
	},
	"request": {"please", "can", "could", "would", "show", "add", "make", "write", "explain", "create"},
	"general": {"is", "are", "was", "were", "has", "have"},
}

// signOf finds the groups of a word, in one order: sums depend on it.
var signOf = func() map[string][]string {
	of := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(signs)) {
		for _, w := range signs[name] {
			of[w] = append(of[w], name)
		}
	}
	return of
}()

// features lists what a text shows, each once, in the order of the text.
func features(text string) []feature {
	words := wordsOf(text)
	f := found{seen: map[uint32]bool{}}
	seen := map[string]bool{}
	for i, w := range words {
		f.add("w "+w, w, false)
		if i > 0 {
			f.add("p "+words[i-1]+" "+w, words[i-1]+" "+w, false)
		}
		f.parts(w)
		for _, sign := range signOf[w] {
			if !seen[sign] {
				seen[sign] = true
				f.add("sign "+sign, sign, true)
			}
		}
	}
	if len(words) > 0 {
		f.add("first "+words[0], "begins "+words[0], true)
		for _, sign := range signOf[words[0]] {
			f.add("first sign "+sign, "begins with "+sign, true)
		}
	}
	f.shape(text, words)
	return f.all
}

type found struct {
	seen map[uint32]bool
	all  []feature
}

func (f *found) add(name, shown string, sign bool) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	bucket := h.Sum32() % Buckets
	if f.seen[bucket] {
		return
	}
	f.seen[bucket] = true
	f.all = append(f.all, feature{bucket, shown, sign})
}

// parts are runs of letters within a word, so that forms of a word are alike.
func (f *found) parts(word string) {
	runes := []rune("^" + word + "$")
	for i := 0; i+partRunes <= len(runes); i++ {
		f.add("c "+string(runes[i:i+partRunes]), "", false)
	}
}

// shape adds what a text looks like.
func (f *found) shape(text string, words []string) {
	trimmed := strings.TrimSpace(text)
	last, _ := utf8.DecodeLastRuneInString(trimmed)
	size := "long"
	switch n := len(words); {
	case n <= 2:
		size = "tiny"
	case n <= 5:
		size = "short"
	case n <= 10:
		size = "middle"
	case n <= 18:
		size = "full"
	}
	f.add("size "+size, size+" text", true)
	for _, end := range []struct {
		rune rune
		name string
	}{{'?', "question"}, {'!', "exclamation"}, {':', "announcement"}} {
		if last == end.rune {
			f.add("end "+end.name, end.name, true)
		}
	}
	if strings.ContainsAny(trimmed, "{}$=;") {
		f.add("shape code", "code", true)
	}
	if strings.ContainsFunc(trimmed, unicode.IsDigit) {
		f.add("shape number", "a number", true)
	}
	if strings.ContainsAny(trimmed, "/_`") {
		f.add("shape name", "a name of the project", true)
	}
	if strings.ContainsAny(trimmed, ",;:") {
		f.add("shape clauses", "clauses", true)
	}
}

// wordsOf cuts a text into lower-case words; a number is "0", whatever it is.
func wordsOf(text string) []string {
	var words []string
	for _, field := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’'
	}) {
		if len(words) == maxWords {
			break
		}
		word := strings.Trim(strings.ToLower(strings.ReplaceAll(field, "’", "'")), "'")
		if word == "" {
			continue
		}
		if strings.IndexFunc(word, unicode.IsLetter) < 0 {
			word = "0"
		}
		words = append(words, word)
	}
	return words
}
