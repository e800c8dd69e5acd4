package curation

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// What every proposal is, until outcomes or a person say more; persisted.
const (
	authorityProvisional  = "ai-provisional"
	authorityPromoted     = "ai-promoted"
	confidenceSpeculative = "speculative"
	confidencePeer        = "peer-reviewed"
)

// The edges that the gate understands; persisted.
const (
	edgeConflicts  = "CONFLICTS_WITH"
	edgeSupersedes = "SUPERSEDES"
	edgeAbstracts  = "ABSTRACTS"
)

// Gate is the structural gate with its settings. The zero value holds every
// proposal for a duplicate of whatever exists.
type Gate struct {
	// Thresholds are those of the embedder that made the cosines.
	Thresholds Thresholds
}

// Proposal is a node that somebody proposes, as far as it could be read.
type Proposal struct {
	Node schemas.Rule
	// Problems say what of it does not follow the node's JSON Schema.
	Problems []Reason
}

// Judge makes all five checks of a proposal against the corpus, and refuses a
// taken id.
func (g Gate) Judge(p Proposal, c Corpus) Finding {
	node := Tidy(p.Node)
	node.Authority, node.Confidence = authorityProvisional, confidenceSpeculative
	likes := c.likes(node)
	near := g.near(likes)

	reasons := slices.Clone(p.Problems)
	reasons = append(reasons, identity(node.ID, c)...)
	reasons = append(reasons, wellFormed(p, node, c)...)
	reasons = append(reasons, mechanical(node)...)
	reasons = append(reasons, specific("trigger", node.Trigger)...)
	reasons = append(reasons, specific("statement", node.Statement)...)
	reasons = append(reasons, g.redundant(likes)...)
	reasons = append(reasons, conflicts(node, near, c)...)

	f := Finding{Node: node, Reasons: ordered(reasons), Incomplete: Incomplete(node), Supersedes: targets(node, edgeSupersedes)}
	f.Admitted = len(f.Reasons) == 0
	for _, l := range near {
		f.Neighbours = append(f.Neighbours, Similar{l.node.ID, l.cosine})
	}
	return f
}

func identity(id string, c Corpus) []Reason {
	taken := slices.Contains(c.Taken, id) || slices.ContainsFunc(c.Nodes, func(n schemas.Rule) bool { return n.ID == id })
	if !taken || strings.TrimSpace(id) == "" {
		return nil
	}
	return []Reason{{
		Check: CheckIdentity, Field: "id", IDs: []string{id},
		Text: fmt.Sprintf("the id %s is taken and nothing overwrites a node: choose another id, or ask a person to edit that node", id),
	}}
}

func mechanical(node schemas.Rule) []Reason {
	checked := node.Check != nil && strings.TrimSpace(node.Check.Pattern+node.Check.Query) != ""
	if !node.Mandatory || checked || strings.TrimSpace(node.MechanicalEnforcementPath) != "" {
		return nil
	}
	return []Reason{{
		Check: CheckMechanical, Field: "mechanical_enforcement_path",
		Text: "a mandatory rule names what enforces it: fill mechanical_enforcement_path, add a check, or drop mandatory",
	}}
}

// near are the likes at or above the neighbour threshold.
func (g Gate) near(likes []like) []like {
	n := 0
	for n < len(likes) && likes[n].cosine >= g.Thresholds.Neighbour {
		n++
	}
	return likes[:n]
}

func (g Gate) redundant(likes []like) []Reason {
	var reasons []Reason
	for _, l := range likes {
		reason := Reason{Check: CheckRedundancy, IDs: []string{l.node.ID}}
		at := fmt.Sprintf("cosine %s to %s", decimals(l.cosine), l.node.ID)
		switch {
		case l.same:
			reason.Text = fmt.Sprintf("duplicate of %s: trigger and statement are the same words", l.node.ID)
		case l.cosine >= g.Thresholds.Duplicate:
			reason.Text = fmt.Sprintf("duplicate: %s (from %s on); propose an edit of that node instead", at, decimals(g.Thresholds.Duplicate))
		case l.cosine >= g.Thresholds.Novelty:
			reason.Text = fmt.Sprintf("lacks novelty: %s (from %s on); say what is new, or propose an edit of that node", at, decimals(g.Thresholds.Novelty))
		default:
			continue
		}
		reasons = append(reasons, reason)
	}
	return reasons
}

// decimals cuts a cosine after the fourth place: rounded up, one that is just
// below a threshold would seem to be at it.
func decimals(cosine float64) string {
	return fmt.Sprintf("%.4f", math.Trunc(float64(cosine*1e4))/1e4)
}

// conflicts finds declared conflicts with existing nodes, those that existing
// nodes declare with the proposal, and those of its near neighbours in either
// direction.
func conflicts(node schemas.Rule, near []like, c Corpus) []Reason {
	exists := map[string]bool{}
	for i := range c.Nodes {
		exists[c.Nodes[i].ID] = true
	}
	var reasons []Reason
	add := func(text string, ids ...string) {
		reasons = append(reasons, Reason{Check: CheckConflict, IDs: ids, Text: text})
	}
	for _, id := range targets(node, edgeConflicts) {
		if exists[id] {
			add(fmt.Sprintf("it declares a conflict with %s: agree on one of them with a person first", id), id)
		}
	}
	beside := map[string]bool{}
	for _, l := range near {
		beside[l.node.ID] = true
	}
	for i := range c.Nodes {
		from := &c.Nodes[i]
		for _, to := range targets(*from, edgeConflicts) {
			if to == node.ID {
				add(fmt.Sprintf("%s declares a conflict with this id: agree on one of them with a person first", from.ID), from.ID)
			}
			if beside[from.ID] && exists[to] {
				add(fmt.Sprintf("its near neighbour %s is in conflict with %s: say which of them it agrees with", from.ID, to), from.ID, to)
			}
			if beside[to] {
				add(fmt.Sprintf("its near neighbour %s is in conflict with %s: say which of them it agrees with", to, from.ID), to, from.ID)
			}
		}
	}
	return reasons
}

// targets lists where a node's edges of one type point to, sorted, each once
// and never to the node itself.
func targets(node schemas.Rule, edge string) []string {
	var ids []string
	for _, e := range node.Edges {
		if e.Type == edge && e.Target != node.ID {
			ids = append(ids, e.Target)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
