package retrieval

import (
	"fmt"
	"math"
	"math/rand"
	"sync/atomic"
	"testing"

	"github.com/writbus/writ/retrieval/lexical"
	"github.com/writbus/writ/schemas"
)

func TestTheFitFindsAKnownCurve(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	want := logistic{-1, 2, -0.5, 1, 0.8}
	var samples []sample
	for range 20000 {
		f := features{1, r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		samples = append(samples, sample{f, r.Float64() < want.at(f), 1})
	}
	got := logistic{}.fit(samples, features{1, 1, 1, 1, 1})
	for i := range want {
		if math.Abs(got[i]-want[i]) > 0.12 {
			t.Errorf("weight %d is %.3f, want %.3f", i, got[i], want[i])
		}
	}
}

func TestAFitWithoutCasesKeepsTheBelief(t *testing.T) {
	if got := believed.fit(nil, belief); got != believed {
		t.Errorf("%v", got)
	}
	same := []sample{{features{1, 1e300, 0, 0, 0}, true, 1}, {features{1, math.NaN(), 0, 0, 0}, false, 1}}
	if got := believed.fit(same, belief); got != believed {
		t.Errorf("cases that cannot be fitted: %v", got)
	}
}

func TestACorpusOfNoneOrOneRuleIsCalibrated(t *testing.T) {
	e := topical{words: []string{"mutex", "error"}}
	for n := range 3 {
		ix := newTestIndex(t, lockRules()[:n], Options{Embedder: e})
		for _, x := range ix.calibration.model {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("%d rules: %v", n, ix.calibration)
			}
		}
		if a := ix.Search(Query{Text: "a mutex is held too long"}); !(a.Probability >= 0 && a.Probability <= 1) {
			t.Errorf("%d rules: probability %v", n, a.Probability)
		}
	}
}

// Taking a symptom out of a rule is what the rule would score without it.
func TestWithoutASymptomIsTheRuleWithoutIt(t *testing.T) {
	rules := corpusRules()
	ix := newTestIndex(t, rules, Options{})
	text := rules[0].Symptoms[1]
	bare := rules[0]
	bare.Symptoms = []string{rules[0].Symptoms[0], rules[0].Symptoms[2]}
	terms := func(r schemas.Rule) (fields lexical.Fields) {
		Analyse(r).words.unpack(&fields)
		return fields
	}
	q := ix.words.Resolve(text, 0)
	got := ix.words.Without(q, terms(rules[0]), lexical.Trigger, lexical.CountTerms(text))
	want := ix.words.Without(q, terms(bare), lexical.Trigger, nil)
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%.6f, a rule written without it %.6f", got, want)
	}
	at := ix.ids[fold(rules[0].ID)]
	proof, _ := q.Judge(at, q.Score(at))
	if whole := ix.words.Without(q, terms(rules[0]), lexical.Trigger, nil); math.Abs(whole-proof) > 1e-9 || got >= whole {
		t.Errorf("with it %.6f, the index says %.6f, without it %.6f", whole, q.Score(at), got)
	}
}

func TestAQueryOfOneWordGivesTitlesAtMost(t *testing.T) {
	ix := newTestIndex(t, corpusRules(), Options{Embedder: topical{words: []string{"error", "context"}}})
	if a := ix.Search(Query{Text: "cancellation"}); a.Tier == TierInject {
		t.Errorf("p %.2f: %v", a.Probability, idsOf(a.Rules))
	}
	if a := ix.Search(Query{Text: "GO-CTX-001"}); a.Tier != TierInject {
		t.Errorf("a rule that is named: %s", a.Tier)
	}
}

func TestTheBackgroundBoundsWhatIsGiven(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	var samples []sample
	for range 200 {
		samples = append(samples, sample{features: features{1, r.Float64(), r.NormFloat64(), r.NormFloat64(), r.Float64()}})
	}
	for _, bias := range []float64{-20, -3, 5} {
		l := believed
		l[featureOne] = bias
		bound := l.atMost(0.15, samples)
		given := 0
		for _, s := range samples {
			if bound.at(s.features) >= injectFrom {
				given++
			}
		}
		if given > 30 || bias > 0 && given < 29 || bias < -15 && bound != l {
			t.Errorf("constant %.0f: %d of 200 are given", bias, given)
		}
	}
}

// Rules without symptoms have no cases to be fitted to; what talk finds bounds
// what is given all the same.
func TestTheBackgroundBoundsRulesWithoutSymptoms(t *testing.T) {
	e := counting{topical{words: []string{"good", "what", "much", "line", "time", "long", "years", "work"}}, "talking@1", new(atomic.Int64)}
	var rules []schemas.Rule
	for _, text := range background {
		rules = append(rules, schemas.Rule{ID: fmt.Sprintf("TALK-%03d", len(rules)), Title: text, Trigger: text, Statement: text})
	}
	ix := newTestIndex(t, rules, Options{Embedder: e})
	given := 0
	for _, text := range background {
		if a := ix.Search(Query{Text: text}); a.Tier == TierInject {
			given++
		}
	}
	if most := len(background) / 10; given > most {
		t.Errorf("%d of %d background texts are given rules that say the same, more than %d", given, len(background), most)
	}
}
