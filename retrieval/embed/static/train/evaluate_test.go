package train

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestNDCG(t *testing.T) {
	ranked := []Scored{{4, 9}, {2, 8}, {7, 7}}
	for _, c := range []struct {
		relevant []int
		want     float64
	}{
		{[]int{4}, 1},
		{[]int{2}, 1 / math.Log2(3)},
		{[]int{7, 4}, (1 + 0.5) / (1 + 1/math.Log2(3))},
		{[]int{5}, 0},
	} {
		relevant := map[int]bool{}
		for _, d := range c.relevant {
			relevant[d] = true
		}
		if got := ndcg(ranked, relevant); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %g, not %g", c.relevant, got, c.want)
		}
	}
}

func TestFuseScores(t *testing.T) {
	words := []Scored{{0, 4}, {1, 2}}
	meaning := []Scored{{0, 0.1}, {1, 0.5}, {2, 0.3}}
	got := best(fuseScores(words, meaning, 0.25), 10)
	// 0: 0.75·1 + 0, 1: 0.75·0.5 + 0.25·1, 2: 0.25·0.5
	want := []Scored{{0, 0.75}, {1, 0.625}, {2, 0.125}}
	for i := range want {
		if got[i].Document != want[i].Document || math.Abs(got[i].Score-want[i].Score) > 1e-12 {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	// No word matches, and all cosines are equal: nothing divides by zero.
	for _, s := range fuseScores(nil, []Scored{{0, 0.2}, {1, 0.2}}, 0.5) {
		if s.Score != 0 {
			t.Errorf("document %d scores %g", s.Document, s.Score)
		}
	}
}

func TestFuseRanks(t *testing.T) {
	got := best(fuseRanks([]Scored{{0, 4}, {1, 2}}, []Scored{{1, 0.5}, {2, 0.3}, {0, 0.1}}), 10)
	want := []Scored{{1, 1/62.0 + 1/61.0}, {0, 1/61.0 + 1/63.0}, {2, 1 / 62.0}}
	for i := range want {
		if got[i].Document != want[i].Document || math.Abs(got[i].Score-want[i].Score) > 1e-12 {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func TestBootstrap(t *testing.T) {
	var values []float64
	var own, shared []string
	for i := range 400 {
		values = append(values, float64(i/2%2)) // pairs of equal values
		own = append(own, string(rune('a'+i)))
		shared = append(shared, string(rune('a'+i/2)))
	}
	narrow, wide := bootstrap(values, own), bootstrap(values, shared)
	if narrow.Mean != 0.5 || wide.Mean != 0.5 || narrow.Low >= 0.5 || narrow.High <= 0.5 {
		t.Errorf("%+v and %+v", narrow, wide)
	}
	// The standard error of 400 coin tosses is 0.025; of 200 pairs, 0.035.
	if n, w := narrow.High-narrow.Low, wide.High-wide.Low; math.Abs(n-0.098) > 0.012 || math.Abs(w-0.139) > 0.016 {
		t.Errorf("the widths are %.3f and %.3f", n, w)
	}
	if got := bootstrap(nil, nil); got != (Interval{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestASetMustBeWhole(t *testing.T) {
	for name, text := range map[string]string{
		"not JSON":            `{"docs":`,
		"a document twice":    `{"docs":[{"id":"a"},{"id":"a"}]}`,
		"no answer":           `{"docs":[{"id":"a"}],"queries":[{"id":"1","q":"x"}]}`,
		"an unknown answer":   `{"docs":[{"id":"a"}],"queries":[{"id":"1","q":"x","rel":["b"]}]}`,
		"a list of documents": `[]`,
	} {
		if _, err := decodeSet("s", strings.NewReader(text)); !errors.Is(err, ErrSet) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadSets(t.TempDir()); !errors.Is(err, ErrSet) {
		t.Errorf("an empty folder: %v", err)
	}
	sets, err := ReadSets("testdata")
	if err != nil || len(sets) != 1 || sets[0].Name != "sample" || len(sets[0].Queries) != 10 {
		t.Fatalf("%d sets, %v", len(sets), err)
	}
	if d := sets[0].Documents[0]; !strings.HasPrefix(d.Text(), d.Title+". ") || (Document{Body: "b"}).Text() != "b" {
		t.Errorf("the text is %q", d.Text())
	}
}

func TestBestBreaksTiesByPlace(t *testing.T) {
	got := best([]Scored{{3, 1}, {1, 1}, {2, 5}}, 2)
	if !slices.Equal(got, []Scored{{2, 5}, {1, 1}}) {
		t.Errorf("got %v", got)
	}
}
