package retrieval

import (
	"math"
	"slices"
	"sync"

	"github.com/writbus/writ/retrieval/bm25"
	"github.com/writbus/writ/retrieval/lexical"
)

// What the judgement of relevance looks at, beside a constant: how many
// perfectly matched rare words a rule's score amounts to, how far its cosine
// stands out from those of texts that mean nothing, how much nearer the text is
// to the rules than to such texts, and how many words it has: of a short one, a
// rule that is meant has little to show.
const (
	featureOne = iota
	featureWorth
	featureCosine
	featureSubject
	featureWords
	numFeatures
)

type features [numFeatures]float64

// sample is a judged case: features, whether the rule was meant, and how much
// an error weighs.
type sample struct {
	features
	meant  bool
	weight float64
}

// logistic is a logistic function of features.
type logistic features

func (l logistic) at(f features) float64 { return 1 / (1 + math.Exp(-l.height(f))) }

// height is the logarithm of the odds.
func (l logistic) height(f features) float64 {
	var z float64
	for i, x := range f {
		z += float64(l[i] * x)
	}
	return z
}

// newtonSteps is more than the fit needs: it converges in under ten.
const newtonSteps = 25

// fit is the most probable logistic function given the samples and a Gaussian
// belief of the given precisions around what it starts from; Newton's method.
func (l logistic) fit(samples []sample, precision features) logistic {
	w := l
	for range newtonSteps {
		var gradient features
		var hessian [numFeatures][numFeatures]float64
		for i := range w {
			gradient[i] = float64(precision[i] * (w[i] - l[i]))
			hessian[i][i] = precision[i]
		}
		for _, s := range samples {
			p := w.at(s.features)
			residual := s.weight * (p - Indicate(s.meant))
			bend := s.weight * p * (1 - p)
			for i, x := range s.features {
				gradient[i] += float64(residual * x)
				for j, y := range s.features {
					hessian[i][j] += float64(bend * float64(x*y))
				}
			}
		}
		step, ok := solve(hessian, gradient)
		if !ok {
			return l
		}
		for i := range w {
			w[i] -= step[i]
		}
	}
	for _, x := range w {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return l
		}
	}
	return w
}

// solve is Gaussian elimination with partial pivots.
func solve(a [numFeatures][numFeatures]float64, b features) (features, bool) {
	for col := range numFeatures {
		pivot := col
		for row := col + 1; row < numFeatures; row++ {
			if math.Abs(a[row][col]) > math.Abs(a[pivot][col]) {
				pivot = row
			}
		}
		if math.Abs(a[pivot][col]) < 1e-12 {
			return b, false
		}
		a[col], a[pivot], b[col], b[pivot] = a[pivot], a[col], b[pivot], b[col]
		for row := range numFeatures {
			if row == col {
				continue
			}
			factor := a[row][col] / a[col][col]
			for k := col; k < numFeatures; k++ {
				a[row][k] -= float64(factor * a[col][k])
			}
			b[row] -= float64(factor * b[col])
		}
	}
	for i := range b {
		b[i] /= a[i][i]
	}
	return b, true
}

// calibration judges relevance in an index with vectors.
type calibration struct {
	model logistic
	// mean and spread are those of the best cosine of the background texts.
	mean, spread float64
	subject      subject
}

// believed is what a calibration starts from: fitted on judged queries, those
// for tuning, of the shipped corpus and of public ones, with two embedders; see
// DESIGN.md.
var believed = logistic{-13.4, 8.9, 0.54, 1.03, 4.8}

// belief is how strongly, by its precisions. The slopes are held: a symptom's
// own rule tells them worse than judged queries did, and the fit then mostly
// moves the constant, to where this embedder and this corpus have it.
var belief = features{2, 30, 300, 300, 30}

const (
	// mostCases bounds the work of a fit.
	mostCases = 128
	// enoughCases are those whose fit counts in full.
	enoughCases = 60
	// oddsMeant is how many prompts ask for a rule for one that does not, less
	// what a needless rule costs more than a missed one.
	oddsMeant = 0.6
	// mostWords is the length, in distinct words, from which a text is long.
	mostWords = 8
	// leastSpread keeps a degenerate embedder from making every cosine certain.
	leastSpread = 0.01
)

// features of a candidate under the calibration.
func (c *calibration) features(words int, proof, rarest, cosine, subject float64) features {
	return features{
		featureOne: 1, featureWorth: math.Log1p(proof / ((bm25.K1 + 1) * rarest)), featureCosine: standard(cosine, c.mean, c.spread),
		featureSubject: subject, featureWords: math.Log1p(float64(min(words, mostWords))),
	}
}

// calibrate fits the judgement of relevance to the index's own rules: each
// symptom, as a text that means its rule, judged as if the rule did not have
// it; against the best that the background texts find.
func (ix *Index) calibrate() {
	ix.calibration = calibration{model: believed, mean: 0, spread: 1}
	if ix.vectors == nil {
		return
	}
	probes := ix.probes()
	if len(probes) == 0 {
		return
	}
	ix.standardise(probes)
	var samples []sample
	for _, p := range probes {
		if p.found {
			samples = append(samples, sample{features: ix.calibration.features(p.words, p.proof, ix.words.Rarest(), p.cosine, p.subject)})
		}
	}
	unmeant := len(samples)
	samples = append(samples, ix.meant()...)
	meant := len(samples) - unmeant
	if meant == 0 || unmeant == 0 {
		ix.calibration.model = believed.atMost(backgroundShare, samples[:unmeant])
		return
	}
	trust := min(1, float64(meant)/enoughCases)
	for i := range samples {
		if samples[i].meant {
			samples[i].weight = trust * oddsMeant * enoughCases / float64(meant)
		} else {
			samples[i].weight = trust * enoughCases / float64(unmeant)
		}
	}
	ix.calibration.model = believed.fit(samples, belief).atMost(backgroundShare, samples[:unmeant])
}

