package fulltext

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/blevesearch/bleve/v2"
	_ "github.com/blevesearch/bleve/v2/search/highlight/highlighter/ansi" // the mark "ansi"
	"github.com/blevesearch/bleve/v2/search/query"
)

// ErrQuery is returned for a request that cannot be read; its text says why.
var ErrQuery = errors.New("fulltext: the query cannot be read")

// Kind is how a request's text is read.
type Kind string

// The kinds.
const (
	// QueryString is Bleve's language: words, +must, -not, "phrase", field:word,
	// word~2, pre*, word^3, /regular expression/. The default.
	QueryString Kind = "query-string"
	Words       Kind = "words"  // some of the words, in any order; rules with all of them first
	Phrase      Kind = "phrase" // the words in a row
	Fuzzy       Kind = "fuzzy"  // the same, each word with up to two typing errors
	Prefix      Kind = "prefix" // a word that begins so
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{QueryString, Words, Phrase, Fuzzy, Prefix} }

// The marks around matched words in fragments.
const (
	MarkHTML = "html" // <mark>, everything else escaped
	MarkANSI = "ansi" // colours of a terminal
)

// Request is a search.
type Request struct {
	Text    string            `json:"text"` // "" finds every rule that passes the filters
	Kind    Kind              `json:"kind,omitempty"`
	Field   string            `json:"field,omitempty"`  // only this one; "" is all. Query strings name their own
	Filter  map[string]string `json:"filter,omitempty"` // keyword field to its value: domain, severity, tag, …
	Facets  []string          `json:"facets,omitempty"` // keyword fields whose values are counted
	Size    int               `json:"size,omitempty"`   // 0 is 10
	From    int               `json:"from,omitempty"`
	Mark    string            `json:"mark,omitempty"` // "" marks nothing
	Explain bool              `json:"explain,omitempty"`
}

// Result is what a request found.
type Result struct {
	Total  int                `json:"total"`
	Hits   []Hit              `json:"hits"`
	Facets map[string][]Count `json:"facets,omitempty"`
}

// Hit is a rule that matched.
type Hit struct {
	ID        string              `json:"id"` // as written in the rule
	Score     float64             `json:"score"`
	Title     string              `json:"title,omitempty"`
	Fragments map[string][]string `json:"fragments,omitempty"` // by field, matched words marked
	Why       string              `json:"why,omitempty"`       // with Request.Explain: Bleve's arithmetic
}

// Count is a value of a facet and in how many found rules it stands.
type Count struct {
	Value string `json:"value"`
	N     int    `json:"n"`
}

const (
	defaultSize = 10
	mostHits    = 1000
	mostValues  = 50
	fuzziness   = 2
)

// Search answers a request.
func (ix *Index) Search(ctx context.Context, r Request) (result Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = Result{}, fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	q, err := r.query()
	if err != nil {
		return Result{}, err
	}
	size := r.Size
	if size <= 0 {
		size = defaultSize
	}
	req := bleve.NewSearchRequestOptions(q, min(size, mostHits), max(r.From, 0), r.Explain)
	req.Fields = []string{"title"}
	req.SortBy([]string{"-_score", "_id"})
	if r.Mark != "" {
		req.Highlight = bleve.NewHighlightWithStyle(r.Mark)
	}
	for _, name := range r.Facets {
		if !slices.Contains(keywordFields, name) {
			return Result{}, fmt.Errorf("%w: %q has no facet; those have: %s", ErrQuery, name, strings.Join(keywordFields, ", "))
		}
		req.AddFacet(name, bleve.NewFacetRequest(name, mostValues))
	}
	found, err := ix.bleve.SearchInContext(ctx, req)
	if err != nil {
		if ctx.Err() != nil {
			return Result{}, fmt.Errorf("full-text search: %w", ctx.Err())
		}
		if errors.Is(err, bleve.ErrorIndexClosed) {
			return Result{}, ErrClosed
		}
		return Result{}, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	return shown(found), nil
}

func (r Request) query() (query.Query, error) {
	if r.Mark != "" && r.Mark != MarkHTML && r.Mark != MarkANSI {
		return nil, fmt.Errorf("%w: mark %q; there are %s and %s", ErrQuery, r.Mark, MarkHTML, MarkANSI)
	}
	if r.Field != "" && !slices.Contains(Fields(), r.Field) {
		return nil, fmt.Errorf("%w: no field %q; there are %s", ErrQuery, r.Field, strings.Join(Fields(), ", "))
	}
	text, err := r.text()
	if err != nil {
		return nil, err
	}
	all := []query.Query{text}
	for _, name := range slices.Sorted(maps.Keys(r.Filter)) {
		if !slices.Contains(keywordFields, name) {
			return nil, fmt.Errorf("%w: no filter by %q; there are %s", ErrQuery, name, strings.Join(keywordFields, ", "))
		}
		// A filter of weight 0 chooses and does not score.
		term := bleve.NewTermQuery(strings.ToLower(r.Filter[name]))
		term.SetField(name)
		term.SetBoost(0)
		all = append(all, term)
	}
	return bleve.NewConjunctionQuery(all...), nil
}

func (r Request) text() (query.Query, error) {
	text := strings.TrimSpace(strings.ToValidUTF8(r.Text, " "))
	if text == "" {
		return bleve.NewMatchAllQuery(), nil
	}
	switch r.Kind {
	case QueryString, "":
		q := bleve.NewQueryStringQuery(text)
		if err := q.Validate(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrQuery, err)
		}
		return q, nil
	case Words, Fuzzy:
		some, all := r.match(text), r.match(text)
		all.SetOperator(query.MatchQueryOperatorAnd)
		if len(strings.Fields(text)) == 1 {
			return all, nil // an id or identifier, whose parts alone say little
		}
		all.SetBoost(allWords)
		return bleve.NewDisjunctionQuery(all, some), nil
	case Phrase:
		q := bleve.NewMatchPhraseQuery(text)
		q.SetField(r.Field)
		return q, nil
	case Prefix:
		q := bleve.NewPrefixQuery(strings.ToLower(text))
		q.SetField(r.Field)
		return q, nil
	}
	return nil, fmt.Errorf("%w: kind %q; there are %v", ErrQuery, r.Kind, Kinds())
}

// allWords is how much more it counts that a rule has all the words, so that no
// rule with some of them goes before it.
const allWords = 8

// match looks for the words of a text.
func (r Request) match(text string) *query.MatchQuery {
	q := bleve.NewMatchQuery(text)
	q.SetField(r.Field)
	if r.Kind == Fuzzy {
		q.SetFuzziness(fuzziness)
	}
	return q
}

func shown(found *bleve.SearchResult) Result {
	result := Result{Total: int(found.Total), Hits: []Hit{}}
	for _, match := range found.Hits {
		h := Hit{ID: match.ID, Score: match.Score, Fragments: match.Fragments}
		h.Title, _ = match.Fields["title"].(string)
		if match.Expl != nil {
			h.Why = match.Expl.String()
		}
		result.Hits = append(result.Hits, h)
	}
	for name, facet := range found.Facets {
		if result.Facets == nil {
			result.Facets = map[string][]Count{}
		}
		counts := []Count{}
		for _, term := range facet.Terms.Terms() {
			counts = append(counts, Count{Value: term.Term, N: term.Count})
		}
		result.Facets[name] = counts
	}
	return result
}
