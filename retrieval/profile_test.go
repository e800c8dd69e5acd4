package retrieval

import "testing"

// named is an embedder of which only the name matters.
type named struct {
	topical
	name string
}

func (n named) Name() string { return n.name }

func TestEveryEmbedderHasItsProfile(t *testing.T) {
	for name, want := range map[string]string{
		"static@1a00c15e":               ProfileStatic,
		"all-MiniLM-L6-v2@0123456789ab": ProfileMiniLM,
		"all-MiniLM-L12-v2@x":           ProfileMiniLM,
		"another-encoder@x":             ProfileStatic,
	} {
		ix := newTestIndex(t, lockRules(), Options{Embedder: named{topical{words: []string{"mutex"}}, name}})
		if got := ix.Search(Query{Text: "mutex"}).Profile; got != want {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
	}
}
