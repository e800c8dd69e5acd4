package retrieval

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"testing"

	"github.com/writbus/writ/schemas"
)

// Whatever was edited, added, retired or made mandatory on the way, an index
// answers as one that is built of the same documents from the start.
func TestPreviousIndexesDoNotShow(t *testing.T) {
	queries := []string{"wrap errors", "the context hangs and a mutex is held", "gasket", "secrets in the query of a list", "GO-ERR-001"}
	for name, e := range map[string]Embedder{"words": nil, "vectors": topical{words: []string{"error", "context", "query", "list"}}} {
		t.Run(name, func(t *testing.T) {
			for seed := range int64(12) {
				r := rand.New(rand.NewSource(seed))
				rules := corpusRules()
				var previous *Index
				for step := range 4 {
					at := r.Intn(len(rules))
					switch r.Intn(5) {
					case 0:
						rules[at].Statement += " Mind the gasket."
					case 1:
						rules[at].Mandatory = !rules[at].Mandatory
					case 2:
						rules = append(rules[:at:at], rules[at+1:]...)
					case 3:
						rules[at].Symptoms = nil
					case 4:
						rules = append(rules, schemas.Rule{ID: fmt.Sprintf("AAA-%d", step), Severity: "low", Trigger: "a gasket leaks", Statement: "Replace the list."})
					}
					docs, err := AnalyseAll(rules, e)
					if err != nil {
						t.Fatal(err)
					}
					for i := range docs { // as a caller who keeps what has not changed
						if previous == nil {
							break
						}
						if old, kept := previous.Document(docs[i].Rule.ID); kept && old.Sum() == docs[i].Sum() {
							docs[i] = old
						}
					}
					fresh, err := NewIndex(docs, Options{Embedder: e})
					if err != nil {
						t.Fatal(err)
					}
					next, err := NewIndex(docs, Options{Embedder: e, Previous: previous})
					if err != nil {
						t.Fatal(err)
					}
					if !reflect.DeepEqual(next.calibration, fresh.calibration) || next.info != fresh.info || next.opt.Previous != nil {
						t.Fatalf("seed %d: %+v after others, %+v from the start", seed, next.calibration, fresh.calibration)
					}
					for _, text := range queries {
						q := Query{Text: text, Raw: true, Explain: true}
						got, _ := json.Marshal(next.Search(q))
						want, _ := json.Marshal(fresh.Search(q))
						if string(got) != string(want) {
							t.Fatalf("seed %d: %q after others:\n%s\nfrom the start:\n%s", seed, text, got, want)
						}
					}
					previous = next
				}
			}
		})
	}
}
