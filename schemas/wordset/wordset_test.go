package wordset

import (
	"maps"
	"testing"
)

func TestSets(t *testing.T) {
	const lists = "one:\na b\n\ntwo:\nb\nc one:\n"
	for name, want := range map[string]map[string]bool{
		"one":   {"a": true, "b": true},
		"two":   {"b": true, "c": true, "one:": true},
		"three": {},
	} {
		if got := In(lists, name); !maps.Equal(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
