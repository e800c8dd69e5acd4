package federation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
)

// serverArg makes the test binary an MCP server on its standard streams.
const serverArg = "mcp-server"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serverArg {
		if len(os.Args) > 2 && os.Args[2] == "broken" {
			fmt.Fprintln(os.Stderr, "the configuration is missing")
			os.Exit(3)
		}
		if err := newServer().Run(context.Background(), &sdk.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type named struct {
	Name string `json:"name" jsonschema:"who is greeted"`
	Loud bool   `json:"loud,omitempty"`
}

// newServer is a real server, made with the official SDK.
func newServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "greet", Description: "Greets\nsomebody."}, func(_ context.Context, _ *sdk.CallToolRequest, in named) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hello " + in.Name}}}, nil, nil
	})
	type none struct{}
	add := func(name string, handle func(ctx context.Context) (*sdk.CallToolResult, error)) {
		sdk.AddTool(s, &sdk.Tool{Name: name}, func(ctx context.Context, _ *sdk.CallToolRequest, _ none) (*sdk.CallToolResult, any, error) {
			r, err := handle(ctx)
			return r, nil, err
		})
	}
	add("fails", func(context.Context) (*sdk.CallToolResult, error) { return nil, errors.New("it did not work") })
	add("picture", func(context.Context) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "look:"}, &sdk.ImageContent{MIMEType: "image/png", Data: []byte("png")}, &sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("wav")},
			&sdk.ResourceLink{URI: "file:///x", Name: "x"}, &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "mem:y", Text: "inside"}},
		}}, nil
	})
	add("environment", func(context.Context) (*sdk.CallToolResult, error) {
		dir, err := os.Getwd()
		text := fmt.Sprintf("%s %q %q", dir, os.Getenv("OURS"), os.Getenv("SECRET_KEY"))
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, err
	})
	add("die", func(context.Context) (*sdk.CallToolResult, error) { os.Exit(7); return nil, nil })
	add("hang", func(ctx context.Context) (*sdk.CallToolResult, error) { <-ctx.Done(); return nil, ctx.Err() })
	add("child", func(context.Context) (*sdk.CallToolResult, error) {
		cmd := exec.Command("sleep", "300")
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprint(cmd.Process.Pid, " ", os.Getpid())}}}, nil
	})
	add("nothing", func(context.Context) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{}}, nil
	})
	add("refuses", func(context.Context) (*sdk.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: -32000, Message: "not today"}
	})
	return s
}

// overHTTP serves the server over streamable HTTP, to who has the token.
func overHTTP(t *testing.T, token string) string {
	t.Helper()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return newServer() }, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != token {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func ask(ctx context.Context, t *testing.T, h verbs.Handler, verb, args, workspace string, grants ...string) verbs.Result {
	t.Helper()
	if len(grants) == 0 {
		grants = []string{"*"}
	}
	c := verbs.NewCall(verb, args, nil)
	c.Run, c.Workspace, c.Grant, c.Limits = "run", workspace, dialect.NewGrant(grants), dialect.DefaultLimits()
	r, err := h.Handle(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
