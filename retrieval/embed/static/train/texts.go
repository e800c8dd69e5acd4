package train

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/embed/static"
)

// commonHeading is how often a heading may stand before it says too little on
// its own and its page's title is put before it.
const commonHeading = 2

// texts are the training texts as words, numbered in the order of their first
// appearance.
type texts struct {
	pairs   []pair
	words   []string
	holding []int // per word: texts that hold it
	uses    []int // per word: times it stands anywhere
	total   int
	sources []Source
}

// pair is a short text and the long one it belongs to.
type pair struct {
	left, right []int32
	source      int32
	key         uint64 // of the left text: pairs that share it are no negatives
}

// reader numbers words.
type reader struct {
	out     texts
	numbers map[string]int32
	last    []int32 // per word: the text that held it last, so that holding counts texts
	text    int32
	words   static.Words
}

func readTexts(ctx context.Context, opt Options, report func(Progress)) (*texts, error) {
	headings := map[string]int{}
	var records []Record
	err := readFolder(ctx, opt.Dir, func(r Record) {
		headings[strings.ToLower(strings.TrimSpace(r.Heading))]++
		records = append(records, r)
	})
	if err != nil {
		return nil, err
	}
	r := &reader{numbers: map[string]int32{}}
	bySource := map[string]int{}
	sources := sourceNumbers(records)
	for i, record := range records {
		if i%4096 == 0 {
			report(Progress{Stage: "read", Done: i, Total: len(records)})
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		bySource[record.Source]++
		r.add(record, headings[strings.ToLower(strings.TrimSpace(record.Heading))], sources[record.Source])
	}
	if len(r.out.pairs) < 2 {
		return nil, fmt.Errorf("%w: %s holds %d pairs of texts with words", ErrNoRecords, opt.Dir, len(r.out.pairs))
	}
	for _, name := range slices.Sorted(maps.Keys(bySource)) {
		r.out.sources = append(r.out.sources, Source{name, bySource[name]})
	}
	return &r.out, nil
}

func sourceNumbers(records []Record) map[string]int32 {
	numbers := map[string]int32{}
	for _, r := range records {
		if _, ok := numbers[r.Source]; !ok {
			numbers[r.Source] = int32(len(numbers))
		}
	}
	return numbers
}

func (r *reader) add(record Record, uses int, source int32) {
	heading := record.Heading
	if uses > commonHeading {
		heading = record.Title + " " + last(record.Path) + " " + heading
	}
	p := pair{left: r.read(heading), right: r.read(record.Body), source: source}
	if len(p.left) == 0 || len(p.right) == 0 {
		return
	}
	h := fnv.New64a()
	for _, word := range p.left {
		_, _ = h.Write([]byte{byte(word), byte(word >> 8), byte(word >> 16), byte(word >> 24)})
	}
	p.key = h.Sum64()
	r.out.pairs = append(r.out.pairs, p)
}

func last(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return path[len(path)-1]
}

// read numbers the words of a text.
func (r *reader) read(text string) []int32 {
	r.text++
	var ids []int32
	r.words.Reset(text)
	for word := r.words.Next(); word != nil; word = r.words.Next() {
		id, ok := r.numbers[string(word)]
		if !ok {
			id = int32(len(r.out.words))
			r.out.words = append(r.out.words, string(word))
			r.numbers[string(word)] = id
			r.out.holding = append(r.out.holding, 0)
			r.out.uses = append(r.out.uses, 0)
			r.last = append(r.last, 0)
		}
		r.out.uses[id]++
		if r.last[id] != r.text {
			r.last[id] = r.text
			r.out.holding[id]++
		}
		ids = append(ids, id)
	}
	r.out.total += len(ids)
	return ids
}

// vocabulary says which rows a word adds up from: its own, or those of its
// n-grams.
type vocabulary struct {
	words    []string  // that have rows, ascending
	own      []int32   // per word of the texts: its row, or -1
	spelled  [][]int32 // per word of the texts: the rows of its n-grams
	contexts []int32   // per word of the texts: its place among the contexts, or -1
	rows     int
}

func newVocabulary(t *texts, opt Options) *vocabulary {
	order := make([]int32, len(t.words))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.holding[b], t.holding[a]), cmp.Compare(t.words[a], t.words[b]))
	})
	v := &vocabulary{own: make([]int32, len(order)), spelled: make([][]int32, len(order)), contexts: make([]int32, len(order))}
	for _, id := range order[:min(opt.Words, len(order))] {
		v.words = append(v.words, t.words[id])
	}
	slices.Sort(v.words)
	v.rows = len(v.words) + opt.Buckets
	for i, id := range order {
		v.own[id], v.contexts[id] = -1, -1
		if i < opt.Words {
			at, _ := slices.BinarySearch(v.words, t.words[id])
			v.own[id] = int32(at)
		}
		if i < opt.Contexts {
			v.contexts[id] = int32(i)
		}
		grams := static.AppendGrams(nil, []byte(t.words[id]), opt.Buckets)
		for g := range grams {
			grams[g] += int32(len(v.words))
		}
		v.spelled[id] = grams
	}
	return v
}

// of are the rows of a word of the texts.
func (v *vocabulary) of(word int32) []int32 {
	if v.own[word] >= 0 {
		return v.own[word : word+1]
	}
	return v.spelled[word]
}
