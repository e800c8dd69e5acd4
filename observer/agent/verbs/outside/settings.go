package outside

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"github.com/writbus/writ/observer/agent/verbs/federation"
	"github.com/writbus/writ/observer/agent/verbs/web"
)

// braveKey names the environment variable that holds the key of the Brave Search
// API.
const braveKey = "WRIT_BRAVE_KEY"

// Settings say what the verbs of the command language reach. They are in
// verbs.yaml of the data directory, which agents cannot read: an agent that could
// write them would choose its own servers.
type Settings struct {
	// Search is the search engine behind /search.
	Search Search `yaml:"search"`
	// Allow are ranges of addresses, such as 192.168.1.0/24, that /fetch and
	// /browse may reach although they are not public.
	Allow []netip.Prefix `yaml:"allow"`
	// Browser is the path of a Chromium; "" looks for one on the PATH.
	Browser string `yaml:"browser"`
	// MCP are the servers of /mcp, by the name that agents use.
	MCP map[string]federation.Server `yaml:"mcp"`
	// A2A are the peers of /a2a, by the name that agents use.
	A2A map[string]federation.Peer `yaml:"a2a"`
}

// Search is the search engine behind /search.
type Search struct {
	// Provider is searxng, brave, or "" for none.
	Provider string `yaml:"provider"`
	// URL is the address of the SearXNG instance, or of what answers like the
	// Brave API; for brave it may be absent.
	URL string `yaml:"url"`

	key string // of Brave
}

func (s Search) provider() web.Provider {
	switch s.Provider {
	case "searxng":
		return web.SearXNG{URL: s.URL}
	case "brave":
		return web.Brave{Key: s.key, URL: s.URL}
	}
	return nil
}

// verbName is what a server or a peer can be called, so that it is one word.
var verbName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
})

// Check puts the values of variables of the environment in the place of ${NAME},
// and names the first setting that cannot be.
func (s *Settings) Check(variable func(name string) (value string, set bool)) error {
	s.Search.key, _ = variable(braveKey)
	switch e := s.Search; {
	case !slices.Contains([]string{"", "searxng", "brave"}, e.Provider):
		return fmt.Errorf("search.provider is %q, must be searxng or brave", e.Provider)
	case e.Provider == "searxng" && e.URL == "", e.URL != "" && !webAddress(e.URL):
		return fmt.Errorf("search.url is %q, must be an http or https address", e.URL)
	}
	for name, m := range s.MCP {
		if err := checkServer(name, m); err != nil {
			return fmt.Errorf("mcp.%s: %w", name, err)
		}
		if err := errors.Join(expand(m.Env, variable), expand(m.Headers, variable)); err != nil {
			return fmt.Errorf("mcp.%s: %w", name, err)
		}
	}
	for name, p := range s.A2A {
		switch {
		case !verbName().MatchString(name):
			return fmt.Errorf("a2a: %q is no name: use letters, digits, dots, dashes and underscores", name)
		case !webAddress(p.URL):
			return fmt.Errorf("a2a.%s: url is %q, must be an http or https address", name, p.URL)
		}
		if err := expand(p.Headers, variable); err != nil {
			return fmt.Errorf("a2a.%s: %w", name, err)
		}
	}
	return nil
}

func checkServer(name string, s federation.Server) error {
	switch {
	case !verbName().MatchString(name):
		return fmt.Errorf("%q is no name: use letters, digits, dots, dashes and underscores", name)
	case (len(s.Command) > 0) == (s.URL != ""):
		return fmt.Errorf("it needs a command or a url, and not both")
	case s.URL != "" && !webAddress(s.URL):
		return fmt.Errorf("url is %q, must be an http or https address", s.URL)
	case len(s.Command) > 0 && s.Command[0] == "":
		return fmt.Errorf("the command has no program")
	case s.Dir != "" && !filepath.IsAbs(s.Dir):
		return fmt.Errorf("dir is %q, must be absolute", s.Dir)
	}
	return nil
}

func webAddress(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

var reference = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)
})

// expand puts the values of variables in the place of ${NAME}.
func expand(values map[string]string, variable func(string) (string, bool)) (err error) {
	for key, value := range values {
		values[key] = reference().ReplaceAllStringFunc(value, func(name string) string {
			name = name[2 : len(name)-1]
			set, ok := variable(name)
			if !ok && err == nil {
				err = fmt.Errorf("%s: the variable %s is not set", key, name)
			}
			return set
		})
	}
	return err
}
