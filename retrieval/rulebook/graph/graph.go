// Package graph shows the graph of the rules and keeps a mirror of it in Neo4j:
// [Service.Endpoints] answer a drawing of what lies around a node, push what the
// mirror lacks, and pull a graph from there the way files are imported.
//
// Nothing of a mirror is kept between requests: how far it is stands in the
// mirror. A push goes on where the last one ended, as far as its budget lasts.
package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/neo4jmirror"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/schemas"
)

const (
	pushBatch  = 256             // records that are read at once
	pushBudget = 5 * time.Second // of one request; the client asks again
	waitLimit  = 30 * time.Second
	// toldLines bounds a list in a reply: a message has at most 1 MiB.
	toldLines = 500
)

// Server is the database that requests mean which name none.
type Server struct{ URL, User, Database, Password string }

// Options are what the service works with; all are required.
type Options struct {
	Conn    *bus.Conn
	Reading *bus.Conn // of what is read in bulk
	Runtime *projections.Runtime
	Rules   projections.Rules[rule.State] // a view of the runtime
	Server  Server
	// Import brings rule files in.
	Import func(context.Context, schemas.RuleImportRequest) (schemas.RuleImportReply, error)
	Now    func() time.Time
}

// Service is the graph. It is safe for concurrent use.
type Service struct{ o Options }

// New returns the service.
func New(o Options) *Service { return &Service{o} }

// Endpoints are the requests that the service answers.
func (s *Service) Endpoints() []bus.Endpoint {
	return []bus.Endpoint{
		bus.Answer("graph", schemas.SvcGraph, s.show),
		bus.Answer("graph_push", schemas.SvcGraphPush, s.push),
		bus.Answer("graph_pull", schemas.SvcGraphPull, s.pull),
	}
}

// await waits until the rules are read as the log has them.
func (s *Service) await(ctx context.Context) error {
	return s.o.Runtime.AwaitToDecide(ctx, schemas.StreamRules, s.o.Rules.Name())
}

func (s *Service) read(f func(projections.Reader) error) error {
	return s.o.Runtime.Read(s.o.Rules.Name(), f)
}

// push brings a mirror in Neo4j up to the log, as far as the budget
// lasts. Nothing of it is kept between requests: how far the mirror is stands
// in the mirror.
func (s *Service) push(ctx context.Context, r schemas.GraphPushRequest) (schemas.GraphPushReply, error) {
	if r.After > 0 && !s.movedOn(ctx, r) {
		return schemas.GraphPushReply{Done: true, Idle: true, Position: r.After}, ctx.Err()
	}
	mirror, err := neo4jmirror.Open(ctx, s.target(r.Target))
	if err != nil {
		return schemas.GraphPushReply{}, faultOf(err)
	}
	defer func() { _ = mirror.Close(context.WithoutCancel(ctx)) }() // every transaction has answered
	budget := pushBudget
	if r.BudgetMillis > 0 {
		budget = min(time.Duration(r.BudgetMillis)*time.Millisecond, waitLimit)
	}
	until := s.o.Now().Add(budget)
	report, err := mirror.Push(ctx, graphSource{s}, neo4jmirror.PushOptions{
		Replace: r.Replace, Overwrite: r.Overwrite, Enough: func() bool { return s.o.Now().After(until) },
	})
	return schemas.GraphPushReply{
		Restored: atMost(report.Restored), RestoredEdges: report.RestoredEdges, Differences: differences(report.Differences),
		Done: report.Done, Full: report.Full, Resumed: report.Resumed, Reason: report.Reason, Phase: report.Phase,
		Position: report.At.Seq, Nodes: report.Nodes, Edges: report.Edges,
		NodesWritten: report.NodesWritten, EdgesWritten: report.EdgesWritten,
		NodesRemoved: report.NodesRemoved, EdgesRemoved: report.EdgesRemoved,
		Kept: report.Kept, Dangling: report.Dangling,
	}, faultOf(err)
}

// movedOn waits until the rules go past a sequence, and says whether they did.
func (s *Service) movedOn(ctx context.Context, r schemas.GraphPushRequest) bool {
	ctx, cancel := context.WithTimeout(ctx, min(time.Duration(r.WaitMillis)*time.Millisecond, waitLimit))
	defer cancel()
	return s.o.Runtime.WaitFor(ctx, s.o.Rules.Name(), schemas.Position{Stream: schemas.StreamRules, Seq: r.After + 1}) == nil
}

