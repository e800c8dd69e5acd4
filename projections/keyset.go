package projections

import "hash/maphash"

const (
	keySetFirst = 1 << 12 // slots of a new set; a power of two
	keySetLast  = 1 << 24 // slots (64 MiB) beyond which a set gives up
)

// keySet knows which keys were added, and takes some others for known: it
// keeps four bytes of each key's hash. A build asks it before the store, since
// most keys that a build looks for are new.
type keySet struct {
	seed  maphash.Seed
	slots []uint32 // open addressing; 0 is free
	count int
}

func newKeySet() *keySet {
	return &keySet{seed: maphash.MakeSeed(), slots: make([]uint32, keySetFirst)}
}

// place is where a key's slot is looked for first, and what stands in it.
func (s *keySet) place(key []byte) (at int, mark uint32) {
	h := maphash.Bytes(s.seed, key)
	// The mark's low bits lead to its slot too, so that growing needs no key.
	return int(uint32(h)) & (len(s.slots) - 1), uint32(h) | 1<<31
}

func (s *keySet) mayHave(key []byte) bool {
	for at, mark := s.place(key); s.slots[at] != 0; at = (at + 1) & (len(s.slots) - 1) {
		if s.slots[at] == mark {
			return true
		}
	}
	return false
}

// add is false once the set has become too large to be kept.
func (s *keySet) add(key []byte) bool {
	if s.count > len(s.slots)/2 && !s.grow() {
		return false
	}
	at, mark := s.place(key)
	s.put(at, mark)
	return true
}

func (s *keySet) put(at int, mark uint32) {
	for ; s.slots[at] != 0; at = (at + 1) & (len(s.slots) - 1) {
		if s.slots[at] == mark {
			return
		}
	}
	s.slots[at] = mark
	s.count++
}

func (s *keySet) grow() bool {
	if len(s.slots) >= keySetLast {
		return false
	}
	old := s.slots
	s.slots, s.count = make([]uint32, 2*len(old)), 0
	for _, mark := range old {
		if mark != 0 {
			s.put(int(mark)&(len(s.slots)-1), mark)
		}
	}
	return true
}
