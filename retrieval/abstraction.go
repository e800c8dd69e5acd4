package retrieval

import (
	"slices"

	"github.com/writbus/writ/schemas"
)

// leastCovered is from how many of its members on an abstraction stands in for
// them: one rule says more for itself.
const leastCovered = 2

// abstractFrom is the smallest budget, in tokens, that abstractions pay off at:
// below it they pushed relevant rules out on the ground truth (relevant recall
// .42 against .51 at 150, .55 against .60 at 200, .69 against .69 at 300).
const abstractFrom = 300

// abstractionsOf lists, for each document, the abstractions it is a member of,
// by place in docs, which is by id.
func abstractionsOf(docs []Document, ids map[string]int32, g *graph) map[int32][]int32 {
	var of map[int32][]int32
	for i := range docs {
		a := docs[i].Rule.Abstraction
		if a == nil || g.superseded(int32(i)) || docs[i].Rule.Type != schemas.NodeAbstraction {
			continue
		}
		for _, member := range a.Members {
			doc, found := ids[fold(member)]
			if !found || slices.Contains(of[doc], int32(i)) {
				continue
			}
			if of == nil {
				of = map[int32][]int32{}
			}
			of[doc] = append(of[doc], int32(i))
		}
	}
	return of
}

// abstract makes room where the budget allows summaries only: several rules of
// the upper tier that one abstraction stands for become that abstraction, at
// the place of the best of them, if it costs less than they do. A rule that the
// query names stays.
func (s *search) abstract(chosen []int) []int {
	if s.answer.Mode != ModeSummary || s.answer.Budget < abstractFrom || len(s.ix.abstractions) == 0 {
		return chosen
	}
	for {
		abstraction, members := s.bestAbstraction(chosen)
		if members == nil {
			return chosen
		}
		first := members[0]
		best := s.pool[chosen[first]]
		c := s.candidate(abstraction)
		ranks := c.ranks
		*c = best
		c.doc, c.ranks, c.leftOut, c.judged = abstraction, ranks, nil, false
		next := make([]int, 0, len(chosen))
		for i, at := range chosen {
			switch {
			case i == first:
				next = append(next, int(s.places[abstraction]-1))
			case !slices.Contains(members, i):
				next = append(next, at)
			}
		}
		chosen = next
	}
}

// bestAbstraction is the one that stands for most of the chosen, the first by
// id of equals, and the places of its members in chosen.
func (s *search) bestAbstraction(chosen []int) (abstraction int32, members []int) {
	covered := map[int32][]int{}
	var order []int32
	for i, at := range chosen {
		c := &s.pool[at]
		if c.tier != TierInject || c.pinned > 0 || s.had(c) {
			continue
		}
		for _, a := range s.ix.abstractions[c.doc] {
			if covered[a] == nil {
				order = append(order, a)
			}
			covered[a] = append(covered[a], i)
		}
	}
	slices.Sort(order)
	for _, a := range order {
		if len(covered[a]) >= max(leastCovered, len(members)+1) && s.saves(a, covered[a], chosen) {
			abstraction, members = a, covered[a]
		}
	}
	return abstraction, members
}

// saves says whether an abstraction costs less than the members it would stand
// for.
func (s *search) saves(abstraction int32, members, chosen []int) bool {
	whole := 0
	for _, i := range members {
		whole += cost(corePieces(&s.ix.docs[s.pool[chosen[i]].doc]))
	}
	return cost(corePieces(&s.ix.docs[abstraction])) < whole
}

// corePieces are what a rule shows of itself at least.
func corePieces(d *Document) []piece {
	pieces := []piece{d.piece(segTitle), d.piece(segRule)}
	if d.Rule.Abstraction != nil {
		pieces = append(pieces, d.piece(segCorrect)) // COVERS
	}
	return pieces
}
