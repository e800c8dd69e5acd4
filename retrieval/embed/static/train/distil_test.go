package train

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/retrieval/embed/static"
)

// scholar knows which topic every word belongs to, and nothing else.
type scholar struct {
	dim   int
	spoil func([][]float32) ([][]float32, error)
}

func (s scholar) EmbedBatch(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		v := make([]float32, s.dim)
		for k, topic := range topics {
			for _, word := range strings.Fields(strings.ToLower(text)) {
				if slices.Contains(topic, word) {
					v[k]++
				}
			}
		}
		v[len(topics)] = 0.1
		out[i] = v
	}
	if s.spoil != nil {
		return s.spoil(out)
	}
	return out, nil
}

func taught(dir string) Options {
	o := tiny(dir)
	o.Teacher, o.Lessons, o.Dim = scholar{dim: 24}, 300, 8
	return o
}

func TestATeacherAloneBringsATopicTogether(t *testing.T) {
	o := taught(topical(t, 240))
	o.Epochs = 0
	e := static.New(mustTrain(t, o).Table)
	near, far := cosine(e, "mutex deadlock", "goroutine contention"), cosine(e, "mutex deadlock", "stylesheet margin")
	if near < 0.8 || far > 0.2 {
		t.Errorf("one topic %.3f, two topics %.3f", near, far)
	}
}

func TestDistillingIsDeterministicOnAnyNumberOfProcessors(t *testing.T) {
	o := taught(topical(t, 240))
	want := mustTrain(t, o).Table.Encode()
	for _, processors := range []int{1, 3} {
		before := runtime.GOMAXPROCS(processors)
		got, err := Train(t.Context(), o, nil)
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Table.Encode(), want) {
			t.Fatalf("on %d processors the table is another", processors)
		}
	}
	for name, change := range map[string]func(*Options){
		"the teacher": func(o *Options) { o.Teacher = nil }, "the share kept": func(o *Options) { o.Keep = 0 },
		"the lessons": func(o *Options) { o.Lessons = 100 }, "the seed": func(o *Options) { o.Seed++ },
	} {
		other := o
		change(&other)
		if bytes.Equal(mustTrain(t, other).Table.Encode(), want) {
			t.Errorf("%s changes nothing", name)
		}
	}
}

