package neo4jmirror

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/writbus/writ/schemas"
)

// batches bound one transaction.
type batches struct {
	nodes   int
	edges   int // or those of one node
	bytes   int // of text, about
	changes int // nodes that the log changed
	sweep   int // edges to delete, and then nodes
}

// usualBatches were the fastest in BenchmarkPush, where larger ones gain
// nothing; a transaction of this size takes a server with little memory.
var usualBatches = batches{nodes: 1_000, edges: 5_000, bytes: 4 << 20, changes: 500, sweep: 20_000}

// Position is a record of the log. The zero value is before the first.
type Position struct {
	Seq uint64
	ID  string // of the record's event
}

// Graph is the graph as the log left it.
type Graph struct {
	At    Position       // the last record that is in it
	First Position       // the oldest record that the log has
	Nodes []schemas.Rule // the nodes in force, in any order, with their edges
}

// Source is the graph to mirror, and the log behind it.
type Source interface {
	// Graph returns the graph as it stands, with everything in it that the log
	// held at the call.
	Graph(ctx context.Context) (Graph, error)
	// IDAt returns the event id of the record at a sequence, "" where none is.
	IDAt(ctx context.Context, seq uint64) (string, error)
	// Changes names the nodes that records after one sequence and up to
	// another changed, each once, reading no further than it takes to name
	// limit of them. reached is the last record that was read.
	Changes(ctx context.Context, after, upTo uint64, limit int) (ids []string, reached Position, err error)
}

// PushOptions tune a push. The zero value is good.
type PushOptions struct {
	// Replace takes over a database that mirrors another log.
	Replace bool
	// Overwrite are ids of nodes that are written, or deleted, though somebody
	// changed them in the database.
	Overwrite []string
	// Enough is asked between transactions and ends the push early; nil never
	// does.
	Enough func() bool
	// Progress hears of every transaction; nil is silence.
	Progress func(Report)
}

// Report says what a push did.
type Report struct {
	Done    bool     // the mirror is what the graph was at At
	Full    bool     // everything was written, not only what changed
	Resumed bool     // a full pass went on where an earlier push ended
	Reason  string   // of a full pass: why
	At      Position // of the log
	Phase   string   // nodes, edges, sweep or live
	Nodes   int      // in the graph
	Edges   int      // in the graph

	NodesWritten, EdgesWritten int
	NodesRemoved, EdgesRemoved int
	Kept                       int // nodes that left the graph and stay, since others hold on to them
	Dangling                   int // edges whose target is not in the graph

	// Restored are ids of nodes that were gone from the database and are back, and
	// RestoredEdges counts edges of nodes that were there.
	Restored      []string
	RestoredEdges int
	// Differences are the nodes that somebody made or changed in the database, in
	// the order of their ids. A push leaves them alone.
	Differences []Difference
}

// Difference is a node that a database has otherwise than the graph.
type Difference struct {
	Side   Side
	Ours   *schemas.Rule // nil: the graph has none
	Theirs schemas.Rule
}

// push is one run.
type push struct {
	m      *Mirror
	src    Source
	opt    PushOptions
	graph  Graph
	byID   map[string]int // place in graph.Nodes
	at     checkpoint
	report Report
	// verified says that the database was compared with the graph.
	verified bool
}

// Push brings the mirror to what the graph is at the call: by what changed
// since the last push where the log confirms the mirror's checkpoint, else by
// writing all of it and deleting what is left over. Whatever interrupts it,
// the next one goes on behind the last transaction that was committed.
func (m *Mirror) Push(ctx context.Context, src Source, opt PushOptions) (Report, error) {
	p := &push{m: m, src: src, opt: opt}
	err := p.run(ctx)
	return p.report, err
}

func (p *push) run(ctx context.Context) (err error) {
	if p.at, err = p.m.checkpoint(ctx); err != nil {
		return err
	}
	// The checkpoint is read first, so that the graph cannot be behind it.
	if p.graph, err = p.src.Graph(ctx); err != nil {
		return err
	}
	p.take()
	reason, err := p.disagreement(ctx)
	if err != nil {
		return err
	}
	if reason != "" || p.at.Phase != phaseLive {
		for _, command := range constraints {
			if err := p.m.run(ctx, command); err != nil {
				return err
			}
		}
	}
	if reason != "" {
		if err := p.begin(ctx, reason); err != nil {
			return err
		}
	} else if p.at.Phase != phaseLive {
		p.report.Full, p.report.Resumed = true, true
	}
	p.note()
	for !p.report.Done {
		if p.opt.Enough != nil && p.opt.Enough() {
			return nil
		}
		if err := p.step(ctx); err != nil {
			return err
		}
		p.note()
	}
	return nil
}

