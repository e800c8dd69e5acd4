package benchmark

import (
	"github.com/writbus/writ/retrieval"
	rules "github.com/writbus/writ/retrieval/benchmark"
)

// Given is what an agent was given for a task.
type Given struct {
	Paths  []string // of the files in the text, best first; empty where nothing was given
	Tokens int      // of the text
}

// Context is how good what agents are given is. A query that nothing answers counts
// in Nothing alone.
type Context struct {
	Agent   string         `json:"agent"`
	Budget  int            `json:"max_context_tokens"`
	Queries int            `json:"queries"`
	Right   rules.Interval `json:"right"` // share of the queries for which a relevant file was given
	Given   rules.Interval `json:"given"` // for which anything was
	Files   float64        `json:"files"` // on average, of those that were given anything
	Tokens  float64        `json:"tokens"`
	Nothing *Nothing       `json:"nothing,omitempty"`
}

// Nothing is about queries that nothing answers.
type Nothing struct {
	Queries int            `json:"queries"`
	Given   rules.Interval `json:"given"` // share for which something was given
}

// giving is a measurement of contexts on its way.
type giving struct {
	right, given    []float64
	clusters        []string
	files, tokens   float64
	nothing         []float64
	nothingClusters []string
}

// give asks for the context of a query.
func (r *run) give(q Query) error {
	if r.Config.Context == nil {
		return nil
	}
	given, err := r.Config.Context(q.Project, q.Query)
	if err != nil {
		return err
	}
	any := retrieval.Indicate(len(given.Paths) > 0)
	if q.Kind == KindNothing {
		r.giving.nothing = append(r.giving.nothing, any)
		r.giving.nothingClusters = append(r.giving.nothingClusters, q.ID)
		return nil
	}
	right := 0.0
	for _, path := range given.Paths {
		if q.Relevant[path] > 0 {
			right = 1
		}
	}
	r.giving.right, r.giving.given = append(r.giving.right, right), append(r.giving.given, any)
	r.giving.clusters = append(r.giving.clusters, q.ID)
	r.giving.files += float64(len(given.Paths))
	r.giving.tokens += float64(given.Tokens)
	return nil
}

// sum turns what was given into shares with intervals; nil where nobody asked.
func (g *giving) sum(c Config) *Context {
	if c.Context == nil {
		return nil
	}
	out := &Context{Agent: c.Agent, Budget: c.Budget, Queries: len(g.right)}
	if len(g.right) > 0 {
		out.Right, out.Given = rules.Bootstrap(g.right, g.clusters, c.Seed), rules.Bootstrap(g.given, g.clusters, c.Seed)
	}
	answered := 0.0
	for _, x := range g.given {
		answered += x
	}
	if answered > 0 {
		out.Files, out.Tokens = g.files/answered, g.tokens/answered
	}
	if len(g.nothing) > 0 {
		out.Nothing = &Nothing{Queries: len(g.nothing), Given: rules.Bootstrap(g.nothing, g.nothingClusters, c.Seed)}
	}
	return out
}