// target fills in what a request leaves to the own server. Its password is
// for that server only.
func (s *Service) target(t schemas.GraphTarget) neo4jmirror.Target {
	own := s.o.Server
	if t.Password == "" && (t.URL == "" || t.URL == own.URL) {
		t.Password = own.Password
	}
	t.URL, t.Database = cmp.Or(t.URL, own.URL), cmp.Or(t.Database, own.Database)
	if t.User == "" && t.Password != "" {
		t.User = cmp.Or(own.User, "neo4j")
	}
	return neo4jmirror.Target{URL: t.URL, User: t.User, Password: t.Password, Database: t.Database}
}

// graphSource is the graph of the rules' view, and the rules' stream.
type graphSource struct{ s *Service }

// Graph implements neo4jmirror.Source.
func (g graphSource) Graph(ctx context.Context) (graph neo4jmirror.Graph, err error) {
	if err := g.s.await(ctx); err != nil {
		return graph, err
	}
	err = g.s.read(func(reader projections.Reader) error {
		graph.At.Seq = reader.Position(schemas.StreamRules)
		graph.Nodes, err = g.s.nodes(reader)
		return err
	})
	if err != nil {
		return graph, err
	}
	state, err := g.s.o.Conn.State(ctx, schemas.StreamRules)
	if err != nil {
		return graph, err
	}
	graph.First.Seq = state.First
	for _, at := range []*neo4jmirror.Position{&graph.At, &graph.First} {
		if at.ID, err = g.IDAt(ctx, at.Seq); err != nil {
			return graph, err
		}
	}
	return graph, nil
}

// nodes are the nodes in force.
func (s *Service) nodes(reader projections.Reader) ([]schemas.Rule, error) {
	var nodes []schemas.Rule
	for state, err := range s.o.Rules.All(reader) {
		if err != nil {
			return nil, err
		}
		if given := state.Given(); given.Status == rule.Active {
			nodes = append(nodes, given.Rule)
		}
	}
	return nodes, nil
}

// IDAt implements neo4jmirror.Source.
func (g graphSource) IDAt(ctx context.Context, seq uint64) (string, error) {
	if seq == 0 {
		return "", nil
	}
	record, err := g.s.o.Conn.Get(ctx, schemas.StreamRules, seq)
	if errors.Is(err, bus.ErrNotFound) {
		return "", nil
	}
	return record.ID(), err
}

var errEnoughRead = errors.New("graph: enough of the log is read")

// Changes implements neo4jmirror.Source. What cannot be decoded changed no
// view either.
func (g graphSource) Changes(ctx context.Context, after, upTo uint64, limit int) (ids []string, reached neo4jmirror.Position, err error) {
	named := map[string]bool{}
	err = g.s.o.Reading.Follow(ctx, schemas.StreamRules, after, bus.FollowOptions{MaxBatch: pushBatch, UntilEnd: true}, func(records []schemas.Record) error {
		for _, r := range records {
			if r.Seq > upTo || len(ids) >= limit {
				return errEnoughRead
			}
			events, err := r.Events()
			if err != nil {
				events = nil
			}
			for _, e := range events {
				if _, outcome := e.Data.(schemas.OutcomeRecorded); !outcome && !named[e.Aggregate.ID] {
					named[e.Aggregate.ID] = true
					ids = append(ids, e.Aggregate.ID)
				}
			}
			reached = neo4jmirror.Position{Seq: r.Seq, ID: r.ID()}
		}
		return nil
	})
	if errors.Is(err, errEnoughRead) {
		err = nil
	}
	if err == nil && reached.Seq == 0 {
		// Every record in between was deleted.
		reached.Seq = upTo
		reached.ID, err = g.IDAt(ctx, upTo)
	}
	return ids, reached, err
}

func atMost(lines []string) []string {
	if len(lines) <= toldLines {
		return lines
	}
	return append(slices.Clip(lines[:toldLines]), fmt.Sprintf("… and %d more", len(lines)-toldLines))
}
