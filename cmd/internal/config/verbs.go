package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
)

// BraveKey names the environment variable that holds the key of the Brave Search
// API.
const BraveKey = "WRIT_BRAVE_KEY"

// Verbs configure what the verbs of the command language reach. They are in
// verbs.yaml of the data directory, which agents cannot read: an agent that could
// write them would choose its own servers.
type Verbs struct {
	// Search is the search engine behind /search.
	Search Search `yaml:"search"`
	// Allow are ranges of addresses, such as 192.168.1.0/24, that /fetch and
	// /browse may reach although they are not public.
	Allow []netip.Prefix `yaml:"allow"`
	// Browser is the path of a Chromium; "" looks for one on the PATH.
	Browser string `yaml:"browser"`
	// MCP are the servers of /mcp, by the name that agents use.
	MCP map[string]MCPServer `yaml:"mcp"`
	// A2A are the peers of /a2a, by the name that agents use.
	A2A map[string]A2APeer `yaml:"a2a"`
}

// Search is the search engine behind /search.
type Search struct {
	// Provider is searxng, brave, or "" for none.
	Provider string `yaml:"provider"`
	// URL is the address of the SearXNG instance, or of what answers like the
	// Brave API; for brave it may be absent.
	URL string `yaml:"url"`
	// Key is the one of BraveKey.
	Key string `yaml:"-"`
}

// MCPServer is a program that is started, or an address. Values of Env and
// Headers may name variables of the daemon's environment as ${NAME}.
type MCPServer struct {
	Command []string          `yaml:"command"` // program and arguments, speaking over stdio
	Dir     string            `yaml:"dir"`     // its working folder, absolute; "" is the agent's workspace
	Env     map[string]string `yaml:"env"`     // environment variables of the program
	URL     string            `yaml:"url"`     // of a streamable HTTP endpoint
	Headers map[string]string `yaml:"headers"` // sent with every request
}

// A2APeer is an agent elsewhere.
type A2APeer struct {
	URL     string            `yaml:"url"`     // where its card is: the base address, or the card itself
	Headers map[string]string `yaml:"headers"` // sent with every request
}

// verbName is what a server or a peer can be called, so that it is one word.
var verbName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
})

// VerbsFile is the file that LoadVerbs reads.
func (l Layout) VerbsFile() string { return filepath.Join(l.Root, "verbs.yaml") }

// LoadVerbs reads verbs.yaml of a data directory; without the file nothing is
// set up. The error wraps ErrSettings and names file and key.
func LoadVerbs(dataDir string) (Verbs, error) {
	var v Verbs
	path := Layout{dataDir}.VerbsFile()
	if err := readYAML(path, &v); err != nil {
		return Verbs{}, err
	}
	v.Search.Key = os.Getenv(BraveKey)
	if err := v.check(); err != nil {
		return Verbs{}, fmt.Errorf("%w: %s: %w", ErrSettings, path, err)
	}
	return v, nil
}

func (v Verbs) check() error {
	switch s := v.Search; {
	case !slices.Contains([]string{"", "searxng", "brave"}, s.Provider):
		return fmt.Errorf("search.provider is %q, must be searxng or brave", s.Provider)
	case s.Provider == "searxng" && s.URL == "", s.URL != "" && !webAddress(s.URL):
		return fmt.Errorf("search.url is %q, must be an http or https address", s.URL)
	}
	for name, s := range v.MCP {
		if err := s.check(name); err != nil {
			return fmt.Errorf("mcp.%s: %w", name, err)
		}
		if err := errors.Join(expand(s.Env), expand(s.Headers)); err != nil {
			return fmt.Errorf("mcp.%s: %w", name, err)
		}
	}
	for name, p := range v.A2A {
		switch {
		case !verbName().MatchString(name):
			return fmt.Errorf("a2a: %q is no name: use letters, digits, dots, dashes and underscores", name)
		case !webAddress(p.URL):
			return fmt.Errorf("a2a.%s: url is %q, must be an http or https address", name, p.URL)
		}
		if err := expand(p.Headers); err != nil {
			return fmt.Errorf("a2a.%s: %w", name, err)
		}
	}
	return nil
}

func (s MCPServer) check(name string) error {
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

var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)
})

// expand puts the values of variables in the place of ${NAME}.
func expand(values map[string]string) (err error) {
	for key, value := range values {
		values[key] = variable().ReplaceAllStringFunc(value, func(name string) string {
			name = name[2 : len(name)-1]
			set, ok := os.LookupEnv(name)
			if !ok && err == nil {
				err = fmt.Errorf("%s: the variable %s is not set", key, name)
			}
			return set
		})
	}
	return err
}
