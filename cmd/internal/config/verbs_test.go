package config

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/writbus/writ/observer/agent/verbs/outside"
)

func TestLoadVerbs(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("VERBS_TEST_TOKEN", "secret")
	var v outside.Settings
	if err := LoadVerbs(dir, &v); err != nil || len(v.MCP) != 0 || v.Search.Provider != "" {
		t.Errorf("without a file: %+v, %v", v, err)
	}
	write := func(text string) {
		if err := os.WriteFile(Layout{dir}.VerbsFile(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`search: {provider: brave}
allow: [192.168.1.0/24, "fd00::/8"]
mcp:
  files: {command: [npx, -y, server], dir: /srv, env: {TOKEN: "${VERBS_TEST_TOKEN}"}}
  far: {url: "https://mcp.example.com/", headers: {Authorization: "Bearer ${VERBS_TEST_TOKEN}", X: "a$b$$c"}}
a2a:
  reviewer: {url: "http://127.0.0.1:8080"}
`)
	err := LoadVerbs(dir, &v)
	if err != nil || len(v.Allow) != 2 || v.Allow[0].String() != "192.168.1.0/24" || v.MCP["files"].Env["TOKEN"] != "secret" ||
		v.MCP["far"].Headers["Authorization"] != "Bearer secret" || v.MCP["far"].Headers["X"] != "a$b$$c" || v.A2A["reviewer"].URL != "http://127.0.0.1:8080" {
		t.Errorf("%+v, %v", v, err)
	}
	for text, want := range map[string]string{
		"search: {provider: bing}":                    "search.provider is \"bing\"",
		"search: {provider: searxng}":                 "search.url is \"\"",
		"search: {provider: searxng, url: localhost}": "search.url is \"localhost\"",
		"serach: {}":          "serach",
		"allow: [everything]": "everything",
		"mcp: {x: {}}":        "mcp.x: it needs a command or a url",
		"mcp: {x: {command: [a], url: 'http://a'}}":                     "mcp.x: it needs a command or a url, and not both",
		"mcp: {'a b': {command: [a]}}":                                  "\"a b\" is no name",
		"mcp: {x: {command: [a], dir: rel}}":                            "mcp.x: dir is \"rel\"",
		"mcp: {x: {url: 'ftp://a'}}":                                    "mcp.x: url is \"ftp://a\"",
		"mcp: {x: {command: [a], env: {A: '${VERBS_TEST_NOT_SET}'}}}":   "mcp.x: A: the variable VERBS_TEST_NOT_SET is not set",
		"a2a: {x: {url: ''}}":                                           "a2a.x: url is \"\"",
		"a2a: {x: {url: 'http://a', headers: {B: '${VERBS_NOT_SET}'}}}": "a2a.x: B: the variable",
	} {
		write(text)
		if err := LoadVerbs(dir, &outside.Settings{}); !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "verbs.yaml") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
