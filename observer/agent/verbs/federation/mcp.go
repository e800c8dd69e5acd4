package federation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas/excerpt"
)

// Server is an MCP server: a program that speaks over its standard streams, or
// the URL of a streamable HTTP endpoint. In the settings, values of Env and Headers
// may name variables of the environment as ${NAME}.
type Server struct {
	Command []string          `yaml:"command"` // program and arguments, speaking over stdio
	Dir     string            `yaml:"dir"`     // its working folder, absolute; "" is the agent's workspace
	Env     map[string]string `yaml:"env"`     // environment variables of the program
	URL     string            `yaml:"url"`     // of a streamable HTTP endpoint
	Headers map[string]string `yaml:"headers"` // sent with every request
}

// MCP is the handler of /mcp. Close ends its servers.
type MCP struct {
	servers map[string]Server
	pool    *pool
}

// NewMCP makes the handler of /mcp for servers by name. version is Writ's own.
func NewMCP(servers map[string]Server, version string) *MCP {
	return &MCP{servers: servers, pool: newPool(version)}
}

// Close ends connections and servers.
func (m *MCP) Close() { m.pool.close() }

// Handle runs /mcp tools and /mcp call.
func (m *MCP) Handle(ctx context.Context, c verbs.Call) (verbs.Result, error) {
	switch c.Sub {
	case "tools":
		return m.tools(ctx, c), nil
	case "call":
		return m.call(ctx, c), nil
	}
	return verbs.Err("/mcp has no "+firstWord(c.Args), "write /mcp tools [SERVER] or /mcp call SERVER TOOL JSON"), nil
}

func (m *MCP) tools(ctx context.Context, c verbs.Call) verbs.Result {
	names := slices.Sorted(maps.Keys(m.servers))
	if len(names) == 0 {
		return verbs.Err("no MCP server is set up", "do without, or ask the user to set one up")
	}
	if name := strings.TrimSpace(c.Rest); name != "" {
		if _, ok := m.servers[name]; !ok {
			return m.unknown(name)
		}
		names = []string{name}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return c.Grant.Check(dialect.Request{Verb: "mcp", Args: "tools " + name, Workspace: c.Workspace}).Verdict != dialect.Allow
	})
	var out strings.Builder
	shown, failed := 0, 0
	for _, name := range names {
		tools, err := m.list(ctx, c, name)
		if err != nil {
			failed++
			out.WriteString(m.trouble(name, err).Text + "\n")
			continue
		}
		tools = slices.DeleteFunc(tools, func(t *sdk.Tool) bool { return !c.Grant.Tool(name, t.Name) })
		if len(tools) == 0 {
			continue
		}
		fmt.Fprintf(&out, "%s:\n", name)
		for _, t := range tools {
			shown++
			fmt.Fprintf(&out, "  %s %s\n", t.Name, arguments(t.InputSchema))
			if text := excerpt.Bytes(excerpt.Line(t.Description), maxDescription); text != "" {
				fmt.Fprintf(&out, "    %s\n", text)
			}
		}
	}
	switch {
	case shown > 0:
		return verbs.Content(verbs.TrustMCP, out.String()).With("tools", fmt.Sprint(shown))
	case failed > 0:
		return verbs.Result{Text: out.String(), Trust: verbs.TrustMCP}
	}
	return verbs.OK("no tools that you may call")
}

// maxDescription bounds what is shown of a tool's description, in bytes.
const maxDescription = 300

// list reads all pages of a server's tools.
func (m *MCP) list(ctx context.Context, c verbs.Call, name string) (all []*sdk.Tool, err error) {
	err = m.pool.use(ctx, m.key(c, name), m.servers[name], func(s *sdk.ClientSession) error {
		all = nil
		for tool, err := range s.Tools(ctx, nil) {
			if err != nil {
				return err
			}
			if all = append(all, tool); len(all) == maxTools {
				break
			}
		}
		return nil
	})
	sort.SliceStable(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all, err
}

const maxTools = 1000 // of one server

// key tells connections apart: a server that works in the caller's workspace has
// one for each.
func (m *MCP) key(c verbs.Call, name string) key {
	s := m.servers[name]
	dir := s.Dir
	if len(s.Command) > 0 && dir == "" {
		dir = c.Workspace
	}
	return key{name, dir}
}

func (m *MCP) call(ctx context.Context, c verbs.Call) verbs.Result {
	name, rest := cutWord(c.Rest)
	tool, text := cutWord(rest)
	if name == "" || tool == "" {
		return verbs.Err("/mcp call needs a server and a tool", "write /mcp call SERVER TOOL JSON")
	}
	server, ok := m.servers[name]
	if !ok {
		return m.unknown(name)
	}
	text = cmp.Or(text, "{}")
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil || object == nil {
		return verbs.Err("the arguments are no JSON object: "+problemOf(err), "write them as {\"name\": value} on the line of the command")
	}
	var result *sdk.CallToolResult
	err := m.pool.use(ctx, m.key(c, name), server, func(s *sdk.ClientSession) (err error) {
		result, err = s.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(text)})
		return err
	})
	if err != nil {
		return m.trouble(name, err)
	}
	return answered(name, tool, result)
}

func (m *MCP) unknown(name string) verbs.Result {
	names := strings.Join(slices.Sorted(maps.Keys(m.servers)), ", ")
	if names == "" {
		return verbs.Err("no MCP server is set up", "do without, or ask the user to set one up")
	}
	return verbs.Err("there is no MCP server "+name, "use one of "+names)
}

// trouble says why a server did not do what it was asked.
func (m *MCP) trouble(name string, err error) verbs.Result {
	var wire *jsonrpc.Error
	switch {
	case errors.As(err, &wire):
		r := verbs.Err("MCP server "+name+" refused: "+wire.Message, "/mcp tools "+name+" shows its tools and their arguments")
		r.Trust = verbs.TrustMCP
		return r
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return verbs.Err("no answer from MCP server "+name+" in time", "ask for less at once, or try again later")
	}
	r := verbs.Err("MCP server "+name+" cannot be used: "+err.Error(), "do without, or tell the user")
	r.Trust = verbs.TrustMCP
	return r
}

func problemOf(err error) string {
	if err == nil {
		return "it is null"
	}
	return err.Error()
}

func firstWord(s string) string {
	word, _ := cutWord(s)
	return word
}

func cutWord(s string) (word, rest string) {
	s = strings.Trim(s, " \t")
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], strings.TrimLeft(s[i:], " \t")
	}
	return s, ""
}
