package retrieval

import (
	"encoding/json"
	"math"
	"reflect"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/writbus/writ/schemas"
)

// sameJSON compares with encoding/json.
func sameJSON(t interface{ Fatalf(string, ...any) }, a Answer) {
	want, err := json.Marshal(a)
	if err != nil {
		t.Fatalf("%v", err)
	}
	got, err := a.AppendJSON([]byte("before"))
	if err != nil || string(got) != "before"+string(want) {
		t.Fatalf("%v\ngot  %s\nwant before%s", err, got, want)
	}
}

func TestAnswersAreEncodedAsJSONDoes(t *testing.T) {
	ix := newTestIndex(t, corpusRules(), Options{})
	for _, q := range []Query{
		{},
		{Text: "retry a request after a timeout"},
		{Text: "retry a request after a timeout", Explain: true, BudgetTokens: 9000, Raw: true},
		{Text: "\"<b>\" & \xff \u2028", Explain: true, Raw: true, Limit: 50},
		{Text: "nothing of that kind", BudgetTokens: -1},
	} {
		for range 2 { // the second time from what was kept
			sameJSON(t, ix.Search(q))
		}
	}
	sameJSON(t, Answer{})
	sameJSON(t, Answer{Rules: []Hit{{}}, Stages: []Stage{}, Conflicts: []Conflict{{}, {Kept: "a", LeftOut: "b"}}})
}

func TestAnyAnswerIsEncodedAsJSONDoes(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"", "<a href=\"b\">&\\\x00\x1f\x7f\b\f\n\r\t", "\u2028\u2029\ufffd\xed\xa0\x80"}))
	number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1e-6, 9.99e-7, 1e-9, 1e21, 1e20, 123456789.125, math.MaxFloat64, math.SmallestNonzeroFloat64}),
		rapid.Map(rapid.Float64Range(-12, 25), func(x float64) float64 { return math.Pow(10, x) }))
	rapid.Check(t, func(t *rapid.T) {
		s, f := func() string { return text.Draw(t, "text") }, func() float64 { return number.Draw(t, "number") }
		a := Answer{
			Mode: s(), Probability: f(), Literal: rapid.Bool().Draw(t, "literal"), Embedder: s(), Problem: s(), Index: Info{Version: s(), Rules: rapid.Int().Draw(t, "n")},
			Block: s(), Stages: []Stage{{Name: s(), Nanos: rapid.Int64().Draw(t, "nanos")}}, Latency: Latency{Analyse: f(), Total: f()},
		}
		for range rapid.IntRange(0, 3).Draw(t, "hits") {
			a.Rules = append(a.Rules, Hit{
				ID: s(), Type: s(), Score: f(), Conflicts: rapid.SliceOfN(text, 0, 2).Draw(t, "conflicts"),
				Rule: schemas.Rule{ID: s(), Type: schemas.NodeType(s()), Title: s(), Tags: []string{s()}, Body: s(), Edges: []schemas.Edge{{}}, Skill: &schemas.Skill{}},
				Why:  Why{BM25: f(), Pinned: rapid.Bool().Draw(t, "pinned"), Ranks: Ranks{Pass1: rapid.Int().Draw(t, "rank")}, Terms: []Term{{Term: s(), Score: f()}}},
			})
		}
		sameJSON(t, a)
	})
}

// A field that is added later is not forgotten, though it is left out when empty.
func TestEveryFieldIsEncoded(t *testing.T) {
	var a Answer
	fill(reflect.ValueOf(&a).Elem())
	sameJSON(t, a)
}

// fill puts something into every exported field.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	default:
		switch {
		case v.CanInt():
			v.SetInt(1)
		case v.CanUint():
			v.SetUint(1)
		case v.CanFloat():
			v.SetFloat(1)
		}
	}
}

func TestWhatIsNoNumberCannotBeEncoded(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		a := Answer{Rules: []Hit{{Why: Why{Vector: x}}}}
		_, want := json.Marshal(a)
		if b, err := a.AppendJSON(nil); err == nil || b != nil || err.Error() != want.Error() {
			t.Errorf("%v: %q, %v, want %v", x, b, err, want)
		}
	}
}

func TestKeptRulesAreBounded(t *testing.T) {
	const n = 40
	k, rule := keepRules(n), schemas.Rule{ID: "A", Body: string(make([]byte, mostKept/6/20))} // six bytes for each
	var wg sync.WaitGroup
	for doc := range int32(n) {
		wg.Go(func() {
			for range 2 {
				if _, err := k.of(doc, &rule); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	kept := 0
	for i := range k.texts {
		if text := k.texts[i].Load(); text != nil {
			kept += len(*text)
		}
	}
	if kept == 0 || kept > mostKept {
		t.Errorf("%d bytes are kept, at most %d should be", kept, mostKept)
	}
}

func BenchmarkEncodeAnswer(b *testing.B) {
	a := newTestIndex(b, corpusRules(), Options{}).Search(Query{Text: "retry a request after a timeout", Raw: true})
	b.Run("marshal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(a); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		var buffer []byte
		for b.Loop() {
			var err error
			if buffer, err = a.AppendJSON(buffer[:0]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
