package lexical

import (
	"strings"
	"sync"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/token/porter"
	"github.com/blevesearch/bleve/v2/analysis/token/stop"
)

// maxTermBytes is the longest term that is indexed or searched for. Longer
// runs are encoded data, not words.
const maxTermBytes = 96

// Term is one analysed word of a text.
type Term struct {
	Text string
	// Whole tells that Text is an identifier kept in one piece, as written but
	// in lower case. Its parts follow as terms of their own, so a whole that is
	// unknown to the index says nothing about how well a query is covered.
	Whole bool
	// Distinctive says that Text is of a stop word that is kept, since it tells one
	// rule from another. It too says nothing about how well a query is covered.
	Distinctive bool
}

// aside tells that a term ranks, but does not count as one of a text's words.
func (t Term) aside() bool { return t.Whole || t.Distinctive }

// Analyzer returns the one analyser of texts and queries: Unicode words, with
// identifiers both split and kept whole, then English possessives, lower case,
// English stop words but for those that tell rules apart, and Porter stems.
// Wholes are not stemmed. It satisfies
// Bleve's interface, so that a Bleve index can share it.
func Analyzer() analysis.Analyzer { return analyzer() }

// stopWords are those of English that do not tell rules apart.
var stopWords = sync.OnceValue(func() analysis.TokenMap {
	words, err := en.TokenMapConstructor(nil, nil)
	if err != nil {
		panic("lexical: the built-in stop words do not load: " + err.Error())
	}
	for _, word := range distinctive {
		delete(words, word)
	}
	return words
})

var analyzer = sync.OnceValue(func() *analysis.DefaultAnalyzer {
	return &analysis.DefaultAnalyzer{
		Tokenizer: identifiers{},
		TokenFilters: []analysis.TokenFilter{
			en.NewPossessiveFilter(),
			lowercase.NewLowerCaseFilter(),
			stop.NewStopTokensFilter(stopWords()),
			porter.NewPorterStemmer(),
		},
	}
})

// distinctive are English stop words that tell one rule from another: negation,
// quantity, order and place, obligation, and keywords of programs.
var distinctive = strings.Fields(`
	no nor not only
	all any both each few more most other same some than too very
	again once before after during further until
	above below between over under up down out off through against
	because so while from
	should would could cannot ought`)

// distinctiveStems are their terms.
var distinctiveStems = sync.OnceValue(func() map[string]bool {
	stems := map[string]bool{}
	for _, token := range analyzer().Analyze([]byte(strings.Join(distinctive, " "))) {
		stems[string(token.Term)] = true
	}
	return stems
})

// Analyse splits a text into its terms, in order. Bytes that are not UTF-8
// separate words.
func Analyse(text string) []Term {
	// Filters write into the slice they are given, so it must be a fresh one.
	stream := analyzer().Analyze([]byte(strings.ToValidUTF8(text, " ")))
	terms := make([]Term, 0, len(stream))
	for _, token := range stream {
		if len(token.Term) == 0 || len(token.Term) > maxTermBytes {
			continue
		}
		text := string(token.Term)
		terms = append(terms, Term{Text: text, Whole: token.KeyWord, Distinctive: !token.KeyWord && distinctiveStems()[text]})
	}
	return terms
}
