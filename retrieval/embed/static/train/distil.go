package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/writbus/writ/retrieval/embed/static"
)

// ErrTeacher is returned by [Train] for a teacher whose vectors cannot be learnt
// from.
var ErrTeacher = errors.New("train: the teacher's vectors cannot be used")

// Teacher is a sentence encoder from which a table can start. It returns one
// vector a text, all of one dimension.
type Teacher interface {
	EmbedBatch(ctx context.Context, texts []string) ([][]float32, error)
}

// Parameters of the lessons.
const (
	lessonBatch  = 256 // texts encoded between two reports
	lessonStream = 77  // of the seed's random numbers
)

// lesson is a text and its words.
type lesson struct {
	text  string
	words []int32
}

// distilled are rows before the contrast that are fitted to a teacher: the sum
// of a text's rows shall be the teacher's vector of it, centred and reduced to
// the table's dimensions. Lessons are training texts, shortened, and every word
// that has a row, once whole and once spelled.
func distilled(ctx context.Context, t *texts, v *vocabulary, opt Options, report func(Progress)) ([]float32, error) {
	lessons, forms, err := readLessons(ctx, t, opt)
	if err != nil {
		return nil, err
	}
	var known []int32
	for id := range t.words {
		if v.own[id] >= 0 {
			known = append(known, int32(id))
			lessons = append(lessons, lesson{forms[id], []int32{int32(id)}})
		}
	}
	targets, err := teach(ctx, lessons, opt, report)
	if err != nil {
		return nil, err
	}
	report(Progress{Stage: "fit"})
	var sums []counted
	for _, l := range lessons {
		sums = append(sums, sumOf(l.words, v.of))
	}
	first := len(lessons) - len(known)
	for i, id := range known {
		sums = append(sums, sumOf([]int32{id}, func(word int32) []int32 { return v.spelled[word] }))
		targets = append(targets, line(targets, first+i, opt.Dim)...)
	}
	rows := fit(sums, targets, v.rows, opt.Dim, opt.Ridge)
	if length := meanLength(rows, opt.Dim); length > 0 {
		scale(rows, float32(opt.StartLength/length))
	}
	return rows, ctx.Err()
}

// readLessons picks training texts, cut to a run of words, and finds how each
// word is written most often: a teacher does not know stems.
func readLessons(ctx context.Context, t *texts, opt Options) (lessons []lesson, forms []string, err error) {
	r := &speller{numbers: make(map[string]int32, len(t.words)), forms: make([]map[string]int, len(t.words))}
	for i, word := range t.words {
		r.numbers[word] = int32(i)
	}
	headings := map[string]int{}
	var records []Record
	err = readFolder(ctx, opt.Dir, func(record Record) {
		headings[strings.ToLower(strings.TrimSpace(record.Heading))]++
		records = append(records, record)
		r.read(record.Heading)
		r.read(record.Body)
	})
	if err != nil {
		return nil, nil, err
	}
	random := rand.New(rand.NewPCG(opt.Seed, lessonStream))
	for _, place := range random.Perm(2 * len(records)) {
		if len(lessons) == opt.Lessons {
			break
		}
		text := records[place/2].Body
		if place%2 == 0 {
			text = records[place/2].Heading
			if headings[strings.ToLower(strings.TrimSpace(text))] > commonHeading {
				continue
			}
		}
		text = excerpt(text, opt.LessonWords, random)
		if words := r.read(text); len(words) > 1 {
			lessons = append(lessons, lesson{text, words})
		}
	}
	for i := range t.words {
		forms = append(forms, r.form(t, i))
	}
	return lessons, forms, nil
}

// excerpt is a run of words of a text: its beginning every other time.
func excerpt(text string, words int, random *rand.Rand) string {
	fields := strings.Fields(text)
	if len(fields) <= words {
		return text
	}
	from := 0
	if random.IntN(2) == 0 {
		from = random.IntN(len(fields) - words)
	}
	return strings.Join(fields[from:from+words], " ")
}

