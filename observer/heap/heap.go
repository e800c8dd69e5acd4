// Package heap decides how much memory this process keeps: how much garbage may
// gather beside what is in use, where the limit of the heap lies, and when
// memory is given back to the system. What it sets holds for the process, not
// for a daemon in it.
//
// It leaves the collector alone where the user has chosen GOGC.
package heap

import (
	"cmp"
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

// startPercent bounds the share while a process starts, which makes much and keeps
// little: it may gather as much garbage as a lean one where less is in use.
const startPercent = 400

// leanBy is that garbage in percent of so many bytes in use, between a least and a
// most.
func leanBy(live uint64, least, most int) int {
	return min(max(int(100*leanGarbage/max(live, 1)), least), most)
}

// process is how this process collects its garbage, unless the user has chosen.
var process struct {
	sync.Mutex
	percent  int  // by the size of the rules' index; 0 for the usual
	starting bool // until it rests for the first time
	lean     int  // how many ask for less
	// followed says that what is in use is looked at after the next collection.
	followed bool
}

// Begin lets more garbage gather until the process rests, or gives memory back for
// another reason.
func Begin() { start(true) }

func start(starting bool) {
	process.Lock()
	defer process.Unlock()
	process.starting = starting
	settle()
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
		settle()
	}
	add(1)
	return func() { add(-1) }
}

// settle makes the heap's settings hold, and again after each collection, which
// finds out what is in use, for as long as they go by that. The caller has the
// lock.
func settle() {
	collect()
	if !process.followed && (process.lean > 0 || process.starting) {
		process.followed = true
		afterCollection(func() {
			process.Lock()
			defer process.Unlock()
			process.followed = false
			settle()
		})
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
	_, live := allocated()
	percent := cmp.Or(process.percent, usualPercent)
	switch {
	case process.lean > 0:
		percent = min(percent, leanBy(live, leanPercent, usualPercent))
	case process.starting:
		percent = leanBy(live, percent, startPercent)
	}
	debug.SetGCPercent(percent)
}