func TestABadTeacherIsRefused(t *testing.T) {
	dir := topical(t, 40)
	broken := errors.New("out of order")
	for name, c := range map[string]struct {
		change func(*Options)
		want   error
	}{
		"too few dimensions": {func(o *Options) { o.Teacher, o.Dim = scholar{dim: 7}, 8 }, ErrTeacher},
		"a vector missing": {func(o *Options) {
			o.Teacher = scholar{24, func(v [][]float32) ([][]float32, error) { return v[1:], nil }}
		}, ErrTeacher},
		"two dimensions": {func(o *Options) {
			o.Teacher = scholar{24, func(v [][]float32) ([][]float32, error) { v[0] = v[0][:20]; return v, nil }}
		}, ErrTeacher},
		"no number": {func(o *Options) {
			o.Teacher = scholar{24, func(v [][]float32) ([][]float32, error) { v[0][3] = float32(math.NaN()); return v, nil }}
		}, ErrTeacher},
		"its own failure": {func(o *Options) {
			o.Teacher = scholar{24, func([][]float32) ([][]float32, error) { return nil, broken }}
		}, broken},
		"no lessons":       {func(o *Options) { o.Lessons = 0 }, ErrOptions},
		"no ridge":         {func(o *Options) { o.Ridge = 0 }, ErrOptions},
		"everything kept":  {func(o *Options) { o.Keep = 1 }, ErrOptions},
		"lessons of none":  {func(o *Options) { o.LessonWords = 0 }, ErrOptions},
		"rows of length 0": {func(o *Options) { o.StartLength = 0 }, ErrOptions},
	} {
		o := taught(dir)
		c.change(&o)
		if _, err := Train(t.Context(), o, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLessonsAreShortAndFormsAreAsWritten(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("Caching defines Caching latency ", 30)
	writeRecords(t, filepath.Join(dir, "a.jsonl.gz"), []Record{
		{Heading: "Caching", Body: long},
		{Heading: "cache defined", Body: long},
		{Heading: "Remarks", Body: "one two three"},
		{Heading: "remarks", Body: "four five six"},
		{Heading: "Remarks ", Body: "seven eight"},
	})
	o := taught(dir)
	o.Lessons, o.LessonWords = 100, 7
	texts, err := readTexts(t.Context(), o, func(Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	lessons, forms, err := readLessons(t.Context(), texts, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lessons {
		if n := len(strings.Fields(l.text)); n < 2 || n > 7 || strings.Contains(strings.ToLower(l.text), "remarks") {
			t.Errorf("a lesson is %q", l.text)
		}
	}
	// "Caching" alone is one word, the headings "Remarks" say nothing.
	if len(lessons) != 6 {
		t.Errorf("%d lessons", len(lessons))
	}
	var written []string
	for i, word := range texts.words {
		if word == "cach" || word == "cache" || word == "defin" || word == "define" {
			written = append(written, forms[i])
		}
	}
	slices.Sort(written)
	if !slices.Equal(written, []string{"caching", "defines"}) {
		t.Errorf("the words are written %q", written)
	}
}

// TestTheFitSolvesItsEquations checks that the gradient of the penalised squares
// is zero where the fit ends.
func TestTheFitSolvesItsEquations(t *testing.T) {
	const rows, dim, n, ridge = 12, 3, 40, 0.2
	random := rand.New(rand.NewPCG(5, 6))
	var sums []counted
	targets := make([]float32, n*dim)
	for i := range targets {
		targets[i] = float32(random.NormFloat64())
	}
	for range n {
		var words []int32
		for range 1 + random.IntN(5) {
			words = append(words, int32(random.IntN(rows)))
		}
		sums = append(sums, sumOf(words, func(word int32) []int32 { return []int32{word} }))
	}
	got := fit(sums, targets, rows, dim, ridge)
	for row := range rows {
		for d := range dim {
			gradient := ridge * float64(got[row*dim+d])
			for i, s := range sums {
				at := slices.Index(s.rows, int32(row))
				if at < 0 {
					continue
				}
				miss := -float64(targets[i*dim+d])
				for k, r := range s.rows {
					miss += float64(s.weights[k]) * float64(got[int(r)*dim+d])
				}
				gradient += float64(s.weights[at]) * miss
			}
			if math.Abs(gradient) > 1e-3 {
				t.Fatalf("row %d, dimension %d: the gradient is %g", row, d, gradient)
			}
		}
	}
}

func TestReducingKeepsWhatVariesMost(t *testing.T) {
	const n, width = 200, 5
	random := rand.New(rand.NewPCG(7, 8))
	x := make([]float32, n*width)
	for i := range n {
		a, b := random.NormFloat64(), random.NormFloat64()
		for c := range width { // a plane, off the origin, and a little noise
			x[i*width+c] = float32(4 + 3*a*float64(c) + b*float64(c*c%3) + 0.001*random.NormFloat64())
		}
	}
	y := reduce(x, width, 2)
	apart := func(x []float32, width, i, j int) float64 {
		var sum float64
		for c := range width {
			d := float64(x[i*width+c] - x[j*width+c])
			sum += d * d
		}
		return math.Sqrt(sum)
	}
	for i := 1; i < n; i++ {
		if before, after := apart(x, width, 0, i), apart(y, 2, 0, i); math.Abs(before-after) > 0.02*before+0.02 {
			t.Fatalf("two rows were %.3f apart and are %.3f", before, after)
		}
	}
}

func TestKeepingMovesBackToTheStart(t *testing.T) {
	rows, start := []float32{0, 4, 4, 0}, []float32{3, 0, 0, 3}
	keep(rows, start, 2, 0.25)
	for i, want := range []float32{0.25, 0.75, 0.75, 0.25} {
		if math.Abs(float64(rows[i]-want)) > 1e-6 {
			t.Fatalf("the rows are %v", rows)
		}
	}
}
