package search

import (
	"fmt"
	"math/rand"
	"strings"

	"github.com/writbus/writ/retrieval/artifact"
)

var vocabulary = strings.Fields("retry timeout mutex goroutine channel lock index cache query token error context " +
	"handler buffer stream socket parser thread atomic deadline backoff payload cursor ledger shard compactionPicker get_user_name")

// sentence draws words, the early ones more often.
func sentence(r *rand.Rand, most int) string {
	words := make([]string, r.Intn(most+1))
	for i := range words {
		words[i] = vocabulary[min(r.Intn(len(vocabulary)), r.Intn(len(vocabulary)))]
	}
	return strings.Join(words, " ")
}

var folders = []string{"", "docs/", "internal/cache/", "test/", "examples/retry/", "legacy/"}

func randomDocument(r *rand.Rand, n int) *artifact.Document {
	d := &artifact.Document{
		Path: fmt.Sprintf("%s%s_%d.go", folders[r.Intn(len(folders))], vocabulary[r.Intn(len(vocabulary))], n),
		Type: artifact.Types()[r.Intn(6)], Title: sentence(r, 4), Summary: sentence(r, 8),
		Phase: []string{"", artifact.Elaboration, artifact.Construction}[r.Intn(3)],
	}
	if r.Intn(2) == 0 {
		d.Tags = []string{"security", vocabulary[r.Intn(len(vocabulary))]}
	}
	line := 1
	for range r.Intn(20) {
		c := artifact.Chunk{Lines: [2]int{line, line + 3}, Heading: sentence(r, 2), Text: sentence(r, 40), Tokens: 40}
		if r.Intn(3) == 0 {
			c.Symbols = []string{vocabulary[r.Intn(len(vocabulary))]}
		}
		d.Chunks = append(d.Chunks, c)
		line += 4
	}
	return d
}

func randomDocuments(r *rand.Rand, n int) []*artifact.Document {
	docs := make([]*artifact.Document, n)
	for i := range docs {
		docs[i] = randomDocument(r, i)
	}
	return docs
}

// letterVectors is an embedder that counts letters.
type letterVectors struct{}

func (letterVectors) Name() string { return "letters" }

func (letterVectors) Embed(text string) ([]float32, error) {
	v := make([]float32, 26)
	for _, b := range []byte(strings.ToLower(text)) {
		if 'a' <= b && b <= 'z' {
			v[b-'a']++
		}
	}
	return v, nil
}

// failing is a test of either kind.
type failing interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func analysed(t failing, e Embedder, docs ...*artifact.Document) []*Entry {
	t.Helper()
	a := NewAnalyser(e)
	entries := make([]*Entry, len(docs))
	for i, d := range docs {
		entry, err := a.Analyse(d)
		if err != nil {
			t.Fatal(err)
		}
		entries[i] = entry
	}
	return entries
}

func found(t failing, ix *Index, q Query) Answer {
	t.Helper()
	a, err := ix.Search(q)
	if err != nil {
		t.Fatalf("%q: %v", q.Text, err)
	}
	return a
}

func paths(a Answer) []string {
	var out []string
	for _, h := range a.Hits {
		out = append(out, h.Document.Path)
	}
	return out
}

// file is a document of one chunk.
func file(path, text string) *artifact.Document {
	return &artifact.Document{
		Path: path, Type: artifact.Code, Title: path,
		Chunks: []artifact.Chunk{{Lines: [2]int{1, 1 + strings.Count(text, "\n")}, Text: text}},
	}
}
