package benchmark

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/schemas"
)

// fusion is a pair of weights that are chosen together.
type fusion struct{ alpha, cover float64 }

func (f fusion) profile() retrieval.Profile {
	return retrieval.Profile{
		Name: fmt.Sprintf("α %.1f, cover %.2f", f.alpha, f.cover), Fusion: retrieval.FusionConvex,
		Vector: f.alpha, BM25: 1 - f.alpha, Cover: f.cover, Severity: 0.06, Confidence: 0.04, Graph: 0.01, Pairs: retrieval.PairWeight,
	}
}

func fusions() []fusion {
	var all []fusion
	for alpha := 3; alpha <= 8; alpha++ {
		for cover := 0; cover <= 4; cover++ {
			all = append(all, fusion{float64(alpha) / 10, float64(cover) / 4})
		}
	}
	return all
}

// judgedSet is rules with queries, and the nDCG@10 of each ranking by its name.
type judgedSet struct {
	name   string
	rules  []schemas.Rule
	truth  []Query
	scores map[string]float64
}

// TestFusionOfDevelopmentSets prints for each embedder which weights the rule of
// DESIGN.md chooses over the folder's sets and the kinds of the shipped truth,
// and what each set has by the weights that are chosen without it.
func TestFusionOfDevelopmentSets(t *testing.T) {
	if *setsFolder == "" {
		t.Skip("no -sets FOLDER given")
	}
	for _, e := range comparedEmbedders(t) {
		sets := append(folderSets(t), shippedSets(t)...)
		for i := range sets {
			sets[i].judge(t, e)
			t.Logf("%s, %s: %.3f", e.Name(), sets[i].name, sets[i].scores["words"])
		}
		report(t, e.Name(), sets)
		if kept, ok := e.(*kept); ok {
			kept.save(t)
		}
	}
}

func folderSets(t *testing.T) []judgedSet {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(*setsFolder, "*.json.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sets in %s: %v", *setsFolder, err)
	}
	var sets []judgedSet
	for _, file := range files {
		rules, truth := developmentSet(t, file, true)
		sets = append(sets, judgedSet{name: strings.TrimSuffix(filepath.Base(file), ".json.gz"), rules: rules, truth: truth})
	}
	return sets
}

// shippedSets are the judged queries of the shipped rules that are for tuning, by
// kind.
func shippedSets(t *testing.T) []judgedSet {
	t.Helper()
	files, err := corpus.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	var rules []schemas.Rule
	for _, f := range files {
		rules = append(rules, f.Rule)
	}
	f, err := os.Open("../corpus/testdata/truth.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	truth, err := ReadTruth(f)
	if err != nil {
		t.Fatal(err)
	}
	held, err := os.ReadFile("../corpus/testdata/truth_held_out.txt")
	if err != nil {
		t.Fatal(err)
	}
	heldOut := strings.Fields(string(held))
	kinds := map[string][]Query{}
	for _, q := range truth {
		if !q.OffTopic() && !slices.Contains(heldOut, q.ID) {
			kinds[q.Kind] = append(kinds[q.Kind], q)
		}
	}
	var sets []judgedSet
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		sets = append(sets, judgedSet{name: "shipped " + kind, rules: rules, truth: kinds[kind]})
	}
	return sets
}

func (s *judgedSet) judge(t *testing.T, e retrieval.Embedder) {
	t.Helper()
	docs, err := retrieval.AnalyseAll(s.rules, e)
	if err != nil {
		t.Fatal(err)
	}
	profiles := []retrieval.Profile{{Name: "words", Fusion: retrieval.FusionConvex, BM25: 1, Severity: 0.06, Confidence: 0.04, Graph: 0.01, Pairs: retrieval.PairWeight}, compared[0]}
	for _, f := range fusions() {
		profiles = append(profiles, f.profile())
	}
	ix, err := retrieval.NewIndex(docs, retrieval.Options{Embedder: e, Profiles: profiles})
	if err != nil {
		t.Fatal(err)
	}
	s.scores = map[string]float64{}
	for _, p := range append(profiles, retrieval.Profile{}) {
		values, _ := gains(ix, s.truth, p.Name)
		for _, v := range values {
			s.scores[p.Name] += v / float64(len(values))
		}
	}
}

// choose is the rule: the weights with the best mean, the first of equals.
func choose(sets []judgedSet) fusion {
	return slices.MaxFunc(fusions(), func(a, b fusion) int { return cmp.Compare(meanOf(sets, a), meanOf(sets, b)) })
}

func meanOf(sets []judgedSet, f fusion) float64 {
	sum := 0.0
	for _, s := range sets {
		sum += s.scores[f.profile().Name]
	}
	return sum / float64(len(sets))
}

func report(t *testing.T, embedder string, sets []judgedSet) {
	t.Helper()
	chosen := choose(sets)
	t.Logf("%s: chosen %s", embedder, chosen.profile().Name)
	t.Logf("%-20s words alone  own  chosen  without it", "set")
	for i, s := range sets {
		others := choose(slices.Delete(slices.Clone(sets), i, i+1)).profile().Name
		t.Logf("%-20s %.3f %.3f %.3f %.3f %.3f (%s)", s.name, s.scores["words"], s.scores["alone"], s.scores[""], s.scores[chosen.profile().Name], s.scores[others], others)
	}
	for _, f := range fusions() {
		t.Logf("  %s: mean %.4f", f.profile().Name, meanOf(sets, f))
	}
}

// TestEverySetCountsAsMuchForFusion: a set's size is nothing to the rule.
func TestEverySetCountsAsMuchForFusion(t *testing.T) {
	one, two := fusion{0.3, 0.5}, fusion{0.6, 0.25}
	sets := []judgedSet{
		{scores: map[string]float64{one.profile().Name: 0.9, two.profile().Name: 0.85}},
		{scores: map[string]float64{one.profile().Name: 0.4, two.profile().Name: 0.5}, truth: make([]Query, 1)},
	}
	if got := choose(sets); got != two {
		t.Errorf("chosen %v over both", got)
	}
	if got := choose(sets[:1]); got != one {
		t.Errorf("chosen %v over the first", got)
	}
}
