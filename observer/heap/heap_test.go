package heap

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestGarbageIsBoundedByTheSizeOfTheIndex(t *testing.T) {
	for rules, want := range map[int]int{0: 100, 120: 100, 1_000: 100, 3_000: 60, 10_000: 25, 100_000: 25} {
		if got := collectBy(rules); got < want-2 || got > want+2 {
			t.Errorf("%d rules: %d percent, want about %d", rules, got, want)
		}
	}
}

func TestALeanHeapKeepsAShareOrSoMuch(t *testing.T) {
	for live, want := range map[uint64]int{0: 100, 20 << 20: 100, 64 << 20: 50, 100 << 20: 32, 1 << 30: 30} {
		if got := leanBy(live, leanPercent, usualPercent); got != want {
			t.Errorf("%d MiB in use: %d percent, want %d", live>>20, got, want)
		}
	}
}

func TestAStartGathersMoreGarbageUntilItRests(t *testing.T) {
	t.Setenv("GOGC", "")
	percent := func() int {
		now := debug.SetGCPercent(usualPercent)
		debug.SetGCPercent(now)
		return now
	}
	Begin()
	Follow(0)
	if got := percent(); got <= usualPercent {
		t.Errorf("%d percent as a process starts", got)
	}
	Release()
	if got := percent(); got != usualPercent {
		t.Errorf("%d percent after it rested", got)
	}
	for live, want := range map[uint64]int{0: 400, 16 << 20: 200, 1 << 30: 100} {
		if got := leanBy(live, usualPercent, startPercent); got != want {
			t.Errorf("%d MiB in use: %d percent, want %d", live>>20, got, want)
		}
	}
}

func TestALeanHeapIsFollowedUntilNobodyAsksForIt(t *testing.T) {
	followed := func() bool {
		process.Lock()
		defer process.Unlock()
		return process.followed
	}
	first, second := Lean(), Lean()
	second()
	for range 3 {
		collected := make(chan struct{})
		afterCollection(func() { close(collected) })
		runtime.GC()
		<-collected
		if !followed() {
			t.Fatal("nobody looks at what is in use while somebody asks for little garbage")
		}
	}
	first()
	for followed() { // until the cleanup that is under way has run
		runtime.GC()
		runtime.Gosched()
	}
}
