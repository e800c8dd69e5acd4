package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/neo4jmirror"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/schemas"
)

const (
	pushBudget = 5 * time.Second // of one request; the client asks again
	waitLimit  = 30 * time.Second
	// toldLines bounds a list in a reply: a message has at most 1 MiB.
	toldLines = 500
	// pulledCorpus names what was pulled, as the folder of an import is named.
	pulledCorpus = "neo4j"
)

// graphPush brings a mirror in Neo4j up to the log, as far as the budget
// lasts. Nothing of it is kept between requests: how far the mirror is stands
// in the mirror.
func (d *Daemon) graphPush(ctx context.Context, r schemas.GraphPushRequest) (schemas.GraphPushReply, error) {
	if r.After > 0 && !d.movedOn(ctx, r) {
		return schemas.GraphPushReply{Done: true, Idle: true, Position: r.After}, ctx.Err()
	}
	mirror, err := neo4jmirror.Open(ctx, d.target(r.Target))
	if err != nil {
		return schemas.GraphPushReply{}, graphFault(err)
	}
	defer func() { _ = mirror.Close(context.WithoutCancel(ctx)) }() // every transaction has answered
	budget := pushBudget
	if r.BudgetMillis > 0 {
		budget = min(time.Duration(r.BudgetMillis)*time.Millisecond, waitLimit)
	}
	until := d.now().Add(budget)
	report, err := mirror.Push(ctx, graphSource{d}, neo4jmirror.PushOptions{
		Replace: r.Replace, Enough: func() bool { return d.now().After(until) },
	})
	return schemas.GraphPushReply{
		Done: report.Done, Full: report.Full, Resumed: report.Resumed, Reason: report.Reason, Phase: report.Phase,
		Position: report.At.Seq, Nodes: report.Nodes, Edges: report.Edges,
		NodesWritten: report.NodesWritten, EdgesWritten: report.EdgesWritten,
		NodesRemoved: report.NodesRemoved, EdgesRemoved: report.EdgesRemoved,
		Kept: report.Kept, Dangling: report.Dangling,
	}, graphFault(err)
}

// movedOn waits until the rules go past a sequence, and says whether they did.
func (d *Daemon) movedOn(ctx context.Context, r schemas.GraphPushRequest) bool {
	ctx, cancel := context.WithTimeout(ctx, min(time.Duration(r.WaitMillis)*time.Millisecond, waitLimit))
	defer cancel()
	return d.runtime.WaitFor(ctx, viewRules, schemas.Position{Stream: schemas.StreamRules, Seq: r.After + 1}) == nil
}

// target fills in what a request leaves to the daemon's own settings. The
// daemon's password is for its own server only.
func (d *Daemon) target(t schemas.GraphTarget) neo4jmirror.Target {
	own := d.settings
	if t.Password == "" && (t.URL == "" || t.URL == own.Neo4jURL) {
		t.Password = os.Getenv(config.Neo4jPassword)
	}
	t.URL, t.Database = cmp.Or(t.URL, own.Neo4jURL), cmp.Or(t.Database, own.Neo4jDatabase)
	if t.User == "" && t.Password != "" {
		t.User = cmp.Or(own.Neo4jUser, "neo4j")
	}
	return neo4jmirror.Target{URL: t.URL, User: t.User, Password: t.Password, Database: t.Database}
}

// graphSource is the graph of the rules' view, and the rules' stream.
type graphSource struct{ d *Daemon }

