package neo4jmirror

import (
	"context"
	"slices"

	"github.com/writbus/writ/schemas"
)

// overwrites says whether a node is written whatever somebody made of it: where it
// is named, and where a whole mirror is put in another's place.
func (p *push) overwrites(id string) bool {
	return p.opt.Replace && p.at.Phase != phaseLive || slices.Contains(p.opt.Overwrite, id)
}

// verify compares all that the database holds with the graph once, before a push
// says that the one is the other: what was deleted by hand is written again, what
// was made or changed by hand is told and left alone.
func (p *push) verify(ctx context.Context) error {
	if p.verified {
		return p.finish()
	}
	p.verified = true
	pulled, err := p.m.Pull(ctx)
	if err != nil {
		return err
	}
	again, err := p.compare(pulled)
	if err != nil {
		return err
	}
	lacking, err := p.lackingEdges(ctx, again)
	if err != nil {
		return err
	}
	p.report.RestoredEdges = len(lacking)
	for _, e := range lacking {
		if !slices.Contains(again, e.from) {
			again = append(again, e.from)
		}
	}
	if len(again) == 0 {
		return p.finish()
	}
	return p.apply(ctx, again, p.at.At)
}

func (p *push) finish() error {
	p.report.Done, p.report.At = true, p.graph.At
	return nil
}

// compare fills in what differs, and names the nodes to write: those that are gone
// or left over, and those that are overwritten.
func (p *push) compare(pulled Pulled) (again []string, err error) {
	held := map[string]bool{}
	for _, theirs := range pulled.Nodes {
		held[theirs.ID] = true
		var ours *schemas.Rule
		if at, there := p.byID[theirs.ID]; there {
			ours = &p.graph.Nodes[at]
			theirs.Edges = ours.Edges // others' relationships stay, Writ's come back
		}
		side, err := Compare(ours, theirs, pulled.Wrote[theirs.ID])
		switch {
		case err != nil:
			return nil, err
		case !pulled.own[theirs.ID] && ours != nil:
			// Beside it the mirror has none, or the reader had taken that one.
			held[theirs.ID] = false
		case side == Same:
		case side == Ours || p.overwrites(theirs.ID):
			again = append(again, theirs.ID)
		default:
			p.report.Differences = append(p.report.Differences, Difference{Side: side, Ours: ours, Theirs: theirs})
		}
	}
	for _, r := range p.graph.Nodes {
		if !held[r.ID] {
			p.report.Restored = append(p.report.Restored, r.ID)
		}
	}
	return append(again, p.report.Restored...), nil
}

// lackingEdges are those of the graph that the database does not hold, beside those
// of nodes that are written again.
func (p *push) lackingEdges(ctx context.Context, again []string) (lacking []edgeRow, err error) {
	records, err := p.m.read(ctx, "MATCH (a:"+nodeLabel+")-[r]->(b:"+nodeLabel+") WHERE r."+markKey+" RETURN a.id, type(r), b.id", nil)
	if err != nil {
		return nil, err
	}
	held := map[[3]any]bool{}
	for _, r := range records {
		held[[3]any(r.Values)] = true
	}
	for _, r := range p.graph.Nodes {
		for _, e := range edgesOf(r) {
			_, there := p.byID[e.to]
			if there && !held[[3]any{e.from, e.kind, e.to}] && !slices.Contains(again, e.from) && !slices.Contains(again, e.to) {
				lacking = append(lacking, e)
			}
		}
	}
	return lacking, nil
}
