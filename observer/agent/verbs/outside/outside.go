// Package outside makes the handlers of the verbs that reach outside of Writ: the
// web, the workspace, other servers and other agents.
//
// It guarantees that what their connections and processes hold is given up by
// Close. What they may reach and who is asked first is in its options; it reads no
// files. It runs no verb itself: /exec is package workspace's, and what bounds it is
// in enforcement/dialect.
package outside

import (
	"github.com/writbus/writ/observer/agent/egress"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/observer/agent/verbs/federation"
	"github.com/writbus/writ/observer/agent/verbs/web"
	"github.com/writbus/writ/observer/agent/verbs/web/browse"
	"github.com/writbus/writ/observer/agent/verbs/workspace"
)

// Options say what the verbs reach.
type Options struct {
	// Gate decides about what is written and run.
	Gate workspace.Gate
	// Artifacts are what conversations keep.
	Artifacts workspace.Artifacts
	// Private are the folders that no agent reads.
	Private []string
	Settings
	// Version is the one that others are told.
	Version string
}

// Set are the handlers.
type Set struct {
	// Handlers are by verb.
	Handlers map[string]verbs.Handler
	closes   []func()
}

// New returns the handlers.
func New(o Options) *Set {
	handlers := workspace.Handlers(workspace.Options{Gate: o.Gate, Artifacts: o.Artifacts, Private: o.Private, Outline: outline})
	guard := egress.Guard{Allow: o.Allow}
	fetch := web.NewFetch(web.Options{Guard: guard, Agent: "writ/" + o.Version})
	mcp := federation.NewMCP(o.MCP, o.Version)
	handlers["fetch"] = fetch
	handlers["browse"] = browse.New(browse.Options{Path: o.Browser, Guard: guard})
	handlers["search"] = web.Search{Provider: o.Search.provider()}
	handlers["mcp"] = mcp
	handlers["a2a"] = federation.NewA2A(o.A2A)
	return &Set{Handlers: handlers, closes: []func(){fetch.Close, mcp.Close}}
}

// Close gives up connections and processes.
func (s *Set) Close() {
	for _, f := range s.closes {
		f()
	}
}
