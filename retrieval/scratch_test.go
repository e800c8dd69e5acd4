package retrieval

import (
	"encoding/json"
	"testing"
)

// TestAnAnswerHasNothingOfTheQueryBefore: a query works in memory that another
// one used.
func TestAnAnswerHasNothingOfTheQueryBefore(t *testing.T) {
	told := func(ix *Index, text string) string {
		raw, err := json.Marshal(ix.Search(Query{Text: text, Explain: true}))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	texts := []string{"", "wrap errors of a lock", " \n", "GO-ERR-001", "日本語"}
	for _, text := range texts {
		want := told(newTestIndex(t, corpusRules(), Options{}), text)
		used := newTestIndex(t, corpusRules(), Options{})
		for _, before := range texts {
			told(used, before)
			if got := told(used, text); got != want {
				t.Errorf("%q after %q:\n%s\nnot\n%s", text, before, got, want)
			}
		}
	}
}
