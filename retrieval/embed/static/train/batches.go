package train

import "math/rand/v2"

// Bounds of an excerpt, in words: what stands in for a query when a body is
// split into an excerpt and the rest (the inverse cloze task of Lee, Chang and
// Toutanova, ACL 2019).
const (
	excerptLeast = 5
	excerptMost  = 18
	excerptBody  = 24 // the shortest body that is split
)

// plan is the order in which an epoch visits the pairs: blocks of pairs of one
// source, shuffled, so that most negatives of a pair come from its own field.
func plan(pairs []pair, block int, random *rand.Rand) []int32 {
	bySource := map[int32][]int32{}
	var sources []int32
	for i := range pairs {
		s := pairs[i].source
		if bySource[s] == nil {
			sources = append(sources, s)
		}
		bySource[s] = append(bySource[s], int32(i))
	}
	var blocks [][]int32
	for _, s := range sources {
		of := bySource[s]
		random.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		for from := 0; from < len(of); from += block {
			blocks = append(blocks, of[from:min(from+block, len(of))])
		}
	}
	random.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
	order := make([]int32, 0, len(pairs))
	for _, b := range blocks {
		order = append(order, b...)
	}
	return order
}

// example is one pair as a step sees it.
type example struct {
	left  []int32
	right [2][]int32 // one text, in two parts when an excerpt was taken out of it
	key   uint64
	seed  uint64
}

func newExample(p *pair, opt Options, random *rand.Rand) example {
	seed := random.Uint64()
	body := p.right
	if len(body) > opt.MaxWords {
		from := 0
		if random.IntN(4) == 0 {
			from = random.IntN(len(body) - opt.MaxWords + 1)
		}
		body = body[from : from+opt.MaxWords]
	}
	e := example{left: p.left, right: [2][]int32{body, nil}, key: p.key, seed: seed}
	if len(e.left) > opt.MaxWords {
		e.left = e.left[:opt.MaxWords]
	}
	if len(body) < excerptBody || random.Float64() >= opt.Excerpts {
		return e
	}
	size := excerptLeast + random.IntN(excerptMost-excerptLeast+1)
	from := random.IntN(len(body) - size + 1)
	e.left, e.key = body[from:from+size], seed
	e.right = [2][]int32{body[:from], body[from+size:]}
	return e
}
