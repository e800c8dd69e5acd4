package chunk

import (
	"encoding/binary"
	"math"
	"math/bits"
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
	// some and others have a bit for each hash that a short or a long token has.
	// Most of what is looked up is no token, and that is known from far less
	// memory than the tokens take.
	some   *[1 << filterBits / 64]uint64
	others *[1 << filterBits / 64]uint64
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
	shortBits  = 17
	filterBits = 20
	noRank     = math.MaxUint32
)

// vocabulary takes the tokens out of the codec, which shows them one by one
// only: its own way to a count cuts every piece with a regular expression again
// and takes ten times as long, a second of each first build.
var vocabulary = sync.OnceValue(func() *ranks {
	c := codec.NewCl100kBase()
	all := &ranks{
		make([]short, 1<<shortBits), map[string]uint32{}, new([1 << 16]uint32), new([1 << filterBits / 64]uint64), new([1 << filterBits / 64]uint64),
	}
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
			h := longHash(load(token[:8]), load(token[len(token)-8:]), len(token))
			all.others[h>>6] |= 1 << (h & 63)
			continue
		}
		var room [8]byte
		copy(room[:], token)
		s := short{binary.LittleEndian.Uint64(room[:]), uint32(id), uint8(len(token))}
		h := shortHash(s.bytes, len(token))
		all.some[h>>(64-filterBits)>>6] |= 1 << (h >> (64 - filterBits) & 63)
		all.short[all.place(h, s.bytes, s.length)] = s
	}
	return all
})

// Prepare reads the encoding's tokens, which takes some 40 ms and otherwise
// happens when the first piece is counted. It may be called beside anything.
func Prepare() { vocabulary() }

const mix = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio

func shortHash(bytes uint64, length int) uint64 { return (bytes ^ uint64(length)<<59) * mix }

// longHash is of the first and the last 8 bytes of a token.
func longHash(first, last uint64, length int) uint64 {
	return (first ^ bits.RotateLeft64(last, 27) ^ uint64(length)<<59) * mix >> (64 - filterBits)
}

// place is where a short token is, or would be.
func (r *ranks) place(hash, bytes uint64, length uint8) uint64 {
	at := hash >> (64 - shortBits)
	for r.short[at].length != 0 && (r.short[at].bytes != bytes || r.short[at].length != length) {
		at = (at + 1) & (1<<shortBits - 1)
	}
	return at
}

// room is where a piece is encoded.
type room struct {
	piece [longestPiece + 8]byte // so that 8 can be read anywhere
	from  [longestPiece + 1]int32
	ranks [longestPiece + 1]uint32 // of the pair that begins here
}

// rank is that of a part of the piece; there may be no such token.
func (r *ranks) rank(in *room, from, to int32) uint32 {
	n := int(to - from)
	first := binary.LittleEndian.Uint64(in.piece[from : from+8])
	if n > 8 {
		h := longHash(first, binary.LittleEndian.Uint64(in.piece[to-8:to]), n)
		if r.others[h>>6]>>(h&63)&1 == 0 {
			return noRank
		}
		if rank, known := r.long[string(in.piece[from:to])]; known {
			return rank
		}
		return noRank
	}
	bytes := first & (math.MaxUint64 >> (64 - 8*n))
	h := shortHash(bytes, n)
	if f := h >> (64 - filterBits); r.some[f>>6]>>(f&63)&1 == 0 {
		return noRank
	}
	if s := &r.short[r.place(h, bytes, uint8(n))]; s.length != 0 {
		return s.rank
	}
	return noRank
}

// encode is the number of tokens of one piece of 2 to [longestPiece] bytes: its
// bytes, joined pair by pair, the pair with the lowest rank first.
func (r *ranks) encode(piece string, in *room) int {
	copy(in.piece[:], piece)
	n := len(piece) // parts
	if r.rank(in, 0, int32(n)) != noRank {
		return 1
	}
	from, ranks := in.from[:n+1], in.ranks[:n-1]
	for i := range ranks {
		from[i], ranks[i] = int32(i), r.pairs[int(piece[i])<<8|int(piece[i+1])]
	}
	from[n-1], from[n] = int32(n-1), int32(n)
	for {
		best, least := 0, uint32(noRank)
		for i, rank := range ranks {
			if rank < least {
				best, least = i, rank
			}
		}
		if least == noRank {
			return n
		}
		// The part behind the best goes into it.
		n--
		copy(from[best+1:], from[best+2:])
		from = from[:n+1]
		if best+1 < len(ranks) {
			copy(ranks[best:], ranks[best+1:])
			ranks = ranks[:len(ranks)-1]
			ranks[best] = r.rank(in, from[best], from[best+2])
		} else {
			ranks = ranks[:len(ranks)-1]
		}
		if best > 0 {
			ranks[best-1] = r.rank(in, from[best-1], from[best+1])
		}
	}
}
