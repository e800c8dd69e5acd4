// Package outside makes the handlers of the verbs that reach outside of Writ: the
// web, the workspace, other servers and other agents.
//
// It guarantees that what their connections and processes hold is given up by
// Close. What they may reach and who is asked first is in its options; it reads no
// settings.
package outside

import (
	"github.com/writbus/writ/enforcement/dialect/address"
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
	// Guard says which addresses are reached.
	Guard address.Guard
	// Search is the engine of /search, nil for none.
	Search web.Provider
	// Browser is the path of a Chromium; "" looks for one on the PATH.
	Browser string
	// Servers of /mcp and peers of /a2a, by the names that agents use.
	Servers map[string]federation.Server
	Peers   map[string]federation.Peer
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
	fetch := web.NewFetch(web.Options{Guard: o.Guard, Agent: "writ/" + o.Version})
	mcp := federation.NewMCP(o.Servers, o.Version)
	handlers["fetch"] = fetch
	handlers["browse"] = browse.New(browse.Options{Path: o.Browser, Guard: o.Guard})
	handlers["search"] = web.Search{Provider: o.Search}
	handlers["mcp"] = mcp
	handlers["a2a"] = federation.NewA2A(o.Peers)
	return &Set{Handlers: handlers, closes: []func(){fetch.Close, mcp.Close}}
}

// Close gives up connections and processes.
func (s *Set) Close() {
	for _, f := range s.closes {
		f()
	}
}
