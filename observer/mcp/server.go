// Package mcp offers Writ's services to an agent as tools of the Model Context
// Protocol, over standard input and output.
//
// It guarantees that nothing a host sends ends the server or goes unanswered:
// lines that are no messages and lines that are too long get an error of their
// own. It speaks to the daemon with the credential that an agent's processes
// may reach, one connection for each call, so that a daemon may be restarted
// meanwhile.
//
// It cannot approve, set a mode or administer: there are no such tools, and the
// credential reaches no such service. Going on to the next phase consumes what
// the user approved.
package mcp

import (
	"context"
	"errors"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/writbus/writ/bus"
)

// Service is the daemon as the tools see it.
type Service interface {
	// Request asks a service. Its errors are those of bus.Conn.Request.
	Request(ctx context.Context, r bus.Request) (bus.Reply, error)
	Close()
}

// Options say whom a server speaks to, and for whom.
type Options struct {
	// Dial reaches the daemon, starting it where it does not run.
	Dial func(ctx context.Context) (Service, error)
	// NotRunning tells an error of Dial that a start of the daemon would mend.
	NotRunning func(err error) bool
	// Session is the agent's session, "" where nobody named it.
	Session string
	// HostSession is the session that the host named when it started this server.
	// A conversation that is resumed or cleared has another one.
	HostSession string
	Project     string // root of the project around the working folder, "" for none
	Version     string // of Writ
}

const instructions = `Writ holds the rules of this project and guards its phases of work.
Use "query" before you plan or write, with what you are about to do. Use "status" to see
what may be written now and what comes next. "advance_phase" goes on only after the user
has approved; you cannot approve for them.`

// NewServer makes the server with its tools, resources and prompts.
func NewServer(o Options) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "writ", Title: "Writ", Version: o.Version},
		&sdk.ServerOptions{Instructions: instructions, Capabilities: &sdk.ServerCapabilities{}})
	d := desk{o}
	reads := &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}
	changes := &sdk.ToolAnnotations{DestructiveHint: new(bool), OpenWorldHint: new(bool)}
	sdk.AddTool(s, &sdk.Tool{
		Name: "query", Title: "Find rules", Annotations: reads,
		Description: "Finds the rules that matter for what you are about to do. Describe the task in a sentence or two; name the library or construct.",
	}, d.query)
	sdk.AddTool(s, &sdk.Tool{
		Name: "recall", Title: "Recall observations", Annotations: reads,
		Description: "Searches what earlier sessions observed and kept.",
	}, d.recall)
	sdk.AddTool(s, &sdk.Tool{
		Name: "status", Title: "Show mode and gates", Annotations: reads,
		Description: "Shows this session's mode, phase and gates, and what comes next.",
	}, d.status)
	sdk.AddTool(s, &sdk.Tool{
		Name: "propose", Title: "Propose a rule", Annotations: changes,
		Description: "Proposes one rule, as a rule file or a JSON object. A structural gate admits it provisionally or names every reason against it; a person decides.",
	}, d.propose)
	sdk.AddTool(s, &sdk.Tool{
		Name: "advance_phase", Title: "Go on to the next phase", Annotations: changes,
		Description: "Goes on after the user approved a gate. It cannot approve: without the user's approval it is refused, and the refusal is recorded. Show what waits and stop instead.",
	}, d.advance)
	d.addResources(s)
	d.addPrompts(s)
	return s
}

// Serve answers messages, one on a line, until the input ends and every call
// has its answer, or ctx ends. It returns nil at the end of the input, and
// otherwise why it could not go on.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	err := NewServer(o).Run(ctx, &lines{in: in, out: out})
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
