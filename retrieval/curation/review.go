package curation

import "github.com/writbus/writ/schemas"

// Neighbours are the k existing nodes nearest to a proposal, nearest first,
// without itself.
func Neighbours(proposal schemas.Rule, c Corpus, k int) []Similar {
	var near []Similar
	for _, l := range c.likes(proposal) {
		if len(near) >= k {
			break
		}
		if l.node.ID != proposal.ID {
			near = append(near, Similar{l.node.ID, l.cosine})
		}
	}
	return near
}
