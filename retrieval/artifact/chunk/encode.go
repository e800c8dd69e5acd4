package chunk

import (
	"encoding/binary"
	"math"
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// ranks are the tokens of the encoding with their numbers, which say in what
// order neighbours are joined.
type ranks struct {
	short []short           // tokens of up to 8 bytes, by hash
	long  map[string]uint32 // the others
	// pairs are those of two bytes, with which every piece begins.
	pairs *[1 << 16]uint32
}

// short is a token without pointers, so that the garbage collector has nothing
// to look at.
type short struct {
	bytes  uint64 // the first is the lowest
	rank   uint32
	length uint8 // 0 for a free place
}

const (
	// lastToken is the number of cl100k_base's last token that is no special one.
	lastToken = 100255
	// shortBits makes room for some 70,000 short tokens.
	shortBits = 17
	noRank    = math.MaxUint32
)

// vocabulary takes the tokens out of the codec, which shows them one by one
// only: its own way to a count cuts every piece with a regular expression again
// and takes ten times as long, a second of each first build.
var vocabulary = sync.OnceValue(func() *ranks {
	c := codec.NewCl100kBase()
	all := &ranks{make([]short, 1<<shortBits), map[string]uint32{}, new([1 << 16]uint32)}
	for i := range all.pairs {
		all.pairs[i] = noRank
	}
	for id := uint(0); id <= lastToken; id++ {
		token, err := c.Decode([]uint{id})
		if err != nil || token == "" {
			continue
		}
		if len(token) == 2 {
			all.pairs[int(token[0])<<8|int(token[1])] = uint32(id)
		}
		if len(token) > 8 {
			all.long[token] = uint32(id)
			continue
		}
		var room [8]byte
		copy(room[:], token)
		s := short{binary.LittleEndian.Uint64(room[:]), uint32(id), uint8(len(token))}
		all.short[all.place(s.bytes, s.length)] = s
	}
	return all
})

// place is where a short token is, or would be.
func (r *ranks) place(bytes uint64, length uint8) uint64 {
	const mix = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	at := (bytes ^ uint64(length)<<59) * mix >> (64 - shortBits)
	for r.short[at].length != 0 && (r.short[at].bytes != bytes || r.short[at].length != length) {
		at = (at + 1) & (1<<shortBits - 1)
	}
	return at
}

// room is a piece with 8 bytes behind it, so that 8 can be read anywhere.
type room [longestPiece + 8]byte

// rank is that of a part of the piece; there may be no such token.
func (r *ranks) rank(in *room, from, to int) uint32 {
	n := to - from
	if n > 8 {
		if rank, known := r.long[string(in[from:to])]; known {
			return rank
		}
		return noRank
	}
	bytes := binary.LittleEndian.Uint64(in[from:from+8]) & (math.MaxUint64 >> (64 - 8*n))
	if s := &r.short[r.place(bytes, uint8(n))]; s.length != 0 {
		return s.rank
	}
	return noRank
}

// encode is the number of tokens of one piece of 2 to [longestPiece] bytes: its
// bytes, joined pair by pair, the pair with the lowest rank first.
func (r *ranks) encode(piece string) int {
	var in room
	copy(in[:], piece)
	if r.rank(&in, 0, len(piece)) != noRank {
		return 1
	}
	type part struct {
		from int32
		rank uint32 // of the pair that begins here
	}
	var all [longestPiece + 1]part
	parts := all[:len(piece)+1]
	for i := range parts {
		parts[i] = part{int32(i), noRank}
	}
	for i := range len(piece) - 1 {
		parts[i].rank = r.pairs[int(piece[i])<<8|int(piece[i+1])]
	}
	pair := func(i int) uint32 {
		if i+2 >= len(parts) {
			return noRank
		}
		return r.rank(&in, int(parts[i].from), int(parts[i+2].from))
	}
	for {
		best := 0
		for i := range parts {
			if parts[i].rank < parts[best].rank {
				best = i
			}
		}
		if parts[best].rank == noRank {
			return len(parts) - 1
		}
		parts = append(parts[:best+1], parts[best+2:]...)
		parts[best].rank = pair(best)
		if best > 0 {
			parts[best-1].rank = pair(best - 1)
		}
	}
}
