package daemon

import (
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement/dialect/address"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/observer/agent/verbs/federation"
	"github.com/writbus/writ/observer/agent/verbs/web"
	"github.com/writbus/writ/observer/agent/verbs/web/browse"
	"github.com/writbus/writ/observer/agent/verbs/workspace"
)

// verbSet are the handlers of the verbs that reach outside of Writ: the web, the
// workspace, other servers and other agents.
type verbSet struct {
	byVerb map[string]verbs.Handler
	closes []func()
}

// newVerbs makes the handlers that the settings of a data directory ask for.
// Settings that cannot be understood are warned about and count as none.
func (d *Daemon) newVerbs(artifacts workspace.Artifacts) *verbSet {
	settings, err := config.LoadVerbs(d.layout.Root)
	if err != nil {
		d.warn("the verbs of the command language are not set up: " + err.Error())
	}
	s := &verbSet{byVerb: workspace.Handlers(workspace.Options{
		Gate: verbGate{d}, Artifacts: artifacts, Private: []string{d.layout.Root}, Outline: outline,
	})}
	guard := address.Guard{Allow: settings.Allow}
	fetch := web.NewFetch(web.Options{Guard: guard, Agent: "writ/" + config.Version})
	s.closes = append(s.closes, fetch.Close)
	s.byVerb["fetch"] = fetch
	s.byVerb["browse"] = browse.New(browse.Options{Path: settings.Browser, Guard: guard})
	s.byVerb["search"] = web.Search{Provider: searchProvider(settings.Search)}
	servers := map[string]federation.Server{}
	for name, m := range settings.MCP {
		servers[name] = federation.Server(m)
	}
	mcp := federation.NewMCP(servers, config.Version)
	s.closes = append(s.closes, mcp.Close)
	s.byVerb["mcp"] = mcp
	peers := map[string]federation.Peer{}
	for name, p := range settings.A2A {
		peers[name] = federation.Peer(p)
	}
	s.byVerb["a2a"] = federation.NewA2A(peers)
	return s
}

func searchProvider(s config.Search) web.Provider {
	switch s.Provider {
	case "searxng":
		return web.SearXNG{URL: s.URL}
	case "brave":
		return web.Brave{Key: s.Key, URL: s.URL}
	}
	return nil
}

// handler is the handler of a verb, nil for one that is not in the set.
func (s *verbSet) handler(verb string) verbs.Handler { return s.byVerb[verb] }

// close gives up connections and processes.
func (s *verbSet) close() {
	for _, f := range s.closes {
		f()
	}
}