// take puts the graph in the order in which it is written.
func (p *push) take() {
	p.graph.Nodes = slices.Clone(p.graph.Nodes)
	slices.SortFunc(p.graph.Nodes, func(a, b schemas.Rule) int { return cmp.Compare(a.ID, b.ID) })
	p.byID = make(map[string]int, len(p.graph.Nodes))
	for i, r := range p.graph.Nodes {
		p.byID[r.ID] = i
	}
	p.report.Nodes = len(p.graph.Nodes)
	for _, r := range p.graph.Nodes {
		for _, e := range edgesOf(r) {
			if _, there := p.byID[e.to]; there {
				p.report.Edges++
			} else {
				p.report.Dangling++
			}
		}
	}
}

// disagreement says why the mirror has to be written anew, "" where it can be
// gone on with. A mirror of another log is an error.
func (p *push) disagreement(ctx context.Context) (string, error) {
	if p.at.Phase == "" {
		return "first push", nil
	}
	confirmed, err := p.confirmed(ctx, p.at.At)
	if err != nil {
		return "", err
	}
	if !confirmed {
		ours, err := p.confirmed(ctx, p.at.Origin)
		switch {
		case err != nil:
			return "", err
		case !ours && !p.opt.Replace:
			return "", p.m.fail(ErrForeign, nil, "it was written from a log that has event %s at %d, and this one does not", p.at.Origin.ID, p.at.Origin.Seq)
		case !ours:
			return "it mirrored another log", nil
		case !p.opt.Replace:
			return "", p.m.fail(ErrForeign, nil, "it was written from this log when that had event %s at %d, which it has no longer, so the mirror may be the newer one; writ graph pull brings in what it has", p.at.At.ID, p.at.At.Seq)
		}
		return fmt.Sprintf("the log does not confirm the mirror's checkpoint %d", p.at.At.Seq), nil
	}
	if p.at.Layout != layout {
		return fmt.Sprintf("layout %d, was %d", layout, p.at.Layout), nil
	}
	return "", nil
}

// confirmed says whether the log holds a record. An empty log was never
// mirrored with a record, so the zero position is confirmed.
func (p *push) confirmed(ctx context.Context, at Position) (bool, error) {
	if at.Seq == 0 {
		return true, nil
	}
	id, err := p.src.IDAt(ctx, at.Seq)
	return id == at.ID && id != "", err
}

// begin starts a full pass.
func (p *push) begin(ctx context.Context, reason string) error {
	p.report.Full, p.report.Reason = true, reason
	next := checkpoint{Layout: layout, Generation: p.at.Generation + 1, Phase: phaseNodes, At: p.graph.At, Origin: p.at.Origin}
	if ours, err := p.confirmed(ctx, next.Origin); err != nil {
		return err
	} else if !ours || next.Origin.Seq == 0 {
		next.Origin = p.graph.First
	}
	return p.move(ctx, func(statements) (checkpoint, error) { return next, nil })
}

// move changes the database and the checkpoint in one transaction.
func (p *push) move(ctx context.Context, write func(statements) (checkpoint, error)) error {
	to, err := p.m.change(ctx, p.at, write)
	if err == nil {
		p.at = to
	}
	return err
}

func (p *push) note() {
	if p.report.Phase = string(p.at.Phase); !p.report.Done {
		p.report.At = p.at.At
	}
	if p.opt.Progress != nil {
		p.opt.Progress(p.report)
	}
}

// step does one transaction.
func (p *push) step(ctx context.Context) error {
	switch p.at.Phase {
	case phaseNodes:
		return p.stepNodes(ctx)
	case phaseEdges:
		return p.stepEdges(ctx)
	case phaseSweep:
		return p.stepSweep(ctx)
	case phaseLive:
		return p.stepLive(ctx)
	}
	return p.m.fail(ErrServer, nil, "the mirror is in a phase %q that this build does not know", p.at.Phase)
}

// rest are the nodes that the phase has not done yet.
func (p *push) rest() []schemas.Rule {
	from, found := slices.BinarySearchFunc(p.graph.Nodes, p.at.After, func(r schemas.Rule, id string) int { return cmp.Compare(r.ID, id) })
	if found {
		from++
	}
	return p.graph.Nodes[from:]
}

// next is the checkpoint behind a part of the rest: further on in this phase,
// or at the start of the next.
func (p *push) next(part, rest []schemas.Rule, then phase) checkpoint {
	to := p.at
	if len(part) == len(rest) {
		to.Phase, to.After = then, ""
	} else {
		to.After = part[len(part)-1].ID
	}
	return to
}

func (p *push) stepNodes(ctx context.Context) error {
	rest := p.rest()
	bytes := 0
	part := rest[:portion(rest, func(i int) bool {
		bytes += sizeOf(rest[i])
		return i >= p.m.batch.nodes || i > 0 && bytes > p.m.batch.bytes
	})]
	written := 0
	err := p.move(ctx, func(do statements) (checkpoint, error) {
		free, err := p.free(do, part)
		if err != nil {
			return p.at, err
		}
		written = len(free)
		return p.next(part, rest, phaseEdges), putNodes(do, p.at.Generation, free)
	})
	if err == nil {
		p.report.NodesWritten += written
	}
	return err
}

