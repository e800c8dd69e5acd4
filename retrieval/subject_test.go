package retrieval

import (
	"math"
	"math/rand"
	"testing"
)

// around are vectors of length one scattered around a direction.
func around(r *rand.Rand, n, dim, axis int) [][]float32 {
	vectors := make([][]float32, n)
	for i := range vectors {
		v := make([]float32, dim)
		for j := range v {
			v[j] = float32(r.NormFloat64() / 4)
		}
		v[axis]++
		vectors[i] = unit(v)
	}
	return vectors
}

func TestTheSubjectIsThatOfTheRules(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	rules, talk := around(r, 50, 16, 0), around(r, 80, 16, 1)
	s, _ := newSubject(rules, talk)
	for i, v := range around(r, 50, 16, 0) {
		if place := s.of(v); place < 1 {
			t.Errorf("text %d, of the rules' subject, is at %.2f", i, place)
		}
	}
	var sum float64
	for _, v := range around(r, 50, 16, 1) {
		sum += s.of(v) / 50
	}
	if math.Abs(sum) > 0.5 {
		t.Errorf("talk is at %.2f on average", sum)
	}
	twice := make([]float32, 16)
	for i, x := range talk[0] {
		twice[i] = 2 * x
	}
	if one, two := s.of(talk[0]), s.of(twice); math.Abs(one-two) > 1e-6 {
		t.Errorf("the same direction is at %.4f, and at %.4f twice as long", one, two)
	}
}

// A background text may not tell itself from the rules by its own part in the
// background: it is placed as if it were not there.
func TestABackgroundTextIsPlacedWithoutItself(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	rules, talk := around(r, 5, 8, 0), around(r, 6, 8, 1)
	_, places := newSubject(rules, talk)
	along := make([]float64, len(talk))
	for i := range talk {
		others := append(append([][]float32{}, talk[:i]...), talk[i+1:]...)
		without, _ := newSubject(rules, others)
		along[i], _ = project(talk[i], without.axis)
	}
	mean, spread := meanAndSpread(along)
	for i, place := range places {
		if want := standard(along[i], mean, spread); math.Abs(place-want) > 1e-6 {
			t.Errorf("text %d is at %.6f, without its part %.6f", i, place, want)
		}
	}
}

func TestASubjectOfTooLittleTellsNothing(t *testing.T) {
	v := []float32{1, 0}
	for name, s := range map[string]subject{
		"no rules":            first(newSubject(nil, [][]float32{v, v})),
		"no background":       first(newSubject([][]float32{v}, nil)),
		"one background text": first(newSubject([][]float32{v}, [][]float32{v, nil})),
		"other dimensions":    first(newSubject([][]float32{{1, 0, 0}}, [][]float32{v, v})),
	} {
		if place := s.of(v); place != 0 {
			t.Errorf("%s: %v", name, place)
		}
	}
	s, _ := newSubject([][]float32{{0, 1}}, [][]float32{{1, 0}, nil, {0.8, 0.6}})
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, v := range [][]float32{nil, {0, 0}, {nan, 1}, {inf, 1}, {1, 2, 3}} {
		if place := s.of(v); place != 0 {
			t.Errorf("%v is at %v", v, place)
		}
	}
	if s.of([]float32{0, 1}) <= s.of([]float32{1, 0}) {
		t.Error("the rules' own direction is not nearer to them")
	}
}

func first(s subject, _ []float64) subject { return s }
