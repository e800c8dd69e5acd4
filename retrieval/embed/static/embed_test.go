package static

import (
	"math"
	"strings"
	"sync"
	"testing"
)

func shippedEmbedder(t testing.TB) *Embedder {
	t.Helper()
	e, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func checkLength(t testing.TB, v []float32) {
	t.Helper()
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square != 0 && math.Abs(square-1) > 1e-5 || math.IsNaN(square) {
		t.Fatalf("the square of the length is %g", square)
	}
}

func cosine(t testing.TB, e *Embedder, a, b string) float64 {
	t.Helper()
	x, _ := e.Embed(a)
	y, _ := e.Embed(b)
	var sum float64
	for i := range x {
		sum += float64(x[i]) * float64(y[i])
	}
	return sum
}

// The documented formula, in floating point.
func TestEmbedIsTheNormalisedWeightedSum(t *testing.T) {
	table := small(t)
	text := "Cats, cat and a dog; dogs cats lock zebra"
	counts := map[int32]float64{}
	for _, word := range wordsOf(text) {
		if row, ok := table.lookup[word]; ok {
			counts[row]++
			continue
		}
		for _, bucket := range AppendGrams(nil, []byte(word), table.Buckets()) {
			counts[int32(len(table.words))+bucket]++
		}
	}
	if counts[0] != 3 || counts[1] != 2 || len(counts) != 5 {
		t.Fatalf("the tokens are %v", counts)
	}
	want := make([]float64, table.Dim())
	var square float64
	for d := range want {
		for row, n := range counts {
			want[d] += float64(table.scales[row]) * float64(int8(table.rows[int(row)*table.Dim()+d])) * math.Sqrt(n)
		}
		square += want[d] * want[d]
	}
	got, _ := New(table).Embed(text)
	for d := range want {
		if math.Abs(float64(got[d])-want[d]/math.Sqrt(square)) > 0.002 { // roots are rounded to 1/256
			t.Errorf("dimension %d is %g, not %g", d, got[d], want[d]/math.Sqrt(square))
		}
	}
}

func TestEmbedDoesNotCareForOrder(t *testing.T) {
	e := shippedEmbedder(t)
	a, _ := e.Embed("close the response body of every request, readAllBytes frobnicates")
	b, _ := e.Embed("frobnicates every request, close body readAllBytes the response of")
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("dimension %d: %g and %g", i, a[i], b[i])
		}
	}
}

func TestTextsWithoutWordsAreZero(t *testing.T) {
	e := shippedEmbedder(t)
	for _, text := range []string{"", " \n\t", "…!?", "\xff\xfe", "1234567"} {
		v, err := e.Embed(text)
		if err != nil || len(v) != e.Dim() {
			t.Fatalf("%q: %d dimensions, %v", text, len(v), err)
		}
		for _, x := range v {
			if x != 0 {
				t.Fatalf("%q has a direction", text)
			}
		}
	}
}

func TestALongTextEmbeds(t *testing.T) {
	e := shippedEmbedder(t)
	v, _ := e.Embed(strings.Repeat("lock mutex deadlock zzyzx ", 1<<16))
	checkLength(t, v)
	if after, _ := e.Embed(""); after[0] != 0 {
		t.Error("it left something behind")
	}
	if got := cosine(t, e, strings.Repeat("lock mutex ", 5000), "lock mutex"); got < 0.9999 {
		t.Errorf("repetition turns a text: cosine %g", got)
	}
}

func TestConcurrentUseGivesTheSameVectors(t *testing.T) {
	e := shippedEmbedder(t)
	texts := strings.Fields("lock thread goroutine xyzzyplugh database transaction retry backoff")
	want := make([][]float32, len(texts))
	for i, text := range texts {
		want[i], _ = e.Embed(text)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for i := range 400 {
				got, _ := e.Embed(texts[i%len(texts)])
				for d := range got {
					if got[d] != want[i%len(texts)][d] {
						t.Errorf("%s differs", texts[i%len(texts)])
						return
					}
				}
			}
		})
	}
	wait.Wait()
}

func TestTheShippedTable(t *testing.T) {
	e := shippedEmbedder(t)
	if words := len(e.table.words); words != 10_000 || e.table.Buckets() != 8192 || e.Dim() != 128 || len(shipped) > 3<<20 {
		t.Errorf("%d words, %d buckets, %d dimensions, %d bytes", words, e.table.Buckets(), e.Dim(), len(shipped))
	}
	if !strings.HasPrefix(e.Name(), "static@") || len(e.Name()) != len("static@")+8 {
		t.Errorf("it is called %q", e.Name())
	}
	for _, c := range []struct{ text, near, far string }{
		{"the program hangs forever", "deadlock between two threads", "format the date in the local time zone"},
		{"secret in the source code", "hard-coded password", "sort a list of numbers"},
		{"unit test is flaky", "test fails now and then", "database index on a foreign key"},
		{"frobnicatorDeadlocked", "deadlock", "colour"},
	} {
		if near, far := cosine(t, e, c.text, c.near), cosine(t, e, c.text, c.far); near < far+0.1 {
			t.Errorf("%q: %.3f to %q, %.3f to %q", c.text, near, c.near, far, c.far)
		}
	}
}

func TestEmbedAllocatesOnlyTheVector(t *testing.T) {
	e := shippedEmbedder(t)
	v := make([]float32, e.Dim())
	query := "why does my HTTP handler block when the database connection pool is full"
	// Not through the pool, which drops what it holds at will.
	s := e.scratch.Get().(*scratch)
	e.embed(s, v, query)
	// The least of some runs: all of the process is counted.
	least := math.Inf(1)
	for range 10 {
		least = min(least, testing.AllocsPerRun(100, func() { e.embed(s, v, query) }))
	}
	if least > 0 {
		t.Errorf("embedding allocates %g times", least)
	}
}

func FuzzEmbed(f *testing.F) {
	for _, seed := range []string{"", "close resp.Body", "\xff\x00", "日本語 frobnicate", strings.Repeat("a ", 70000)} {
		f.Add(seed)
	}
	e := shippedEmbedder(f)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := e.Embed(text)
		if err != nil {
			t.Fatal(err)
		}
		checkLength(t, v)
	})
}

func BenchmarkEmbed(b *testing.B) {
	e := shippedEmbedder(b)
	v := make([]float32, e.Dim())
	for _, c := range []struct{ name, text string }{
		{"12words", "why does my http handler block when the connection pool is full"},
		{"12words-2unknown", "why does frobnicateAll block when the xyzzyplughd connection pool is full again"},
		{"300words", strings.Repeat("Close the response body of every request, or connections leak until the pool is empty. ", 20)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e.EmbedInto(v, c.text)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for b.Loop() {
		if _, err := Decode(shipped); err != nil {
			b.Fatal(err)
		}
	}
}