func (p *push) stepEdges(ctx context.Context) error {
	rest := p.rest()
	edges := 0
	part := rest[:portion(rest, func(i int) bool {
		edges += len(rest[i].Edges)
		return i > 0 && edges > p.m.batch.edges
	})]
	written := 0
	err := p.move(ctx, func(do statements) (_ checkpoint, err error) {
		var rows []edgeRow
		for _, r := range part {
			rows = append(rows, edgesOf(r)...)
		}
		written, err = putEdges(do, p.at.Generation, rows)
		return p.next(part, rest, phaseSweep), err
	})
	if err == nil {
		p.report.EdgesWritten += written
	}
	return err
}

// portion is how many nodes come before the first at which full is true.
func portion(nodes []schemas.Rule, full func(i int) bool) int {
	for i := range nodes {
		if full(i) {
			return i
		}
	}
	return len(nodes)
}

// stepSweep deletes some of what the full pass did not write; when nothing is
// left, the mirror is complete.
func (p *push) stepSweep(ctx context.Context) error {
	var edges, removed, kept int
	err := p.move(ctx, func(do statements) (to checkpoint, err error) {
		to = p.at
		if edges, err = sweepEdges(do, p.at.Generation, p.m.batch.sweep); err != nil || edges == p.m.batch.sweep {
			return to, err
		}
		ids, err := staleNodes(do, p.at.Generation, p.m.batch.sweep)
		if err != nil {
			return to, err
		}
		if len(ids) < p.m.batch.sweep {
			to.Phase = phaseLive
		}
		if ids, err = p.unchanged(do, ids); err != nil {
			return to, err
		}
		removed, kept, err = dropNodes(do, ids)
		return to, err
	})
	if err == nil {
		p.report.EdgesRemoved += edges
		p.report.NodesRemoved += removed
		p.report.Kept += kept
	}
	return err
}

// quiet is how many records without a change of the graph are passed over
// without a word in the database.
const quiet = 1_000

// stepLive takes over some of what changed since the checkpoint. What is
// written is what the graph is now, which may be newer than the records that
// were read; reading those later then changes nothing.
func (p *push) stepLive(ctx context.Context) error {
	end := p.graph.At
	if p.at.At.Seq >= end.Seq {
		return p.verify(ctx)
	}
	ids, reached, err := p.src.Changes(ctx, p.at.At.Seq, end.Seq, p.m.batch.changes)
	if err != nil {
		return err
	}
	if len(ids) == 0 && reached.Seq >= end.Seq && reached.Seq-p.at.At.Seq < quiet {
		return p.verify(ctx)
	}
	if reached.Seq <= p.at.At.Seq {
		return fmt.Errorf("neo4jmirror: the log ends at %d, and nothing was read after %d", end.Seq, p.at.At.Seq)
	}
	return p.apply(ctx, ids, reached)
}

// apply makes some nodes, and all edges from and to them, what they are in the
// graph.
func (p *push) apply(ctx context.Context, ids []string, reached Position) error {
	var here []schemas.Rule
	var gone []string
	changed := map[string]bool{}
	for _, id := range ids {
		changed[id] = true
		if at, there := p.byID[id]; there {
			here = append(here, p.graph.Nodes[at])
		} else {
			gone = append(gone, id)
		}
	}
	var edges []edgeRow
	for _, r := range p.graph.Nodes {
		for _, e := range edgesOf(r) {
			// A node that is new to the mirror has edges to it that could not
			// be written before.
			if changed[e.from] || changed[e.to] {
				edges = append(edges, e)
			}
		}
	}
	var nodes, written, dropped, removed, kept int
	err := p.move(ctx, func(do statements) (to checkpoint, err error) {
		to = p.at
		to.At = reached
		free, err := p.free(do, here)
		if err != nil {
			return to, err
		}
		nodes = len(free)
		if err = putNodes(do, p.at.Generation, free); err != nil {
			return to, err
		}
		if dropped, err = dropEdges(do, here); err != nil {
			return to, err
		}
		if written, err = putEdges(do, p.at.Generation, edges); err != nil {
			return to, err
		}
		unchanged, err := p.unchanged(do, gone)
		if err != nil {
			return to, err
		}
		removed, kept, err = dropNodes(do, unchanged)
		return to, err
	})
	if err == nil {
		p.report.NodesWritten += nodes
		p.report.EdgesWritten += written
		p.report.EdgesRemoved += dropped
		p.report.NodesRemoved += removed
		p.report.Kept += kept
	}
	return err
}
