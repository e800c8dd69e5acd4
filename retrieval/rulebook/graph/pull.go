package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/neo4jmirror"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/curation"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/schemas"
)

// pulledCorpus names what was pulled, as the folder of an import is named.
const pulledCorpus = "neo4j"

// toldDifferences and toldDiff bound what a reply says of differences: their
// number, and the characters of one.
const toldDifferences, toldDiff = 200, 2_000

// pull imports what was made or changed in Neo4j the way files are imported. What
// was changed in Writ since the mirror was written stays: where both were, the
// difference waits for a person.
func (s *Service) pull(ctx context.Context, r schemas.GraphPullRequest) (reply schemas.GraphPullReply, err error) {
	mirror, err := neo4jmirror.Open(ctx, s.target(r.Target))
	if err != nil {
		return reply, faultOf(err)
	}
	defer func() { _ = mirror.Close(context.WithoutCancel(ctx)) }() // nothing was written
	pulled, err := mirror.Pull(ctx)
	if err != nil {
		return reply, faultOf(err)
	}
	reply.Nodes, reply.Edges = len(pulled.Nodes), pulled.Edges
	reply.Skipped, reply.Assumed = pulled.Skipped, pulled.Assumed
	if len(pulled.Nodes) == 0 {
		return reply, schemas.Faultf(schemas.CodeNotFound, "there is no node of Writ in this database: none has a label such as Rule or Skill and an id (%d other things are there)", len(pulled.Skipped))
	}
	if err := s.await(ctx); err != nil {
		return reply, err
	}
	own, err := s.mirrors(ctx, pulled)
	if err != nil {
		return reply, err
	}
	states, err := s.states()
	if err != nil {
		return reply, err
	}
	p := pulling{r: r, reply: &reply, pulled: pulled, own: own, states: states, there: map[string]bool{}}
	if err := p.sort(); err != nil {
		return reply, err
	}
	if own {
		reply.Deleted = deleted(pulled, states)
	}
	if reply.Import, err = s.o.Import(ctx, schemas.RuleImportRequest{Corpus: pulledCorpus, DryRun: r.DryRun, Partial: r.Partial, Files: p.files}); err != nil {
		return reply, err
	}
	reply.Import.Unchanged += p.same
	for _, list := range []*[]string{&reply.Skipped, &reply.Assumed, &reply.Deleted, &reply.Import.Problems, &reply.Import.Skipped, &reply.Import.Warnings} {
		*list = atMost(*list)
	}
	return reply, nil
}

// mirrors says whether a database was written from this log, and no further than
// this log goes.
func (s *Service) mirrors(ctx context.Context, pulled neo4jmirror.Pulled) (bool, error) {
	for _, at := range []neo4jmirror.Position{pulled.Origin, pulled.At} {
		id, err := graphSource{s}.IDAt(ctx, at.Seq)
		if err != nil || id == "" || id != at.ID {
			return false, err
		}
	}
	return true, nil
}

// states are the rules of every status, by id.
func (s *Service) states() (map[string]rule.State, error) {
	states := map[string]rule.State{}
	return states, s.read(func(reader projections.Reader) error {
		for state, err := range s.o.Rules.All(reader) {
			if err != nil {
				return err
			}
			states[state.Rule.ID] = state.Given().State
		}
		return nil
	})
}