// speller counts how the words of the texts are written.
type speller struct {
	numbers map[string]int32
	forms   []map[string]int
	words   static.Words
}

func (s *speller) read(text string) []int32 {
	var ids []int32
	s.words.Reset(text)
	for word := s.words.Next(); word != nil; word = s.words.Next() {
		id, ok := s.numbers[string(word)]
		if !ok {
			continue
		}
		ids = append(ids, id)
		if s.forms[id] == nil {
			s.forms[id] = map[string]int{}
		}
		s.forms[id][strings.ToLower(s.words.Written())]++
	}
	return ids
}

// form is the most frequent one, of equals the first.
func (s *speller) form(t *texts, word int) string {
	best, most := t.words[word], 0
	for form, n := range s.forms[word] {
		if n > most || n == most && form < best {
			best, most = form, n
		}
	}
	return best
}

// teach returns what the lessons' sums shall be, opt.Dim values each.
func teach(ctx context.Context, lessons []lesson, opt Options, report func(Progress)) ([]float32, error) {
	var all []float32
	width := 0
	for from := 0; from < len(lessons); from += lessonBatch {
		report(Progress{Stage: "encode", Done: from, Total: len(lessons)})
		var batch []string
		for _, l := range lessons[from:min(from+lessonBatch, len(lessons))] {
			batch = append(batch, l.text)
		}
		vectors, err := opt.Teacher.EmbedBatch(ctx, batch)
		if err != nil {
			return nil, fmt.Errorf("train: encode lessons: %w", err)
		}
		if len(vectors) != len(batch) {
			return nil, fmt.Errorf("%w: %d vectors of %d texts", ErrTeacher, len(vectors), len(batch))
		}
		for _, v := range vectors {
			if width == 0 {
				width = len(v)
			}
			if len(v) != width || width < opt.Dim {
				return nil, fmt.Errorf("%w: %d dimensions, then %d, for a table of %d", ErrTeacher, width, len(v), opt.Dim)
			}
			all = append(all, v...)
		}
	}
	for _, x := range all {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return nil, fmt.Errorf("%w: a value is not a number", ErrTeacher)
		}
	}
	targets := reduce(all, width, opt.Dim)
	for i := range lessons {
		target := line(targets, i, opt.Dim)
		if length := norm(target); length > 0 {
			scale(target, float32(1/length))
		}
	}
	return targets, nil
}

// sumOf is a text as the weighted rows whose sum has about length one.
func sumOf(words []int32, rowsOf func(int32) []int32) counted {
	at := map[int32]int{}
	var c counted
	var total float64
	for _, word := range words {
		for _, row := range rowsOf(word) {
			k, ok := at[row]
			if !ok {
				k = len(c.rows)
				at[row] = k
				c.rows, c.weights = append(c.rows, row), append(c.weights, 0)
			}
			c.weights[k]++
			total++
		}
	}
	for k, n := range c.weights {
		c.weights[k] = float32(math.Sqrt(float64(n) / total))
	}
	return c
}

// keep moves trained rows back towards where they started, by a share, both
// taken at equal length: between the two lie tables that generalise better than
// either (Wortsman et al., "Robust fine-tuning of zero-shot models", CVPR 2022).
func keep(rows, start []float32, dim int, share float64) {
	trained, before := meanLength(rows, dim), meanLength(start, dim)
	if trained == 0 || before == 0 {
		return
	}
	scale(rows, float32((1-share)/trained))
	addScaled(rows, start, float32(share/before))
}

// meanLength is the root of the mean square of the rows' lengths, of those that
// have any.
func meanLength(rows []float32, dim int) float64 {
	var sum, n float64
	for i := range len(rows) / dim {
		if length := norm(line(rows, i, dim)); length > 0 {
			sum += float64(length * length)
			n++
		}
	}
	return math.Sqrt(sum / max(n, 1))
}
