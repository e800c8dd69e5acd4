package curation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// Neighbour is an existing node beside a proposal.
type Neighbour struct {
	Node    schemas.Rule `json:"node"`
	Cosine  float64      `json:"cosine"`
	Differs []string     `json:"differs,omitempty"` // fields in which the two differ, without the id
}

// Neighbours are the k existing nodes nearest to a proposal, nearest first,
// without itself.
func Neighbours(proposal schemas.Rule, c Corpus, k int) []Neighbour {
	var near []Neighbour
	for _, l := range c.likes(proposal) {
		if len(near) >= k {
			break
		}
		if l.node.ID == proposal.ID {
			continue
		}
		differs := slices.DeleteFunc(Differs(proposal, *l.node), func(field string) bool { return field == "id" })
		near = append(near, Neighbour{Node: *l.node, Cosine: l.cosine, Differs: differs})
	}
	return near
}

// Promotion says whether a proposal may be promoted, and what comes of it.
type Promotion struct {
	// Node is the proposal as it is after promotion.
	Node    schemas.Rule `json:"node"`
	Allowed bool         `json:"allowed"`
	Reasons []Reason     `json:"reasons,omitempty"` // against it, all of them
	// Supersedes lists the nodes that promotion takes out of retrieval.
	Supersedes []string `json:"supersedes,omitempty"`
}

// Promote judges a promotion by a person. The node must be an admitted
// proposal, well-formed and complete, a mandatory one with its enforcement; it
// may supersede what exists, but no mandatory node unless it is always shown
// itself. Redundancy and conflicts are for the person to weigh.
func Promote(node schemas.Rule, c Corpus) Promotion {
	reasons := wellFormed(Of(node), node, c)
	reasons = append(reasons, mechanical(node)...)
	if node.Authority != authorityProvisional {
		reasons = append(reasons, Reason{
			Check: CheckIdentity, Field: "authority",
			Text: fmt.Sprintf("%s is no proposal: its authority is %q", node.ID, node.Authority),
		})
	}
	if missing := Incomplete(node); len(missing) > 0 {
		reasons = append(reasons, Reason{
			Check: CheckSchema, Text: fmt.Sprintf("incomplete: fill %s (at least %d symptoms) before promoting", strings.Join(missing, ", "), leastSymptoms),
		})
	}
	p := Promotion{Node: node, Supersedes: targets(node, edgeSupersedes)}
	p.Node.Authority, p.Node.Confidence = authorityPromoted, confidencePeer
	for i := range c.Nodes {
		older := &c.Nodes[i]
		if slices.Contains(p.Supersedes, older.ID) && older.AlwaysShown() && !p.Node.AlwaysShown() {
			reasons = append(reasons, Reason{
				Check: CheckConflict, Field: "edges", IDs: []string{older.ID},
				Text: fmt.Sprintf("it would take %s out, which every prompt carries: make this one mandatory too, or drop the edge", older.ID),
			})
		}
	}
	p.Reasons = ordered(reasons)
	p.Allowed = len(p.Reasons) == 0
	return p
}