// backgroundShare is how many of the background texts may be given rules.
const backgroundShare = 0.04

// atMost lowers the constant until no more than a share of the samples is
// certain enough for their text.
func (l logistic) atMost(share float64, samples []sample) logistic {
	if len(samples) == 0 {
		return l
	}
	heights := make([]float64, len(samples))
	for i, s := range samples {
		heights[i] = l.height(s.features)
	}
	slices.Sort(heights)
	// The first that may not be given lands just below the odds of injectFrom.
	first := heights[len(heights)-1-min(int(share*float64(len(heights))), len(heights)-1)]
	l[featureOne] -= max(first+1e-9, 0)
	return l
}

// probe is what a background text finds: the best of pass one, if any, and the
// best cosine.
type probe struct {
	found                             bool
	words                             int
	proof, cosine, topCosine, subject float64
}

// probes searches for the background texts, up to pass one.
func (ix *Index) probes() []probe {
	var probes []probe
	scratch := newScratch(len(ix.docs))
	vectors := backgroundVectors(ix.opt.Embedder)
	subject, places := newSubject(ix.sampled(), vectors)
	ix.calibration.subject = subject
	for i, v := range vectors {
		if v == nil {
			continue
		}
		s := &search{ix: ix, text: background[i], vector: v, scratch: scratch, answer: Answer{Embedder: ix.embedder}}
		s.profile = ix.profile("", true)
		ix.words.ResolveInto(&s.words, s.text, s.profile.Pairs)
		s.keep = s.filter()
		s.lexical()
		s.vectors()
		s.score()
		p := probe{topCosine: s.bestCosine(), subject: places[i], words: s.words.Words()}
		if order := s.sorted(0, true); len(order) > 0 {
			best := &s.pool[order[0]]
			p.found, p.cosine = true, best.cosine
			p.proof, _ = s.words.Judge(best.doc, best.bm25)
		}
		probes = append(probes, p)
		scratch.empty()
	}
	return probes
}

func (ix *Index) standardise(probes []probe) {
	tops := make([]float64, len(probes))
	for i, p := range probes {
		tops[i] = p.topCosine
	}
	ix.calibration.mean, ix.calibration.spread = meanAndSpread(tops)
}

// sampled are the vectors of some rules, spread over the index.
func (ix *Index) sampled() [][]float32 {
	var retrievable []int32
	for i := range ix.docs {
		if ix.kinds[i].retrievable && ix.kinds[i].given {
			retrievable = append(retrievable, int32(i))
		}
	}
	var vectors [][]float32
	for i := range min(mostCases, len(retrievable)) {
		m := ix.docs[retrievable[i*len(retrievable)/min(mostCases, len(retrievable))]].meaning
		for view := range m.vectors() {
			vectors = append(vectors, m.vector(view))
		}
	}
	return vectors
}

// meant are cases whose rule is known, spread over the index.
func (ix *Index) meant() []sample {
	var cases []sample
	var with []int32
	for i := range ix.docs {
		if ix.kinds[i].retrievable && ix.kinds[i].given && len(ix.docs[i].Rule.Symptoms) > 0 {
			with = append(with, int32(i))
		}
	}
	n := min(mostCases, len(with))
	for i := range n {
		doc := with[i*len(with)/n]
		if f, ok := ix.withoutSymptom(doc, i%len(ix.docs[doc].Rule.Symptoms)); ok {
			cases = append(cases, sample{features: f, meant: true})
		}
	}
	return cases
}

// withoutSymptom asks for a rule by one of its symptoms and judges the rule as
// if it did not have it.
func (ix *Index) withoutSymptom(doc int32, symptom int) (features, bool) {
	d := &ix.docs[doc]
	view := firstSymptom + symptom
	if view >= d.meaning.vectors() {
		return features{}, false
	}
	text, asked := d.Rule.Symptoms[symptom], d.meaning.vector(view)
	q := ix.words.Resolve(text, 0)
	var fields lexical.Fields
	d.wording().unpack(&fields)
	proof := ix.words.Without(q, fields, lexical.Trigger, lexical.CountTerms(text))
	cosine := -1.0
	for i := range d.meaning.vectors() {
		if i != view {
			cosine = max(cosine, near(asked, d.meaning.vector(i)))
		}
	}
	return ix.calibration.features(q.Words(), proof, ix.words.Rarest(), cosine, ix.calibration.subject.of(asked)), true
}

// backgroundVectors embeds the background texts, once for each embedder: they
// are a function of its name. Texts it fails on have none.
func backgroundVectors(e Embedder) [][]float32 {
	if kept, ok := backgrounds.Load(e.Name()); ok {
		return kept.([][]float32)
	}
	vectors, err := embedTexts(e, background)
	if err != nil {
		vectors = make([][]float32, len(background))
		for i, text := range background {
			vectors[i], _ = e.Embed(text)
		}
	}
	for i, v := range vectors {
		if v != nil {
			vectors[i] = unit(v)
		}
	}
	backgrounds.Store(e.Name(), vectors)
	return vectors
}

var backgrounds sync.Map // embedder name to [][]float32
