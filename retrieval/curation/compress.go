package curation

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// MostMembers is how many rules an abstraction stands for at most: more would
// not be told apart in one paragraph.
const MostMembers = 6

// Compress writes the Abstraction nodes of a corpus: the rules of each domain,
// clustered by their vectors (of each [Text], place by place), one node for each
// cluster of two or more. Always-shown nodes, proposals, superseded rules and
// nodes that are no rules stay out; two rules in conflict never share an
// abstraction; one that would not be shorter than its members is not written.
// What comes out is ordered by id and does not depend on the order of what goes
// in; of nodes with one id the first counts. It returns [ErrDimension].
func Compress(nodes []schemas.Rule, vectors [][]float32, t Thresholds) ([]schemas.Rule, error) {
	if len(nodes) != len(vectors) {
		return nil, fmt.Errorf("%w: %d nodes and %d vectors", ErrDimension, len(nodes), len(vectors))
	}
	dimensions := 0
	taken := map[string]bool{}
	superseded := map[string]bool{}
	for i, n := range nodes {
		if d := len(vectors[i]); d != 0 && dimensions != 0 && d != dimensions {
			return nil, fmt.Errorf("%w: %d dimensions and %d", ErrDimension, dimensions, d)
		}
		dimensions = max(dimensions, len(vectors[i]))
		taken[n.ID] = taken[n.ID] || n.NodeType() != schemas.NodeAbstraction
		if n.Authority != authorityProvisional {
			for _, id := range targets(n, edgeSupersedes) {
				superseded[id] = true
			}
		}
	}
	domains := map[string][]candidate{}
	seen := map[string]bool{}
	for i, n := range nodes {
		if seen[n.ID] || superseded[n.ID] || n.NodeType() != schemas.NodeRule || n.AlwaysShown() || n.Authority == authorityProvisional {
			continue
		}
		seen[n.ID] = true
		if v := unit(vectors[i]); v != nil {
			domain := strings.ToLower(strings.TrimSpace(n.Domain))
			domains[domain] = append(domains[domain], candidate{n, v})
		}
	}
	var out []schemas.Rule
	for _, domain := range slices.Sorted(maps.Keys(domains)) {
		out = append(out, abstractions(domain, domains[domain], t.Cluster, taken)...)
	}
	slices.SortFunc(out, func(a, b schemas.Rule) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// candidate is a rule that may enter an abstraction.
type candidate struct {
	rule   schemas.Rule
	vector []float64
}

// abstractions clusters the rules of one domain.
func abstractions(domain string, rules []candidate, least float64, taken map[string]bool) []schemas.Rule {
	slices.SortFunc(rules, func(a, b candidate) int { return cmp.Compare(a.rule.ID, b.rule.ID) })
	vectors := make([][]float64, len(rules))
	for i, r := range rules {
		vectors[i] = r.vector
	}
	conflict := func(a, b int) bool {
		return slices.Contains(targets(rules[a].rule, edgeConflicts), rules[b].rule.ID) ||
			slices.Contains(targets(rules[b].rule, edgeConflicts), rules[a].rule.ID)
	}
	var out []schemas.Rule
	for _, group := range clusters(vectors, least, MostMembers, conflict) {
		if len(group) < 2 {
			continue
		}
		members := make([]schemas.Rule, len(group))
		for i, at := range group {
			members[i] = rules[at].rule
		}
		if node := abstraction(domain, members, members[centre(vectors, group)], taken); node.Abstraction.Ratio < 1 {
			out = append(out, node)
		}
	}
	return out
}

// centre is the place in the group of the member most like all of them.
func centre(vectors [][]float64, group cluster) int {
	best, most := 0, 0.0
	for i, a := range group {
		var sum float64
		for _, b := range group {
			sum += product(vectors[a], vectors[b])
		}
		if i == 0 || sum > most {
			best, most = i, sum
		}
	}
	return best
}

// abstraction writes the node of a group, whose id is that of its centre after
// "ABS": the same as long as the centre is.
func abstraction(domain string, members []schemas.Rule, centre schemas.Rule, taken map[string]bool) schemas.Rule {
	node := schemas.Rule{
		Type: schemas.NodeAbstraction, ID: abstractionID(centre.ID, taken), Domain: domain,
		Severity: extreme(members, severityOrder, func(r schemas.Rule) string { return r.Severity }),
		Scope:    centre.Scope, Tags: topics(members, centre),
		Confidence: extreme(members, confidenceOrder, func(r schemas.Rule) string { return r.Confidence }),
		Authority:  extreme(members, authorityOrder, func(r schemas.Rule) string { return r.Authority }),
	}
	place := cmp.Or(domain, "any domain")
	node.Title = strings.TrimSuffix(place+": "+strings.Join(node.Tags, ", "), ": ")
	node.Trigger = cmp.Or(sharedOpening(members), place)
	a := &schemas.Abstraction{Summary: summarise(members)}
	whole := 0
	for _, m := range members {
		a.Members = append(a.Members, m.ID)
		node.Edges = append(node.Edges, schemas.Edge{Type: edgeAbstracts, Target: m.ID})
		whole += retrieval.CountTokens("WHEN: "+excerpt.Line(m.Trigger)+"\n") + retrieval.CountTokens("RULE: "+excerpt.Line(m.Statement)+"\n")
	}
	a.Ratio = float64(retrieval.CountTokens(a.Summary)) / float64(max(whole, 1))
	node.Statement, node.Abstraction = a.Summary, a
	return node
}

func abstractionID(centre string, taken map[string]bool) string {
	id := "ABS-" + centre
	if !corpus.ValidID(id) {
		id = fmt.Sprintf("ABS-X%X-001", crc32.ChecksumIEEE([]byte(centre)))
	}
	for taken[id] {
		id = "ABS-" + id
	}
	return id
}

// The ladders, from what an abstraction takes over first; persisted values.
var (
	severityOrder   = []string{"critical", "high", "medium", "low"}
	confidenceOrder = []string{confidenceSpeculative, confidencePeer, "production-validated", "battle-tested"}
	authorityOrder  = []string{authorityPromoted, "human"}
)

// extreme is the first value of a ladder that a member has; "" if none has one.
func extreme(members []schemas.Rule, ladder []string, value func(schemas.Rule) string) string {
	for _, step := range ladder {
		if slices.ContainsFunc(members, func(m schemas.Rule) bool { return value(m) == step }) {
			return step
		}
	}
	return ""
}
