package heap

import (
	"slices"
	"testing"
)

func TestRestsOnceAfterWork(t *testing.T) {
	const mb = 1 << 20
	type look struct {
		allocated uint64 // since the look before
		rests     bool
	}
	for name, c := range map[string]struct {
		live  uint64
		looks []look
	}{
		"after the start, once":          {30 * mb, append([]look{{100 * mb, false}, {0, false}, {0, false}, {0, false}, {0, true}}, make([]look, 20)...)},
		"not between two calls":          {30 * mb, []look{{100 * mb, false}, {0, false}, {0, false}, {2 * mb, false}, {0, false}, {0, false}, {0, false}, {0, true}}},
		"not after little":               {30 * mb, []look{{100 * mb, false}, {0, false}, {0, false}, {0, false}, {0, true}, {7 * mb, false}, {0, false}, {0, false}, {0, false}, {0, false}}},
		"again after more":               {30 * mb, []look{{100 * mb, false}, {0, false}, {0, false}, {0, false}, {0, true}, {9 * mb, false}, {0, false}, {0, false}, {0, false}, {0, true}}},
		"seldom where much is in use":    {400 * mb, []look{{500 * mb, false}, {0, false}, {0, false}, {0, false}, {0, true}, {90 * mb, false}, {0, false}, {0, false}, {0, false}, {0, false}}},
		"what waiting takes is no work":  {30 * mb, []look{{100 * mb, false}, {mb / 2, false}, {mb / 2, false}, {mb / 2, false}, {mb / 2, true}, {mb / 2, false}}},
		"what waiting takes adds up too": {4 * mb, append(append([]look{{9 * mb, false}, {mb - 1, false}, {mb - 1, false}, {mb - 1, false}, {mb - 1, true}}, slices.Repeat([]look{{mb - 1, false}}, 8)...), look{mb - 1, true})},
	} {
		t.Run(name, func(t *testing.T) {
			var r resting
			var allocated uint64
			for i, l := range c.looks {
				allocated += l.allocated
				if got := r.due(allocated, c.live); got != l.rests {
					t.Fatalf("look %d: rests is %t, want %t", i, got, l.rests)
				}
			}
		})
	}
}
