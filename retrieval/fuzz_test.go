package retrieval

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/writbus/writ/retrieval/embed/static"
)

func FuzzSearch(f *testing.F) {
	for _, text := range []string{
		"", "wrap errors", "GO-ERR-001", `"quoted`, "`", "“„”", "\xff\xfe\x00", "go-err-001..", "日本語", strings.Repeat("lock ", 5000),
		"context hangs\r\n\tSQL-INJ-OLD ALW-SEC-001", "%w %s %!d", "{}[]()<>", "ſK", "\u200d\u0301",
	} {
		f.Add(text, 4000, "GO-ERR-001")
	}
	e, err := static.Default()
	if err != nil {
		f.Fatal(err)
	}
	indexes := []*Index{newTestIndex(f, corpusRules(), Options{}), newTestIndex(f, corpusRules(), Options{Embedder: e})}
	f.Fuzz(func(t *testing.T, text string, budget int, other string) {
		q := Query{Text: text, BudgetTokens: budget, Explain: true, Previous: []string{other}, Shown: []string{other}, Domains: []string{"go", other}}
		for _, ix := range indexes {
			a := ix.Search(q)
			checkBlock(t, a)
			first, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			second, err := json.Marshal(ix.Search(q))
			if err != nil || string(first) != string(second) {
				t.Fatalf("two answers to one query: %v\n%s\n%s", err, first, second)
			}
			for _, h := range a.Rules {
				if h.Domain == "python" || h.ID == "SQL-INJ-OLD" || h.Score < 0 || h.Score > 1 || !(h.Probability >= 0 && h.Probability <= 1) {
					t.Fatalf("%+v", h)
				}
			}
		}
	})
}
