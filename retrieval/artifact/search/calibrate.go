package search

import "math"

// calibrate turns what is known of each candidate into the chance that it
// answers the query.
func (s *searching) calibrate() {
	unknown := idf(s.ix.sums.docs, 0)
	for i := range s.pool {
		s.pool[i].chance = s.chance(&s.pool[i], unknown)
	}
}

// chance is a placeholder.
func (s *searching) chance(c *candidate, unknown float64) float64 {
	return 1 - math.Exp(-c.score/(unknown*4))
}
