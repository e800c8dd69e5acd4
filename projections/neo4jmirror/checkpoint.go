package neo4jmirror

import (
	"context"
	"fmt"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
)

// Names in the database. Persisted; never change.
const (
	nodeLabel       = "WritNode"        // of every node of the mirror
	checkpointLabel = "WritMirror"      // of the one node that says how far the mirror has come
	checkpointName  = "graph"           // its name
	generationKey   = "writ_generation" // number of the full pass that last wrote a node or edge
	markKey         = "writ_mirror"     // true on relationships of the mirror
	orderKey        = "writ_order"      // place of an edge among those of its node, from 0
	staleKey        = "writ_stale"      // true on a node that left the graph and others hold on to
)

// layout is raised when the same graph gives other nodes, properties or
// relationships: mirrors of an older one are then written anew.
const layout = 2

// phase is what a push is at.
type phase string

// The phases of a full pass, in their order, and what comes after. Persisted;
// never rename one.
const (
	phaseNodes phase = "nodes"
	phaseEdges phase = "edges"
	phaseSweep phase = "sweep"
	phaseLive  phase = "live" // complete; follows the log
)

// checkpoint says how far the mirror has come. It is written in the
// transaction of the writes it speaks of.
type checkpoint struct {
	Layout     int64
	Generation int64
	Phase      phase
	After      string   // id of the last node of this phase that is done
	At         Position // of the log; what came after it is not in the mirror yet
	Origin     Position // a record of the log that the mirror began with
}

// constraints make ids unique, and finding them quick.
var constraints = []string{
	"CREATE CONSTRAINT writ_node_id IF NOT EXISTS FOR (n:" + nodeLabel + ") REQUIRE n.id IS UNIQUE",
	"CREATE CONSTRAINT writ_mirror_name IF NOT EXISTS FOR (c:" + checkpointLabel + ") REQUIRE c.name IS UNIQUE",
}

const (
	readCheckpoint = "MATCH (c:" + checkpointLabel + " {name: $name}) RETURN c"
	// A write takes the node's lock until the transaction ends; what is read
	// after it is what holds.
	lockCheckpoint  = "MERGE (c:" + checkpointLabel + " {name: $name}) SET c.writ_lock = true"
	writeCheckpoint = "MATCH (c:" + checkpointLabel + " {name: $name}) SET c += $to, c.updated_at = datetime()"
)

func (c checkpoint) properties() map[string]any {
	return map[string]any{
		"layout": c.Layout, "generation": c.Generation, "phase": string(c.Phase), "after": c.After,
		"log_seq": int64(c.At.Seq), "log_id": c.At.ID, "origin_seq": int64(c.Origin.Seq), "origin_id": c.Origin.ID,
	}
}

// checkpointOf reads the node; one without values is the zero checkpoint.
func checkpointOf(records []*neo4j.Record) (c checkpoint, err error) {
	if len(records) == 0 {
		return c, nil
	}
	node, _, err := neo4j.GetRecordValue[neo4j.Node](records[0], "c")
	if err != nil {
		return c, err
	}
	number := func(key string) int64 { n, _ := node.Props[key].(int64); return n }
	text := func(key string) string { s, _ := node.Props[key].(string); return s }
	return checkpoint{
		Layout: number("layout"), Generation: number("generation"), Phase: phase(text("phase")), After: text("after"),
		At:     Position{Seq: uint64(number("log_seq")), ID: text("log_id")},
		Origin: Position{Seq: uint64(number("origin_seq")), ID: text("origin_id")},
	}, nil
}

func (m *Mirror) checkpoint(ctx context.Context) (checkpoint, error) {
	records, err := m.read(ctx, readCheckpoint, map[string]any{"name": checkpointName})
	if err != nil {
		return checkpoint{}, err
	}
	c, err := checkpointOf(records)
	return c, m.explain(ctx, err)
}

// change runs writes in one transaction that also moves the checkpoint to what
// write returns. Where the checkpoint is not at its place any more it writes
// nothing and returns ErrBusy. write may be called again after a lost attempt.
func (m *Mirror) change(ctx context.Context, from checkpoint, write func(statements) (checkpoint, error)) (to checkpoint, err error) {
	s := m.session(ctx, neo4j.AccessModeWrite)
	defer func() { _ = s.Close(ctx) }() // the transaction's own error counts
	_, err = s.ExecuteWrite(ctx, func(tx neo4j.ManagedTransaction) (any, error) {
		do := statements{ctx: ctx, tx: tx}
		name := map[string]any{"name": checkpointName}
		if _, err := do.run(lockCheckpoint, name); err != nil {
			return nil, err
		}
		records, err := do.run(readCheckpoint, name)
		if err != nil {
			return nil, err
		}
		held, err := checkpointOf(records)
		if err != nil {
			return nil, err
		}
		if held != from {
			return nil, m.fail(ErrBusy, nil, "it moved the mirror to %s while this one was at %s", held, from)
		}
		if to, err = write(do); err != nil {
			return nil, err
		}
		_, err = do.run(writeCheckpoint, map[string]any{"name": checkpointName, "to": to.properties()})
		return nil, err
	})
	return to, m.explain(ctx, err)
}

// String is for messages.
func (c checkpoint) String() string {
	if c.Phase == phaseLive {
		return fmt.Sprintf("event %d", c.At.Seq)
	}
	return fmt.Sprintf("%s after %q", c.Phase, c.After)
}

// statements runs queries in one transaction.
type statements struct {
	ctx context.Context
	tx  neo4j.ManagedTransaction
}

func (s statements) run(query string, params map[string]any) ([]*neo4j.Record, error) {
	result, err := s.tx.Run(s.ctx, query, params)
	if err != nil {
		return nil, err
	}
	return result.Collect(s.ctx)
}

// count runs a query that returns one number named n.
func (s statements) count(query string, params map[string]any) (int, error) {
	records, err := s.run(query, params)
	if err != nil {
		return 0, err
	}
	if len(records) == 0 {
		return 0, nil
	}
	n, _, err := neo4j.GetRecordValue[int64](records[0], "n")
	return int(n), err
}
