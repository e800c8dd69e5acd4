package daemon

import (
	"os"
	"runtime/debug"
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

// trimHeap follows the size of the index, unless the user has chosen.
func trimHeap(rules int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectBy(rules))
	}
}
