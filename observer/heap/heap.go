// Package heap decides how much memory this process keeps: how much garbage may
// gather beside what is in use, where the limit of the heap lies, and when
// memory is given back to the system. What it sets holds for the process, not
// for a daemon in it.
//
// It leaves the collector alone where the user has chosen GOGC.
package heap

import (
	"os"
	"runtime"
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

// The garbage that may gather while much is made at once, such as a project's
// index: so much, and of what is large so many percent. A share alone is little
// where such work begins, and collects most often where there is least to gain.
const (
	leanGarbage = 32 << 20
	leanPercent = 30
)

// leanBy is that garbage in percent of so many bytes in use.
func leanBy(live uint64) int {
	return int(min(max(100*leanGarbage/max(live, 1), leanPercent), usualPercent))
}

// process is how this process collects its garbage, unless the user has chosen.
var process struct {
	sync.Mutex
	percent int // by the size of the rules' index; 0 for the usual
	lean    int // how many ask for less
	// followed says that what is in use is looked at after the next collection.
	followed bool
}

// Follow lets garbage gather by how many rules are indexed.
func Follow(rules int) {
	process.Lock()
	defer process.Unlock()
	process.percent = collectBy(rules)
	collect()
}

// Lean lets less garbage gather until it is undone.
func Lean() (undo func()) {
	add := func(n int) {
		process.Lock()
		defer process.Unlock()
		process.lean += n
		collect()
		if process.lean > 0 && !process.followed {
			process.followed = true
			afterCollection(stayLean)
		}
	}
	add(1)
	return func() { add(-1) }
}

// stayLean follows what is in use, which a collection finds out, for as long as
// somebody asks for it.
func stayLean() {
	process.Lock()
	defer process.Unlock()
	if process.followed = process.lean > 0; process.followed {
		collect()
		afterCollection(stayLean)
	}
}

// afterCollection calls f soon after the next collection of garbage.
func afterCollection(f func()) {
	type found struct{ _ *byte } // that is garbage at once
	runtime.AddCleanup(&found{}, func(f func()) { f() }, f)
}

// collect makes the heap's settings hold; the caller has its lock.
func collect() {
	if os.Getenv("GOGC") != "" {
		return
	}
	percent := process.percent
	if percent == 0 {
		percent = usualPercent
	}
	if process.lean > 0 {
		_, live := allocated()
		percent = min(percent, leanBy(live))
	}
	debug.SetGCPercent(percent)
}
