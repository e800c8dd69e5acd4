package lexical

// Judged is what a query's words say of a document.
type Judged struct {
	// Score is the document's, before it is judged, and what [Query.Proof] says of
	// it afterwards.
	Score    float64
	Coverage float64 // as [Query.Coverage]
}

// lookedUp is up to how many times as many documents as are judged a term's list
// may have to be read through, and not searched for each.
const lookedUp = 24

// Judge does what [Query.Proof] and [Query.Coverage] do, for many documents at
// once, fewer than 65,536 and each named once: every term's list is read once.
func (q *Query) Judge(docs []int32, judged []Judged) {
	ix := q.index
	acc := ix.scratch.Get().(*accumulator)
	defer ix.scratch.Put(acc)
	if acc.places == nil {
		acc.places = make([]uint16, ix.size)
	}
	for i, doc := range docs {
		judged[i].Coverage = 0
		acc.places[doc] = uint16(i + 1)
	}
	for i := range q.terms {
		term := &q.terms[i]
		if term.aside && !term.tells {
			continue
		}
		from, to := term.list.from, term.list.to
		if int(to-from) > lookedUp*len(docs) {
			for i, doc := range docs {
				if impact := ix.impact(term.list, doc); impact > 0 {
					judged[i].hold(term, impact)
				}
			}
			continue
		}
		for at, doc := range ix.docs[from:to] {
			if place := acc.places[doc]; place > 0 && ix.impacts[int(from)+at] > 0 {
				judged[place-1].hold(term, ix.impacts[int(from)+at])
			}
		}
	}
	for i := range q.pairs {
		for _, p := range q.pairs[i].list {
			if place := acc.places[p.doc()]; place > 0 {
				judged[place-1].Score -= ix.pairImpact(&q.pairs[i], p)
			}
		}
	}
	for i, doc := range docs {
		acc.places[doc] = 0
		j := &judged[i]
		j.Score = max(j.Score, 0)
		if q.mass > 0 {
			j.Coverage = min(j.Coverage/q.mass, 1)
		}
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
