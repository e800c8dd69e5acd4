package lexical

import "slices"

// Judged is what a query's words say of a document.
type Judged struct {
	// Score is the document's, before it is judged, and what [Query.Proof] says of
	// it afterwards.
	Score    float64
	Coverage float64 // as [Query.Coverage]
}

// Judge does what [Query.Proof] and [Query.Coverage] do, for many documents at
// once, fewer than 65,536 and each named once.
func (q *Query) Judge(docs []int32, judged []Judged) {
	ix := q.index
	acc := ix.scratch.Get().(*accumulator)
	defer ix.scratch.Put(acc)
	for i := range judged {
		judged[i].Coverage = 0
	}
	for i := range q.terms {
		term := &q.terms[i]
		if term.aside && !term.tells {
			continue
		}
		list, impacts := ix.docs[term.list.from:term.list.to], ix.impacts[term.list.from:term.list.to]
		acc.at = search(acc.at, list, docs)
		for i, at := range acc.at {
			if list[at] == docs[i] && impacts[at] > 0 {
				judged[i].hold(term, impacts[at])
			}
		}
	}
	q.judgePairs(acc, docs, judged)
	for i := range judged {
		j := &judged[i]
		j.Score = max(j.Score, 0)
		if q.mass > 0 {
			j.Coverage = min(j.Coverage/q.mass, 1)
		}
	}
}

// search writes for each document the place on an ascending list, which is not
// empty, of the last that is not above it, 0 if all are. It halves the list for
// all documents before it does so again, without a branch: so the processor has
// many to wait for at the same time.
func search(places, list, docs []int32) []int32 {
	places = slices.Grow(places[:0], len(docs))[:len(docs)]
	clear(places)
	for n := len(list); n > 1; {
		half := n / 2
		for i, doc := range docs {
			at := places[i]
			if list[int(at)+half] <= doc {
				at += int32(half)
			}
			places[i] = at
		}
		n -= half
	}
	return places
}

// judgePairs takes off what pairs add: their lists are short.
func (q *Query) judgePairs(acc *accumulator, docs []int32, judged []Judged) {
	if len(q.pairs) == 0 {
		return
	}
	if acc.places == nil {
		acc.places = make([]uint16, q.index.size)
	}
	for i, doc := range docs {
		acc.places[doc] = uint16(i + 1)
	}
	for i := range q.pairs {
		for _, p := range q.pairs[i].list {
			if place := acc.places[p.doc()]; place > 0 {
				judged[place-1].Score -= q.index.pairImpact(&q.pairs[i], p)
			}
		}
	}
	for _, doc := range docs {
		acc.places[doc] = 0
	}
}

// hold takes a term into account that the document holds.
func (j *Judged) hold(term *queryTerm, impact float64) {
	if term.tells {
		j.Score -= impact
	}
	if !term.aside {
		j.Coverage += term.list.idf
	}
}
