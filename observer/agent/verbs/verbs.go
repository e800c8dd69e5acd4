package verbs

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/schemas/excerpt"
)

// Call is one command that may run.
type Call struct {
	// Run identifies the conversation: what artifacts and notes belong to.
	Run string
	// Agent is the name of the constitution that speaks.
	Agent string
	Verb  string // without its slash
	// Sub is the sub-verb as the table has it, "" where there is none.
	Sub string
	// Args is all that stands behind the verb, the sub-verb included.
	Args string
	// Rest is what stands behind the sub-verb; Args where there is none.
	Rest string
	// Body is what a block holds, verbatim; nil for a command of one line.
	Body []byte
	// Workspace is the absolute folder that paths are relative to.
	Workspace string
	// Constitution is the absolute path of the file that says who the agent is; ""
	// where there is none. The agents beside it are those it may ask.
	Constitution string
	// Grant is what the agent may do, for what only the handler finds out: the
	// tools of a server that it may see, the host that a redirect leads to.
	Grant dialect.Grant
	// Limits are those of the response.
	Limits dialect.Limits
	// Confirmed says that a person agreed to this very command.
	Confirmed bool
}

// NewCall fills in what the verb table says about a command.
func NewCall(verb, args string, body []byte) Call {
	c := Call{Verb: verb, Args: args, Rest: args, Body: body}
	if v := dialect.Lookup(verb); v != nil {
		if sub, rest := v.Sub(args); sub != nil {
			c.Sub, c.Rest = sub.Name, rest
		}
	}
	return c
}

// Handler runs the commands of one verb or of several. It is safe for
// concurrent use.
type Handler interface {
	// Handle runs a command. An error means that Writ failed, not the command.
	Handle(ctx context.Context, c Call) (Result, error)
}

// HandlerFunc makes a Handler of a function.
type HandlerFunc func(ctx context.Context, c Call) (Result, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, c Call) (Result, error) { return f(ctx, c) }

// Outcome is how a command ended. The zero value is the careful answer.
type Outcome string

// The outcomes (persisted; never change).
const (
	Failed  Outcome = ""        // nothing was done, or not what was asked for
	Done    Outcome = "ok"      // it was done
	Skipped Outcome = "skipped" // it was not tried
	Asks    Outcome = "asks"    // a person has to confirm it first; nothing was done
)

// Result is what came of a command.
type Result struct {
	Outcome Outcome
	// Text is the body of the frame, uncut.
	Text string
	// End is how many bytes at the end of Text say how it came out, such as an exit
	// code: they stay where the text is cut.
	End int
	// Trust says where a text came from that Writ did not write: one of the
	// Trust… constants, "" for Writ's own words. Frames put "untrusted: " before it.
	Trust string
	// Outside says that text from outside was before whoever gave this result.
	Outside bool
	// Images go to the model beside the text, in their order. The dispatcher
	// numbers them and appends Image.Note for each.
	Images []Image
	// Keep are artifacts to store. The dispatcher names their ids to the agent.
	Keep []Artifact
	// Details are facts for the event of the result, such as the final URL, the
	// exit code or the digest of what was written.
	Details map[string]string
}

// Labels of trust.
const (
	TrustWeb   = "web"   // a page, a search result, an image from outside
	TrustFile  = "file"  // a file of the workspace
	TrustShell = "shell" // output of a program
	TrustMCP   = "mcp"   // an MCP server
	TrustPeer  = "agent" // another agent, here or elsewhere
)

// Image is one image part.
type Image struct {
	MIME string // image/png, image/jpeg, image/gif, image/webp
	Data []byte
	Name string // where it is from: a URL or a path
}

// Note is the line that stands in a result for its nth image of the turn.
func (i Image) Note(n int) string {
	return fmt.Sprintf("[fetched as image #%d — %s, %d bytes; see image content attached to this turn]", n, i.MIME, len(i.Data))
}

// Artifact is something that a conversation keeps.
type Artifact struct {
	ID   string // as /read takes it, without its "#"; "" before it is stored
	Name string // a path or a title
	MIME string
	Data []byte
	Size int // of the whole, in bytes; Data may be absent in a listing
}

// OK is a result that begins with "OK:".
func OK(format string, args ...any) Result {
	return Result{Outcome: Done, Text: "OK: " + fmt.Sprintf(format, args...)}
}

// Err is a refusal or a failure: what is wrong, and what the agent should do
// instead. Neither has a full stop of its own. What may quote text of others; it
// is made one line.
func Err(what, adapt string) Result {
	return Result{Text: "ERR: " + phrase(what) + ". Adapt: " + phrase(adapt) + "."}
}

// Skip is a command that was not tried; adapt may be "".
func Skip(what, adapt string) Result {
	if adapt != "" {
		adapt = " " + adapt + "."
	}
	return Result{Outcome: Skipped, Text: "SKIPPED: " + phrase(what) + "." + adapt}
}

// Ask is a command that waits for a person: nothing was done.
func Ask(what string) Result {
	return Result{Outcome: Asks, Text: "WARN: " + phrase(what) + "; nothing was done. It runs only after the user confirmed it."}
}

// Content is text from somewhere else, labelled.
func Content(trust, text string) Result {
	return Result{Outcome: Done, Text: text, Trust: trust}
}

// With adds a fact for the event.
func (r Result) With(key, value string) Result {
	details := make(map[string]string, len(r.Details)+1)
	maps.Copy(details, r.Details)
	details[key] = value
	r.Details = details
	return r
}

const maxLine = 1000 // bytes of what an error quotes

func phrase(s string) string {
	return excerpt.Bytes(strings.TrimRight(excerpt.Line(s), "."), maxLine)
}
