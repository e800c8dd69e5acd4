package memory

import (
	"encoding/binary"
	"errors"
	"sync/atomic"

	"github.com/writbus/writ/retrieval/lexical"
	"github.com/writbus/writ/retrieval/vector"
)

// part is an index of the entries from a place on.
type part struct {
	from, to int    // places that are indexed
	own      int    // the first place this part answers for
	held     []bool // of each place from from: there was an entry
	words    *lexical.Index
	meanings *vector.Index // nil without vectors
}

// errStopped is returned for a part that was not finished when the service
// stopped.
var errStopped = errors.New("memory: stopped while the index was made")

// newPart indexes the entries of some places, and the words of so many
// before them for the statistics. What previous, or nil, has of the same entries
// is taken over; it makes no difference but of time. Once stopped is set it
// returns errStopped: a million entries take longer than a stop may.
func newPart(entries []*entry, from, to, overlap int, previous *part, stopped *atomic.Bool) (*part, error) {
	p := &part{from: max(from-overlap, 0), to: to, own: from}
	p.held = make([]bool, to-p.from)
	if previous == nil || previous.from != p.from {
		previous = &part{}
	}
	was := func(i int) int {
		if i < len(previous.held) && previous.held[i] && p.held[i] {
			return i
		}
		return -1
	}
	var views []vector.View
	for i, e := range entries[p.from:to] {
		if e == nil {
			continue
		}
		p.held[i] = true
		if e.vector != nil && p.from+i >= p.own {
			views = append(views, vector.View{Doc: int32(i), Vector: e.vector})
		}
	}
	p.words = lexical.Collect(len(p.held), lexical.Unpaired(func(i int, into *lexical.Fields) {
		if e := entries[p.from+i]; e != nil && !stopped.Load() {
			e.terms.unpack(into)
		} else {
			clear(into[:])
		}
	}), previous.words, was)
	if stopped.Load() {
		return nil, errStopped
	}
	if len(views) == 0 {
		return p, nil
	}
	var err error
	p.meanings, err = vector.NewAfter(views, previous.meanings, func(doc int32) int32 { return int32(was(int(doc))) })
	return p, err
}

// meaning is the part without its words.
func (p *part) meaning() *part {
	if p == nil {
		return nil
	}
	m := *p
	m.words = nil
	return &m
}

// fieldsOf are the terms that an entry is found by.
func fieldsOf(text, category string) (fields lexical.Fields) {
	fields[lexical.Statement], fields[lexical.Tags] = lexical.CountTerms(text), lexical.CountTerms(category)
	return fields
}

// packedTerms are the terms of an entry in one piece, for each field their
// number, then each with its length before and its count behind it: a memory of
// many entries is mostly terms.
type packedTerms string

func packTerms(fields lexical.Fields) packedTerms {
	var b []byte
	for _, counts := range fields {
		b = binary.AppendUvarint(b, uint64(len(counts)))
		for _, c := range counts {
			b = binary.AppendUvarint(b, uint64(len(c.Term)))
			b = append(b, c.Term...)
			b = binary.AppendUvarint(b, uint64(c.N))
		}
	}
	return packedTerms(b)
}

// unpack reads the terms into memory that was used before.
func (p packedTerms) unpack(into *lexical.Fields) {
	rest := string(p)
	number := func() (n uint64) {
		for shift := 0; ; shift += 7 {
			b := rest[0]
			rest = rest[1:]
			n |= uint64(b&0x7f) << shift
			if b < 0x80 {
				return n
			}
		}
	}
	for field := range into {
		counts := into[field][:0]
		for range number() {
			length := number()
			term := rest[:length]
			rest = rest[length:]
			counts = append(counts, lexical.Count{Term: term, N: uint32(number())})
		}
		into[field] = counts
	}
}
