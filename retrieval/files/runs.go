package files

import (
	"slices"
	"sync"

	"github.com/writbus/writ/retrieval/artifact/search"
)

const (
	// runBytes is how much text is analysed before it becomes a part of the
	// index: so much, for each worker, is in memory in a form that takes several
	// times its size.
	runBytes = 3 << 19
	// runShare is into how many runs for each worker what is left is cut: they get
	// smaller towards the end, so that all workers end at about the same time.
	runShare = 3
	// leastRun is hardly worth a part by itself.
	leastRun = 512 << 10
)

// run is some of the files that are looked at, one after the other.
type run struct{ from, to int }

// runsOf cuts files, which are in the order of their paths, into runs.
func runsOf(entries []Entry, workers int) (runs []run) {
	var left int64
	for _, e := range entries {
		left += e.Size
	}
	from, size := 0, int64(0)
	for i, e := range entries {
		most := min(max(left/int64(runShare*max(workers, 1)), leastRun), runBytes)
		if size += e.Size; size >= most || i == len(entries)-1 {
			runs = append(runs, run{from, i + 1})
			left -= size
			from, size = i+1, 0
		}
	}
	return runs
}

// gathering are the parts that come of runs, in any order. Those that follow one
// another are joined as soon as they are enough, while other workers go on.
type gathering struct {
	mu     sync.Mutex
	parts  []*search.Part // by run; nil while it is not there, of one without entries, and once it is joined
	there  []bool
	joined []*search.Part
	from   int // the first run that is not joined
	most   int // documents of what is joined
}

func newGathering(runs, most int) *gathering {
	return &gathering{parts: make([]*search.Part, runs), there: make([]bool, runs), most: most}
}

// add takes what came of a run, nil for nothing.
func (g *gathering) add(run int, part *search.Part) {
	g.mu.Lock()
	g.parts[run], g.there[run] = part, true
	var enough []*search.Part
	docs := 0
	for at := g.from; at < len(g.parts) && g.there[at]; at++ {
		if g.parts[at] == nil {
			continue
		}
		if docs += g.parts[at].Len(); docs > g.most {
			end := max(at, g.from+1)
			enough = present(g.parts[g.from:end])
			clear(g.parts[g.from:end])
			g.from = end
			break
		}
	}
	g.mu.Unlock()
	if len(enough) == 0 {
		return
	}
	joined := search.Join(enough)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.joined = append(g.joined, joined)
}

// all are the parts, joined or not.
func (g *gathering) all() []*search.Part { return append(g.joined, present(g.parts)...) }

func present(parts []*search.Part) []*search.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p *search.Part) bool { return p == nil })
}
