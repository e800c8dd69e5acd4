package files

import (
	"fmt"
	"maps"
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/writbus/writ/retrieval/artifact"
)

// Documents after many changes are those of a map that took the same, those
// before them stay, and the counts are what is counted anew.
func TestDocumentsFollowChanges(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	now, docs := map[string]*Info{}, documents{}
	for round := range 40 {
		before, were := docs, listed(docs)
		changes := map[string]*Info{}
		for range 1 + r.Intn(3)*r.Intn(mostOver) {
			path := fmt.Sprintf("%d.go", r.Intn(4*mostOver))
			if r.Intn(3) == 0 {
				changes[path] = nil
				continue
			}
			changes[path] = &Info{Document: artifact.Document{Path: path, Size: int64(r.Intn(9)), Type: artifact.Types()[r.Intn(2)], Language: "go"}, SymbolCount: r.Intn(3)}
		}
		docs = docs.with(changes)
		maps.Copy(now, changes)
		maps.DeleteFunc(now, func(_ string, i *Info) bool { return i == nil })
		if !maps.Equal(listed(docs), now) || !maps.Equal(listed(before), were) {
			t.Fatalf("round %d: %d documents, want %d", round, len(listed(docs)), len(now))
		}
		for path, i := range changes {
			if docs.get(path) != i {
				t.Fatalf("round %d: %s is %v, want %v", round, path, docs.get(path), i)
			}
		}
		if diff := cmp.Diff(documents{}.with(now).tally, docs.tally); diff != "" {
			t.Fatalf("round %d: the counts differ:\n%s", round, diff)
		}
	}
}

func listed(d documents) map[string]*Info {
	all := map[string]*Info{}
	d.each(func(path string, i *Info) { all[path] = i })
	return all
}
