package daemon

import "testing"

func TestGarbageIsBoundedByTheSizeOfTheIndex(t *testing.T) {
	for rules, want := range map[int]int{0: 100, 120: 100, 1_000: 100, 3_000: 60, 10_000: 25, 100_000: 25} {
		if got := collectBy(rules); got < want-2 || got > want+2 {
			t.Errorf("%d rules: %d percent, want about %d", rules, got, want)
		}
	}
}
