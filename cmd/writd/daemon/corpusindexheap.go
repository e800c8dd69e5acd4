package daemon

import (
	"os"
	"runtime/debug"
	"sync"
)

// Figures of the heap: what a rule takes there, measured at 10,000 rules with
// static vectors, what the rest of the daemon does, and how much garbage may
// gather before it is collected.
const (
	heapOfRule    = 10 << 10
	heapOfRest    = 20 << 20
	garbageMost   = 30 << 20
	usualPercent  = 100
	fewestPercent = 25
)

// collectBy is the garbage that may gather, in percent of what is in use. An
// index is large and changes rarely, so with the usual share a process that is
// asked without a pause keeps as much garbage as it holds rules.
func collectBy(rules int) int {
	return min(max(100*garbageMost/(heapOfRest+rules*heapOfRule), fewestPercent), usualPercent)
}

// leanPercent is the garbage that may gather while much is made at once: what a
// build of a project's index keeps holds few pointers and is collected quickly.
const leanPercent = 30

// heap is how this process collects its garbage, unless the user has chosen.
var heap struct {
	sync.Mutex
	percent int // by the size of the rules' index; 0 for the usual
	lean    int // how many ask for less
}

// trimHeap follows the size of the index.
func trimHeap(rules int) {
	heap.Lock()
	defer heap.Unlock()
	heap.percent = collectBy(rules)
	collect()
}

// leanHeap lets less garbage gather until it is undone.
func leanHeap() (undo func()) {
	add := func(n int) {
		heap.Lock()
		defer heap.Unlock()
		heap.lean += n
		collect()
	}
	add(1)
	return func() { add(-1) }
}

// collect makes the heap's settings hold; the caller has its lock.
func collect() {
	if os.Getenv("GOGC") != "" {
		return
	}
	percent := heap.percent
	if percent == 0 {
		percent = usualPercent
	}
	if heap.lean > 0 {
		percent = min(percent, leanPercent)
	}
	debug.SetGCPercent(percent)
}