// Graph implements neo4jmirror.Source.
func (g graphSource) Graph(ctx context.Context) (graph neo4jmirror.Graph, err error) {
	if err := g.d.runtime.Await(ctx, schemas.StreamRules, viewRules); err != nil {
		return graph, err
	}
	err = g.d.runtime.Read(viewRules, func(reader projections.Reader) error {
		graph.At.Seq = reader.Position(schemas.StreamRules)
		graph.Nodes, err = g.d.nodes(reader)
		return err
	})
	if err != nil {
		return graph, err
	}
	state, err := g.d.conn.State(ctx, schemas.StreamRules)
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
func (d *Daemon) nodes(reader projections.Reader) ([]schemas.Rule, error) {
	var nodes []schemas.Rule
	for state, err := range d.views.rules.All(reader) {
		if err != nil {
			return nil, err
		}
		if state.Status == projections.RuleActive {
			nodes = append(nodes, state.Rule)
		}
	}
	return nodes, nil
}

// IDAt implements neo4jmirror.Source.
func (g graphSource) IDAt(ctx context.Context, seq uint64) (string, error) {
	if seq == 0 {
		return "", nil
	}
	record, err := g.d.conn.Get(ctx, schemas.StreamRules, seq)
	if errors.Is(err, bus.ErrNotFound) {
		return "", nil
	}
	return record.ID(), err
}

var errEnoughRead = errors.New("daemon: enough of the log is read")

// Changes implements neo4jmirror.Source. What cannot be decoded changed no
// view either.
func (g graphSource) Changes(ctx context.Context, after, upTo uint64, limit int) (ids []string, reached neo4jmirror.Position, err error) {
	named := map[string]bool{}
	err = g.d.reading.Follow(ctx, schemas.StreamRules, after, bus.FollowOptions{MaxBatch: replayBatch, UntilEnd: true}, func(records []schemas.Record) error {
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

// graphPull imports a graph from Neo4j the way files are imported.
func (d *Daemon) graphPull(ctx context.Context, r schemas.GraphPullRequest) (reply schemas.GraphPullReply, err error) {
	mirror, err := neo4jmirror.Open(ctx, d.target(r.Target))
	if err != nil {
		return reply, graphFault(err)
	}
	defer func() { _ = mirror.Close(context.WithoutCancel(ctx)) }() // nothing was written
	pulled, err := mirror.Pull(ctx)
	if err != nil {
		return reply, graphFault(err)
	}
	reply.Nodes, reply.Edges = len(pulled.Nodes), pulled.Edges
	reply.Skipped, reply.Assumed = atMost(pulled.Skipped), atMost(pulled.Assumed)
	if len(pulled.Nodes) == 0 {
		return reply, schemas.Faultf(schemas.CodeNotFound, "there is no node of Writ in this database: none has a label such as Rule or Skill and an id (%d other things are there)", len(pulled.Skipped))
	}
	if err := d.runtime.Await(ctx, schemas.StreamRules, viewRules); err != nil {
		return reply, err
	}
	request := schemas.RuleImportRequest{Corpus: pulledCorpus, DryRun: r.DryRun, Partial: r.Partial}
	same := 0
	for _, node := range pulled.Nodes {
		state, err := d.ruleState(node.ID)
		if err != nil {
			return reply, err
		}
		if state.Status == projections.RuleActive && sameNode(state.Rule, corpus.Authored(node)) {
			same++
			continue
		}
		request.Files = append(request.Files, nodeFile(node))
	}
	if reply.Import, err = d.ruleImport(ctx, request); err != nil {
		return reply, err
	}
	reply.Import.Unchanged += same
	reply.Import.Problems, reply.Import.Skipped = atMost(reply.Import.Problems), atMost(reply.Import.Skipped)
	reply.Import.Warnings = atMost(reply.Import.Warnings)
	return reply, nil
}

// nodeFile writes a node as the file that an import reads. Its name is a file
// name whatever the id is, and tells people which node a problem is about.
func nodeFile(node schemas.Rule) schemas.RuleFile {
	return schemas.RuleFile{
		Path:    schemas.EncodeToken(node.ID) + "." + string(node.NodeType()) + ".md",
		Content: string(corpus.Render(node)),
	}
}

// sameNode compares what nodes are, not how they are written.
func sameNode(a, b schemas.Rule) bool {
	one, errOne := json.Marshal(a)
	other, errOther := json.Marshal(b)
	return errOne == nil && errOther == nil && string(one) == string(other)
}

func atMost(lines []string) []string {
	if len(lines) <= toldLines {
		return lines
	}
	return append(slices.Clip(lines[:toldLines]), fmt.Sprintf("… and %d more", len(lines)-toldLines))
}

// graphFaults say what to do about each kind of trouble with a server, and the
// code by which clients tell them apart.
var graphFaults = []struct {
	kind       error
	code, what string
	todo       string
}{
	{neo4jmirror.ErrBadTarget, schemas.CodeBadRequest, "the address cannot be used", "Give it with --url, WRIT_NEO4J_URL, or neo4j_url in the settings."},
	{neo4jmirror.ErrUnreachable, schemas.CodeUnavailable, "Neo4j cannot be reached", "See that it runs and that the address is right, then do it again: what is written stays, and a push goes on from there."},
	{neo4jmirror.ErrAuth, schemas.CodeUnauthenticated, "Neo4j refused the user", "Set WRIT_NEO4J_PASSWORD or name a file with --password-file, and the user with --user."},
	{neo4jmirror.ErrForbidden, schemas.CodeRefused, "Neo4j does not permit it", "The user needs to read and write nodes and relationships and to create constraints."},
	{neo4jmirror.ErrUnsupported, schemas.CodeRefused, "this server cannot be used", "Use a Neo4j 5 or newer, and its Bolt port, most often 7687."},
	{neo4jmirror.ErrTLS, schemas.CodeRefused, "TLS does not fit", "Correct the address or the certificate."},
	{neo4jmirror.ErrNoDatabase, schemas.CodeNotFound, "the database is not there", "Create it, or name another with --database; without the flag it is the user's own."},
	{neo4jmirror.ErrForeign, schemas.CodeConflict, "the database mirrors another graph", "Name another with --database, or let --replace delete that mirror and put this graph in its place."},
	{neo4jmirror.ErrBusy, schemas.CodeConflict, "another push is at work on this database", "Let it finish, then push again."},
	{neo4jmirror.ErrServer, schemas.CodeInternal, "Neo4j refused a statement", ""},
}

// graphFault tells a client what went wrong with a server, where, and what to
// do.
func graphFault(err error) error {
	var trouble *neo4jmirror.Error
	if !errors.As(err, &trouble) {
		return err
	}
	for _, f := range graphFaults {
		if errors.Is(trouble.Kind, f.kind) {
			text := fmt.Sprintf("%s (%s): %s. %s", f.what, trouble.Where, trouble.Detail, f.todo)
			return schemas.Faultf(f.code, "%s", text)
		}
	}
	return err
}
