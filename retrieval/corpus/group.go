package corpus

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Group is what several problems have in common.
type Group struct {
	Kind   Kind
	Reason string   // where Count is 1, the problem's own; else with … for what differs
	Places []string // of each: its place, its node, and the other end of an edge
}

// variable is what differs between problems that say the same: places, ids and
// quoted values.
var variable = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\S+:[0-9]+\b|` + idInText.String())

// weight orders kinds by how much a person needs to hear of them.
var weight = []Kind{KindInvalid, KindDuplicate, KindUnknownTarget, KindWrongEndpoint, KindSkipped, KindNoted, KindDowngraded, KindDropped, KindFilled}

// Groups gathers problems by their reasons: those that keep nodes out come
// first, then edges that are left out, then the rest, each with the most
// frequent reason first.
func Groups(problems []Problem) []Group {
	type key struct {
		kind   Kind
		reason string
		edge   bool
	}
	found := map[key]*Group{}
	var order []key
	for _, p := range problems {
		k := key{p.Kind, variable.ReplaceAllString(p.Reason, "…"), p.Target != ""}
		g := found[k]
		if g == nil {
			g = &Group{Kind: p.Kind, Reason: p.Reason}
			found[k], order = g, append(order, k)
		} else {
			g.Reason = k.reason
		}
		g.Places = append(g.Places, p.place())
	}
	slices.SortStableFunc(order, func(a, b key) int {
		return cmp.Or(
			cmp.Compare(slices.Index(weight, a.kind), slices.Index(weight, b.kind)), cmp.Compare(afterEdges(a.edge), afterEdges(b.edge)),
			cmp.Compare(len(found[b].Places), len(found[a].Places)), cmp.Compare(a.reason, b.reason),
		)
	})
	groups := make([]Group, len(order))
	for i, k := range order {
		groups[i] = *found[k]
	}
	return groups
}

func afterEdges(edge bool) int {
	if edge {
		return 0
	}
	return 1
}

// place names where a problem is, and what it is about. Of a node that came in
// without anything lost its id says enough.
func (p Problem) place() string {
	about := p.ID
	if p.Target != "" {
		about = strings.TrimSpace(about + " → " + p.Target)
	}
	at := p.Path
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d", p.Path, p.Line)
	}
	switch {
	case about == "":
		return at
	case slices.Index(weight, p.Kind) >= slices.Index(weight, KindDowngraded):
		return about
	}
	return at + " " + about
}

// Line tells a group in one: the reason, how often, and where, as far as most places
// go.
func (g Group) Line(most int) string {
	if len(g.Places) == 1 {
		return g.Places[0] + ": " + g.Reason
	}
	shown, more := g.Places, ""
	if len(shown) > most {
		shown, more = shown[:most], fmt.Sprintf(", and %d more", len(shown)-most)
	}
	return fmt.Sprintf("%d × %s (%s%s)", len(g.Places), g.Reason, strings.Join(shown, ", "), more)
}
