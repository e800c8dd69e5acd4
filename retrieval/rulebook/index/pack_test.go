//go:build unix

package index

import (
	"encoding/json"
	"iter"
	"os"
	"testing"
	"time"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/embed/choice"
	"github.com/writbus/writ/retrieval/embed/static"
	"github.com/writbus/writ/retrieval/mapped"
)

// storedView is a view with documents, by id and in their order.
type storedView struct {
	ids []string
	raw map[string][]byte
}

func (v storedView) Sums() iter.Seq2[projections.DocumentSum, error] {
	return func(yield func(projections.DocumentSum, error) bool) {
		for _, id := range v.ids {
			if !yield(projections.DocumentSum{ID: id, Sum: mapped.SumOf(v.raw[id])}, nil) {
				return
			}
		}
	}
}

func (v storedView) Document(id string) ([]byte, bool, error) {
	raw, found := v.raw[id]
	return raw, found, nil
}

func (v storedView) write(t *testing.T, path string) {
	t.Helper()
	err := mapped.Write(path, func(yield func([]byte, error) bool) {
		for _, id := range v.ids {
			if !yield(v.raw[id], nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// packWorld is an index of some shipped rules in the heap, and their view.
func packWorld(t *testing.T) (*Index, storedView) {
	t.Helper()
	table, err := static.Default()
	if err != nil {
		t.Fatal(err)
	}
	files, err := corpus.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	c := New(t.Context(), Options{Embedder: choice.Embedder{Embedder: table}, Folder: t.TempDir(), Now: func() time.Time { return time.Time{} }})
	v := storedView{raw: map[string][]byte{}}
	for _, f := range files[:40] {
		raw, err := c.analyse(f.Rule)
		if err != nil {
			t.Fatal(err)
		}
		v.ids, v.raw[f.Rule.ID] = append(v.ids, f.Rule.ID), raw
		if err := c.put(raw); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.publish(c.all()); err != nil {
		t.Fatal(err)
	}
	c.text.follow(c.docs, true, nil, 1)
	return c, v
}

// answersOf is what an index answers, without the times.
func answersOf(t *testing.T, c *Index) string {
	t.Helper()
	var all []byte
	for _, text := range []string{"an error is swallowed", "an index of the database", "retry a request", "GO-ERR-SENTINEL-001"} {
		a := c.Current().Search(retrieval.Query{Text: text, Raw: true})
		a.Latency, a.Stages = retrieval.Latency{}, nil
		raw, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, raw...)
	}
	return string(all)
}

func TestPackedRulesAnswerAlike(t *testing.T) {
	c, v := packWorld(t)
	before := answersOf(t, c)
	v.write(t, c.packed.path)
	file, err := mapped.Open(c.packed.path)
	if err != nil {
		t.Fatal(err)
	}
	changed := v.ids[3] // while the file was written
	raw := v.raw[v.ids[4]]
	doc, err := retrieval.UnmarshalDocument(raw)
	if err != nil {
		t.Fatal(err)
	}
	rule := *doc.Rule
	rule.ID, rule.Statement = changed, "Something else."
	if raw, err = c.analyse(rule); err != nil {
		t.Fatal(err)
	}
	old := c.docs[changed]
	if err := c.put(raw); err != nil {
		t.Fatal(err)
	}
	if err := c.takePacked(file, v.Sums()); err != nil {
		t.Fatal(err)
	}
	if c.docs[changed].Rule.Statement != "Something else." || c.packed.in != len(v.ids)-1 || c.packed.out != 1 {
		t.Errorf("a change meanwhile is lost: %q, %d in the file, %d not", c.docs[changed].Rule.Statement, c.packed.in, c.packed.out)
	}
	if c.text.rules[v.ids[0]] != c.docs[v.ids[0]].Rule {
		t.Error("the full-text index keeps the rules that were in the heap")
	}
	c.docs[changed] = old
	if err := c.publish(c.all()); err != nil {
		t.Fatal(err)
	}
	c.DropPages()
	if after := answersOf(t, c); after != before {
		t.Errorf("got %s\nwant %s", after, before)
	}
}

func TestRulesComeFromTheFileAsFarAsTheViewHasThem(t *testing.T) {
	c, v := packWorld(t)
	before := answersOf(t, c)
	path := c.packed.path
	load := func() (docs []retrieval.Document, p packed, found bool) {
		t.Helper()
		p.path = path
		docs, found, err := p.documents(v)
		if err != nil {
			t.Fatal(err)
		}
		return docs, p, found
	}
	if _, _, found := load(); found {
		t.Error("found without a file")
	}
	v.write(t, path)
	docs, p, found := load()
	if !found || p.in != len(v.ids) || p.out != 0 {
		t.Fatalf("%t, %d in the file, %d not", found, p.in, p.out)
	}
	if err := c.publish(docs); err != nil {
		t.Fatal(err)
	}
	if after := answersOf(t, c); after != before {
		t.Errorf("got %s\nwant %s", after, before)
	}

	one := v.raw[v.ids[0]]
	doc, err := retrieval.UnmarshalDocument(one)
	if err != nil {
		t.Fatal(err)
	}
	rule := *doc.Rule
	rule.Statement = "Something else."
	if v.raw[rule.ID], err = c.analyse(rule); err != nil {
		t.Fatal(err)
	}
	docs, p, found = load()
	if !found || p.in != len(v.ids)-1 || p.out != 1 || docs[len(docs)-1].Rule.Statement != rule.Statement {
		t.Errorf("a rule that is another one: %t, %d in the file, %d not", found, p.in, p.out)
	}
	v.raw[rule.ID] = one

	few := storedView{ids: v.ids[:3], raw: v.raw}
	few.write(t, path)
	if _, _, found := load(); found {
		t.Error("a file of few of the rules is used")
	}

	v.write(t, path)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, found := load(); found {
		t.Error("a damaged file is used")
	}
}

func TestManyRulesAreWorthAFile(t *testing.T) {
	for _, c := range []struct {
		in, out int
		want    bool
	}{{0, 300, false}, {0, 999, false}, {0, 1000, true}, {10000, 1000, false}, {10000, 2500, true}, {10000, 0, false}} {
		p := packed{in: c.in, out: c.out}
		if got := p.due(); got != c.want {
			t.Errorf("%d in the file and %d not: %t", c.in, c.out, got)
		}
		if p.failed = true; p.due() {
			t.Error("what failed is tried again")
		}
	}
}

// TestDamagedVectorIsMadeAgain: of a kept vector with one wrong bit nothing is
// believed.
func TestDamagedVectorIsMadeAgain(t *testing.T) {
	raw := sealed([]byte("a vector"))
	if content, whole := unsealed(raw); !whole || string(content) != "a vector" {
		t.Fatalf("%q %v", content, whole)
	}
	for i := range raw {
		raw[i] ^= 1
		if _, whole := unsealed(raw); whole {
			t.Errorf("byte %d is wrong, and nobody sees it", i)
		}
		raw[i] ^= 1
	}
	if _, whole := unsealed(raw[:7]); whole {
		t.Error("a file that was cut is whole")
	}
}
