package chunk

import (
	"math"
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// ranks are the tokens of the encoding with their numbers, which say in what
// order neighbours are joined.
type ranks struct {
	of map[string]uint32
	// pairs are those of two bytes, with which every piece begins.
	pairs *[1 << 16]uint32
}

// lastToken is the number of cl100k_base's last token that is no special one.
const lastToken = 100255

// vocabulary takes the tokens out of the codec, which shows them one by one
// only: its own way to a count cuts every piece with a regular expression again
// and takes ten times as long, a second of each first build.
var vocabulary = sync.OnceValue(func() ranks {
	c := codec.NewCl100kBase()
	all := ranks{make(map[string]uint32, lastToken+1), new([1 << 16]uint32)}
	for i := range all.pairs {
		all.pairs[i] = math.MaxUint32
	}
	for id := uint(0); id <= lastToken; id++ {
		if token, err := c.Decode([]uint{id}); err == nil {
			all.of[token] = uint32(id)
			if len(token) == 2 {
				all.pairs[int(token[0])<<8|int(token[1])] = uint32(id)
			}
		}
	}
	return all
})

// encode is the number of tokens of one piece: its bytes, joined pair by pair,
// the pair with the lowest rank first.
func (r ranks) encode(piece string) int {
	if _, whole := r.of[piece]; whole {
		return 1
	}
	type part struct {
		from int
		rank uint32 // of the pair that begins here
	}
	var room [longestPiece + 1]part
	parts := room[:0]
	for i := range len(piece) + 1 {
		parts = append(parts, part{i, math.MaxUint32})
	}
	pair := func(i int) uint32 {
		if i+2 >= len(parts) {
			return math.MaxUint32
		}
		if rank, known := r.of[piece[parts[i].from:parts[i+2].from]]; known {
			return rank
		}
		return math.MaxUint32
	}
	for i := range len(piece) - 1 {
		parts[i].rank = r.pairs[int(piece[i])<<8|int(piece[i+1])]
	}
	for {
		best := 0
		for i := range parts {
			if parts[i].rank < parts[best].rank {
				best = i
			}
		}
		if parts[best].rank == math.MaxUint32 {
			return len(parts) - 1
		}
		parts = append(parts[:best+1], parts[best+2:]...)
		parts[best].rank = pair(best)
		if best > 0 {
			parts[best-1].rank = pair(best - 1)
		}
	}
}
