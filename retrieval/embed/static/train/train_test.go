package train

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/retrieval/embed/static"
)

func mustTrain(t testing.TB, o Options) Result {
	t.Helper()
	r, err := Train(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTrainingIsDeterministicOnAnyNumberOfProcessors(t *testing.T) {
	o := tiny(topical(t, 240))
	want := mustTrain(t, o)
	for _, processors := range []int{1, 2, 5, 1} {
		before := runtime.GOMAXPROCS(processors)
		got, err := Train(t.Context(), o, nil)
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Table.Encode(), want.Table.Encode()) || got.Loss != want.Loss {
			t.Fatalf("on %d processors the table is another (loss %g, %g)", processors, got.Loss, want.Loss)
		}
	}
	o.Seed++
	if bytes.Equal(mustTrain(t, o).Table.Encode(), want.Table.Encode()) {
		t.Error("the seed changes nothing")
	}
}

func TestTrainingBringsATopicTogether(t *testing.T) {
	r := mustTrain(t, tiny(topical(t, 240)))
	e := static.New(r.Table)
	near := cosine(e, "mutex deadlock", "goroutine contention")
	far := cosine(e, "mutex deadlock", "stylesheet margin")
	if near < far+0.2 {
		t.Errorf("one topic %.3f, two topics %.3f", near, far)
	}
	if r.Pairs != 240 || r.Steps != 24 || len(r.Sources) != 3 || r.Sources[0] != (Source{"source 0", 80}) || r.Words < 240*50 {
		t.Errorf("%d pairs, %d steps, %d words, sources %v", r.Pairs, r.Steps, r.Words, r.Sources)
	}
}

func cosine(e *static.Embedder, a, b string) float64 {
	x, _ := e.Embed(a)
	y, _ := e.Embed(b)
	var sum float64
	for i := range x {
		sum += float64(x[i]) * float64(y[i])
	}
	return sum
}

func TestContrastLowersTheLoss(t *testing.T) {
	o := tiny(topical(t, 240))
	var losses []float64
	_, err := Train(t.Context(), o, func(p Progress) {
		if p.Stage == "contrast" {
			losses = append(losses, p.Loss)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(losses) != 24 || losses[len(losses)-1] > losses[0]*0.9 {
		t.Errorf("the losses are %v", losses)
	}
}

func TestTrainRefuses(t *testing.T) {
	good := topical(t, 8)
	empty := t.TempDir()
	blank := t.TempDir()
	writeRecords(t, filepath.Join(blank, "a.jsonl.gz"), []Record{{Heading: "?", Body: "words"}, {Heading: "words", Body: "…"}})
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "a.jsonl.gz"), []byte("not gzip"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*Options)
		want   error
	}{
		"no words":            {func(o *Options) { o.Words = 0 }, ErrOptions},
		"no window":           {func(o *Options) { o.Window = 0 }, ErrOptions},
		"a batch of one":      {func(o *Options) { o.Batch = 1 }, ErrOptions},
		"no temperature":      {func(o *Options) { o.Temperature = 0 }, ErrOptions},
		"everything left out": {func(o *Options) { o.Dropout = 1 }, ErrOptions},
		"no files":            {func(o *Options) { o.Dir = empty }, ErrNoRecords},
		"no words in them":    {func(o *Options) { o.Dir = blank }, ErrNoRecords},
		"broken files":        {func(o *Options) { o.Dir = broken }, nil},
	} {
		o := tiny(good)
		c.change(&o)
		if _, err := Train(t.Context(), o, nil); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestABadLineIsNamed(t *testing.T) {
	err := readRecords(t.Context(), strings.NewReader("{\"heading\":\"a\"}\n\n{\"heading\":\n"), func(Record) {})
	if err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("the error is %v", err)
	}
	n := 0
	if err := readRecords(t.Context(), strings.NewReader("{\"heading\":\"a\"}\n{\"heading\":\"b\"}"), func(Record) { n++ }); err != nil || n != 2 {
		t.Errorf("%d records, %v", n, err)
	}
}

func TestTrainStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	_, err := Train(ctx, tiny(topical(t, 240)), func(p Progress) {
		if p.Stage == "contrast" {
			steps++
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || steps != 1 {
		t.Errorf("%v after %d steps", err, steps)
	}
}

func TestACommonHeadingGetsItsTitle(t *testing.T) {
	dir := t.TempDir()
	var records []Record
	for _, title := range []string{"alpha", "beta", "gamma"} {
		records = append(records, Record{Title: title, Path: []string{"upper", "nearer"}, Heading: "Example", Body: "body"})
	}
	records = append(records, Record{Title: "delta", Heading: "Rare", Body: "body"})
	writeRecords(t, filepath.Join(dir, "a.jsonl.gz"), records)
	texts, err := readTexts(t.Context(), tiny(dir), func(Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range texts.pairs {
		var words []string
		for _, id := range p.left {
			words = append(words, texts.words[id])
		}
		got = append(got, strings.Join(words, " "))
	}
	// Words are stemmed, so they are compared through the same reader.
	want := []string{"alpha nearer Example", "beta nearer Example", "gamma nearer Example", "Rare"}
	for i := range want {
		var w static.Words
		w.Reset(want[i])
		var words []string
		for word := w.Next(); word != nil; word = w.Next() {
			words = append(words, string(word))
		}
		want[i] = strings.Join(words, " ")
	}
	if !slices.Equal(got, want) {
		t.Errorf("the left texts are %q, not %q", got, want)
	}
}

func FuzzReadRecords(f *testing.F) {
	for _, seed := range []string{"", "{}", "{\"src\":\"a\",\"path\":[\"b\"]}\n{", "null\n[]\n", "{\"body\":\"\\ud800\"}\n", "\n\n\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := &reader{numbers: map[string]int32{}}
		_ = readRecords(t.Context(), strings.NewReader(text), func(record Record) { r.add(record, len(record.Title), 0) })
		for _, p := range r.out.pairs {
			for _, id := range append(slices.Clone(p.left), p.right...) {
				if int(id) >= len(r.out.words) {
					t.Fatalf("word %d of %d", id, len(r.out.words))
				}
			}
		}
	})
}
