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

// TestListsWithOtherEndsOfLines: a work tree on Windows may have them.
func TestListsWithOtherEndsOfLines(t *testing.T) {
	if got := In("a:\r\nx y\r\n\r\nb:\r\nz\r\n", "b"); len(got) != 1 || !got["z"] {
		t.Errorf("got %v", got)
	}
}
