package search

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"unsafe"
)

// ErrLost is returned where lists outside the heap cannot be read any more: their
// file was cut short, or its disk fails. The index is of no use then.
var ErrLost = errors.New("search: the index cannot be read any more from the file that it is kept in")

// Guarded calls what may read an index with lists outside the heap, and returns its
// error. A page that the system cannot read, which ends a process as a rule, gives
// [ErrLost]. What is called reads in no other goroutine.
func Guarded(read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // what the runtime says of a page and of nothing else
			err = fmt.Errorf("%w: a page at %#x is missing", ErrLost, fault.Addr())
		default:
			panic(fault)
		}
	}()
	return read()
}

// Keeper keeps bytes that never change outside the heap: the pieces one behind the
// other, aligned for numbers.
type Keeper func(pieces ...[]byte) (Kept, error)

// Kept are bytes outside the heap.
type Kept interface {
	Bytes() []byte
	Drop() // what was read takes no memory until it is read again
	Free() // they must not be read any more
}

// leastKept is from how many bytes of lists on a segment is worth a place outside
// the heap.
const leastKept = 1 << 20

// Kept returns the index with the dictionaries and lists of its larger segments,
// two thirds of what it takes, where a keeper puts them; where that fails they stay
// in the heap. They are let go of with the last index that has them: whatever
// reads them keeps its index alive to its end. [Index.Search] and [Index.Save] are
// [Guarded]; who updates an index with kept lists sees to it.
func (ix *Index) Kept(keep Keeper) *Index {
	next := &Index{embedder: ix.embedder, version: ix.version, views: slices.Clone(ix.views)}
	moved := false
	for i, v := range next.views {
		if s := v.outside(keep); s != v.segment {
			own := *v
			own.segment, next.views[i], moved = s, &own, true
		}
	}
	if !moved {
		return ix
	}
	next.prepare()
	return next
}

// outside is the segment with its lists kept, or itself.
func (s *segment) outside(keep Keeper) *segment {
	if s.kept != nil || len(s.text)+len(s.postings) < leastKept {
		return s
	}
	next := *s
	numbers := []*[]uint32{&next.textEnds, &next.postEnds, &next.holding, &next.forwardEnds}
	var pieces [][]byte
	for _, list := range numbers {
		pieces = append(pieces, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(*list))), 4*len(*list)))
	}
	kept, err := keep(append(pieces, s.postings, s.forward, unsafe.Slice(unsafe.StringData(s.text), len(s.text)))...)
	if err != nil {
		return s
	}
	whole := kept.Bytes()
	take := func(n int) []byte {
		piece := whole[:n:n]
		whole = whole[n:]
		return piece
	}
	for i, list := range numbers {
		*list = unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(take(len(pieces[i]))))), len(*list))
	}
	next.postings, next.forward, next.text = take(len(s.postings)), take(len(s.forward)), asText(take(len(s.text)))
	next.kept = kept
	runtime.AddCleanup(&next, Kept.Free, kept)
	return &next
}
