package daemon

import (
	"context"
	"os"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/observer/heap"
	"github.com/writbus/writ/retrieval/rulebook"
	"github.com/writbus/writ/retrieval/rulebook/graph"
	"github.com/writbus/writ/schemas"
)

// readyPatience is how long a request for rules waits for them to be there. A
// variable for tests.
var readyPatience = 8 * time.Second

// openRules opens the services of rules. What of the shipped rules cannot be
// imported stops the daemon.
func (d *Daemon) openRules() {
	d.rules = rulebook.New(rulebook.Options{
		Conn: d.conn, Log: d.log, Runtime: d.runtime, Rules: d.views.rules, Frequency: d.views.frequency, Index: d.corpus,
		Shown: func(ctx context.Context, session string) ([]string, error) {
			state, err := d.sessions.Peek(ctx, session)
			return state.Shown, err
		},
		Shipped: d.settings.ShippedRules, Now: d.now, Logger: d.logger, Failed: d.stop, Followed: func() { d.projects.Forget() },
		Lean: heap.Lean, Rest: d.restSoon, Ask: asker(d.model),
	})
	d.graph = graph.New(graph.Options{
		Conn: d.conn, Reading: d.reading, Runtime: d.runtime, Rules: d.views.rules, Import: d.rules.Import, Now: d.now,
		Server: graph.Server{
			URL: d.settings.Neo4jURL, User: d.settings.Neo4jUser, Database: d.settings.Neo4jDatabase,
			Password: os.Getenv(config.Neo4jPassword),
		},
	})
}

// afterRules makes endpoints wait for the rules.
func (d *Daemon) afterRules(endpoints []bus.Endpoint) []bus.Endpoint {
	for i, e := range endpoints {
		endpoints[i].Handle = func(ctx context.Context, r bus.Request) ([]byte, error) {
			if !d.rules.Ready(ctx, readyPatience) {
				if ctx.Err() != nil {
					return nil, schemas.Faultf(schemas.CodeNotReady, "the daemon is stopping")
				}
				return nil, schemas.Faultf(schemas.CodeNotReady, "the shipped rules are still being brought in")
			}
			return e.Handle(ctx, r)
		}
	}
	return endpoints
}