// deleted are the nodes in force that a finished push wrote and that are not there.
func deleted(pulled neo4jmirror.Pulled, states map[string]rule.State) (gone []string) {
	if !pulled.Whole {
		return nil
	}
	there := map[string]bool{}
	for _, n := range pulled.Nodes {
		there[n.ID] = true
	}
	for id, state := range states {
		if state.Status == rule.Active && !there[id] && state.Last.Seq <= pulled.At.Seq {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	return gone
}

// pulling sorts what a database holds into what comes in, what waits and what
// stays.
type pulling struct {
	r      schemas.GraphPullRequest
	reply  *schemas.GraphPullReply
	pulled neo4jmirror.Pulled
	own    bool // the database was written from this log
	states map[string]rule.State
	there  map[string]bool // ids of the nodes that are found
	files  []schemas.RuleFile
	same   int
}

func (p *pulling) sort() error {
	for _, n := range p.pulled.Nodes {
		p.there[n.ID] = true
	}
	for _, node := range p.pulled.Nodes {
		state := p.states[node.ID]
		var ours *schemas.Rule
		if state.Status == rule.Active {
			ours = &state.Rule
		}
		theirs := p.withEdges(node, ours)
		wrote := p.pulled.Wrote[node.ID]
		if !p.own {
			wrote = nil
		}
		side, err := neo4jmirror.Compare(ours, theirs, wrote)
		if err != nil {
			return err
		}
		if ours != nil && side != neo4jmirror.Same {
			// An import lowers a claim that no outcome of Writ's bears out.
			if again, err := neo4jmirror.Compare(ours, corpus.Authored(theirs), nil); err == nil && again == neo4jmirror.Same {
				side = neo4jmirror.Same
			}
		}
		p.take(side, state, ours, theirs)
	}
	return nil
}

// take brings a node in, or lets it wait.
func (p *pulling) take(side neo4jmirror.Side, state rule.State, ours *schemas.Rule, theirs schemas.Rule) {
	switch {
	case side == neo4jmirror.Same:
		p.same++
		return
	case slices.Contains(p.r.Take, theirs.ID), side == neo4jmirror.Theirs, side != neo4jmirror.Ours && free(state):
		file := nodeFile(theirs)
		file.Seen = state.Revisions
		p.files = append(p.files, file)
	case side == neo4jmirror.Ours:
		p.reply.Newer++
	case len(p.reply.Waiting) < toldDifferences:
		p.reply.Waiting = append(p.reply.Waiting, difference(side, ours, theirs))
	}
}

// free says of a node that no push of this Writ wrote whether it may come in as a
// database has it: nobody here knows it, or nobody here touched it since it shipped
// or was pulled.
func free(s rule.State) bool {
	from := s.Source == rule.SourceShipped || strings.HasPrefix(s.Source, pulledCorpus+"/")
	return s.Status == "" || s.Status == rule.Refused || s.Status == rule.Active && !s.Edited && from
}

// withEdges leaves out relationships that are no edges of Writ, and such to nodes
// that are nowhere. An edge that Writ has to a node that Neo4j lacks stays: who
// deletes a node takes its relationships along.
func (p *pulling) withEdges(node schemas.Rule, ours *schemas.Rule) schemas.Rule {
	var edges []schemas.Edge
	for _, e := range node.Edges {
		switch sources, _ := corpus.EdgeEnds(e.Type, node.NodeType()); {
		case len(sources) == 0 && (ours == nil || !slices.Contains(ours.Edges, e)):
			p.reply.Skipped = append(p.reply.Skipped, fmt.Sprintf("relationship %s from %s to %s: Writ has no such edge", e.Type, node.ID, e.Target))
		case !p.there[e.Target] && p.states[e.Target].Status != rule.Active && (ours == nil || !slices.Contains(ours.Edges, e)):
			p.reply.Assumed = append(p.reply.Assumed, fmt.Sprintf("%s: its edge %s to %s is left out, which is not there", node.ID, e.Type, e.Target))
		default:
			edges = append(edges, e)
		}
	}
	if ours != nil && (!p.own || p.pulled.Wrote[node.ID] == nil) {
		for _, e := range ours.Edges {
			if !p.there[e.Target] && !slices.Contains(edges, e) {
				edges = append(edges, e)
			}
		}
	}
	node.Edges = edges
	return node
}

// differences are those of a push, for people.
func differences(all []neo4jmirror.Difference) (told []schemas.GraphDifference) {
	for _, d := range all[:min(len(all), toldDifferences)] {
		told = append(told, difference(d.Side, d.Ours, d.Theirs))
	}
	return told
}

func difference(side neo4jmirror.Side, ours *schemas.Rule, theirs schemas.Rule) schemas.GraphDifference {
	d := schemas.GraphDifference{ID: theirs.ID, Side: "unknown"}
	switch {
	case side == neo4jmirror.Theirs:
		d.Side, d.Why = "neo4j", "changed in Neo4j"
	case side == neo4jmirror.Both && ours == nil:
		d.Side, d.Why = "both", "changed in Neo4j, not in force in Writ"
	case side == neo4jmirror.Both:
		d.Side, d.Why = "both", "changed in Neo4j and in Writ since the last push"
	case ours == nil:
		d.Why = "in Neo4j, not in force in Writ"
	default:
		d.Why = "not the same, and no push of this Writ wrote it"
	}
	if ours != nil {
		d.Diff = curation.Diff(*ours, theirs)
		if runes := []rune(d.Diff); len(runes) > toldDiff {
			d.Diff = string(runes[:toldDiff]) + "…"
		}
	}
	return d
}

// nodeFile writes a node as the file that an import reads. Its name is a file
// name whatever the id is, and tells people which node a problem is about.
func nodeFile(node schemas.Rule) schemas.RuleFile {
	return schemas.RuleFile{
		Path:    schemas.EncodeToken(node.ID) + "." + string(node.NodeType()) + ".md",
		Content: string(corpus.Render(node)),
	}
}
