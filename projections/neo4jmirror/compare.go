package neo4jmirror

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/digest"
)

// What the mirror wrote of a node stands beside it, so that a change by hand is
// told apart from one of the log. Persisted; never change.
const (
	wroteFieldsKey = "writ_base"  // digest of the node's own fields
	wroteEdgesKey  = "writ_edges" // its edges, each a type and a target
)

// Wrote is what the mirror last wrote of a node.
type Wrote struct {
	Fields string
	Edges  []schemas.Edge
}

// Side says who changed a node since the mirror was last written.
type Side int

// The sides. Unknown is that of a node that differs and that the mirror did not
// write.
const (
	Same Side = iota
	Ours
	Theirs
	Both
	Unknown
)

// asHeld is a node as it is read back from the properties that are written of it.
func asHeld(r schemas.Rule) (schemas.Rule, error) {
	set, err := propertiesOf(r)
	if err != nil {
		return r, err
	}
	for name, v := range set {
		if texts, is := v.([]string); is {
			list := make([]any, len(texts))
			for i := range texts {
				list[i] = texts[i]
			}
			set[name] = list
		}
	}
	set["id"] = r.ID
	held := newReader(r.NodeType(), set).node()
	held.ID, held.Edges = r.ID, r.Edges
	return held, nil
}

// fieldsOf is the digest of a node's own fields.
func fieldsOf(held schemas.Rule) (string, error) {
	held.Edges = nil
	raw, err := json.Marshal(held)
	return digest.Hex(raw), err
}

// wroteOf is what stands beside a node that the graph has.
func wroteOf(r schemas.Rule) (fields string, edges []string, err error) {
	held, err := asHeld(r)
	if err != nil {
		return "", nil, err
	}
	fields, err = fieldsOf(held)
	for _, e := range edgesOf(r) {
		edges = append(edges, e.kind+" "+e.to)
	}
	return fields, edges, err
}

// likeOurs fills in what an import gives a node that says nothing of it.
func likeOurs(theirs, ours schemas.Rule) schemas.Rule {
	theirs.Authority = cmp.Or(theirs.Authority, ours.Authority)
	theirs.Confidence = cmp.Or(theirs.Confidence, ours.Confidence)
	return theirs
}

// sameFields says whether a node of the graph is held as it is, its edges aside.
func sameFields(ours, theirs schemas.Rule) bool {
	held, err := asHeld(ours)
	if err != nil {
		return false
	}
	a, errA := fieldsOf(held)
	b, errB := fieldsOf(likeOurs(theirs, held))
	return errA == nil && errB == nil && a == b
}

// sameEdges compares edges as sets: their order is no statement.
func sameEdges(a, b []schemas.Edge) bool {
	within := func(a, b []schemas.Edge) bool {
		return !slices.ContainsFunc(a, func(e schemas.Edge) bool { return !slices.Contains(b, e) })
	}
	return within(a, b) && within(b, a)
}

// Compare says which side changed a node: ours is the graph's, nil where it has
// none, theirs what a database holds, wrote what the mirror wrote, nil where it
// did not.
func Compare(ours *schemas.Rule, theirs schemas.Rule, wrote *Wrote) (Side, error) {
	if ours != nil && sameFields(*ours, theirs) && sameEdges(ours.Edges, theirs.Edges) {
		return Same, nil
	}
	if wrote == nil {
		return Unknown, nil
	}
	fields, err := fieldsOf(theirs)
	if err != nil {
		return Unknown, err
	}
	theirsChanged := fields != wrote.Fields || !sameEdges(theirs.Edges, wrote.Edges)
	oursChanged := ours == nil
	if ours != nil {
		held, err := asHeld(*ours)
		if err != nil {
			return Unknown, err
		}
		if fields, err = fieldsOf(held); err != nil {
			return Unknown, err
		}
		oursChanged = fields != wrote.Fields || !sameEdges(ours.Edges, wrote.Edges)
	}
	switch {
	case theirsChanged && oursChanged:
		return Both, nil
	case theirsChanged:
		return Theirs, nil
	}
	return Ours, nil
}
