package agents

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// runFlags are those of run and dispatch.
type runFlags struct {
	agent, workspace, model string
	detach                  bool
}

func (f *runFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.agent, "agent", "", "the file of the agent's constitution")
	c.Flags().StringVar(&f.workspace, "workspace", "", "the folder the agent works in (default: this one)")
	_ = c.MarkFlagRequired("agent")
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run MESSAGE --agent FILE",
		Short: "Ask an agent and let it work",
		Long: `Asks an agent, shows what it says as it says it, and runs the commands that its
constitution grants. Agents that it may ask lie beside its file. The language
model is the one of the daemon's settings.

At a terminal of your own, what needs confirmation is asked for; elsewhere it
does not run. Ctrl-C stops the agent; a second one leaves it to stop by itself.
Where this command is killed, or its terminal is closed, the agent goes on: writ
agent list shows it, and writ agent stop ends it. The exit status is 1 unless it
answered.`,
		Example: `  writ agent run --agent agents/reviewer.json "Review the last commit."
  git diff | writ agent run --agent agents/reviewer.json - --json
  writ agent run --agent agents/night.json --detach "Tidy up the notes."`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			message := args[0]
			if message == "-" {
				raw, err := a.ReadBoundedStream("run", maxMessage)
				if err != nil {
					return err
				}
				message = string(raw)
			}
			if strings.TrimSpace(message) == "" {
				return client.Usage("run: there is no message", "Say what the agent is to do.")
			}
			return a.runAgent(cmd.Context(), "run", schemas.SvcAgentRun, f, schemas.AgentRunRequest{Message: message, Model: f.model})
		},
	}
	f.add(c)
	c.Flags().StringVar(&f.model, "model", "", "ask this model of the configured endpoint instead of the constitution's")
	c.Flags().BoolVar(&f.detach, "detach", false, "print the id of the run and leave it at work")
	return c
}

const (
	maxMessage    = 1 << 20
	maxTranscript = 16 << 20
)

func (a *app) dispatchCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "dispatch [TRANSCRIPT] --agent FILE",
		Short: "Run the commands of a recorded response",
		Long: `Scans a response, from a file or standard input, as if the agent had just said it,
and runs the commands that its constitution grants. What the agent would be told
is printed on standard output, what happens meanwhile on standard error.`,
		Example: `  writ agent dispatch --agent agents/dev.json < response.txt
  writ agent dispatch --agent agents/dev.json response.txt --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := a.transcript(client.First(args))
			if err != nil {
				return err
			}
			return a.runAgent(cmd.Context(), "dispatch", schemas.SvcDispatch, f, schemas.AgentRunRequest{Transcript: raw})
		},
	}
	f.add(c)
	return c
}

func (a *app) transcript(name string) ([]byte, error) {
	if name == "" || name == "-" {
		return a.ReadBoundedStream("dispatch", maxTranscript)
	}
	raw, err := client.ReadBounded(a.Env.Absolute(name), maxTranscript)
	if err != nil {
		return nil, client.Refused("dispatch "+name, err.Error(), "")
	}
	return raw, nil
}

// runAgent starts a run and watches it to its end.
func (a *app) runAgent(ctx context.Context, what, subject string, f runFlags, r schemas.AgentRunRequest) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	r.Run, r.File, r.Workspace = id.String(), a.Env.Absolute(f.agent), a.Env.Absolute(f.workspace)
	r.Confirms = !a.JSON && client.IsTerminal(a.Err) && a.IsPerson() == nil
	s, err := a.Open(ctx, client.RoleAdmin)
	if err != nil {
		return client.Explain(what, err)
	}
	defer s.Close()
	if _, err := client.Call[schemas.AgentRunReply](ctx, s, subject, r); err != nil {
		return client.Explain(what, err)
	}
	if f.detach {
		return a.Print(schemas.AgentRunReply{Run: r.Run}, func() { a.Printf("%s\n", r.Run) })
	}
	w := &runWatch{app: a, service: s, run: r.Run, what: what, notes: a.Env.Style(a.Err), bol: true}
	w.terminal, w.answers.in = client.IsTerminal(a.Out), bufio.NewReader(a.In)
	return w.follow(ctx)
}

// runWatch shows a run as it goes on.
type runWatch struct {
	app       *app
	service   client.Service
	run, what string
	notes     client.Style
	terminal  bool // the output is one
	bol       bool // the output is at the beginning of a line
	answers   typed
	children  map[string]string // their names, by run
	named     map[string]int    // children of a name
	// interrupted ends when the user wants the run to stop.
	interrupted context.Context
}

func (w *runWatch) follow(ctx context.Context) error {
	interrupted, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	w.interrupted = interrupted
	after, told := uint64(0), false
	for {
		if interrupted.Err() != nil && !told {
			told = true
			stop() // the second time ends this command
			if _, err := client.Call[struct{}](ctx, w.service, schemas.SvcAgentStop, schemas.AgentQuery{Run: w.run}); err != nil {
				return client.Explain(w.what, err)
			}
		}
		asking, cancel := ctx, context.CancelFunc(func() {})
		if !told {
			asking, cancel = context.WithCancel(interrupted)
		}
		reply, err := client.Call[schemas.AgentFollowReply](asking, w.service, schemas.SvcAgentFollow, schemas.AgentFollowRequest{Run: w.run, After: after})
		cancel()
		if err != nil && interrupted.Err() != nil && !told && ctx.Err() == nil {
			continue // to tell it
		}
		if err != nil {
			return w.left(err)
		}
		if reply.Lost > 0 {
			w.note(fmt.Sprintf("%s not shown: `writ agent show %s` shows all", client.Plural(reply.Lost, "piece was", "pieces were"), w.run))
		}
		for _, f := range reply.Frames {
			after = f.Seq
			if err := w.show(ctx, f); err != nil {
				return err
			}
		}
		if reply.Done {
			return w.end(reply)
		}
	}
}

// left says that a run is no longer watched, and where to find it.
func (w *runWatch) left(err error) error {
	if !w.bol && !w.app.JSON {
		fmt.Fprintln(w.app.Out)
	}
	var f *client.Fault
	if explained := client.Explain(w.what, err); errors.As(explained, &f) {
		f.Todo = client.JoinNonEmpty(" ", "`writ agent show "+w.run+"` shows how far it came.", f.Todo)
		return f
	}
	return err
}

// show shows one frame: prose on standard output, all else on standard error.
func (w *runWatch) show(ctx context.Context, f schemas.AgentFrame) error {
	if w.app.JSON {
		return w.app.PrintJSON(f)
	}
	inset := w.inset(f)
	if f.Kind != schemas.FrameProse {
		f.Text = client.PrintableLines(f.Text)
	}
	switch f.Kind {
	case schemas.FrameProse:
		if f.Depth > 0 || w.what == "dispatch" {
			return nil // a child's answer is a result; a recorded response is known
		}
		w.bol = strings.HasSuffix(f.Text, "\n")
		text := f.Text
		if w.terminal {
			text = client.PrintableLines(text)
		}
		_, err := io.WriteString(w.app.Out, text)
		return err
	case schemas.FrameStarted:
		if f.Depth > 0 {
			w.note(inset + w.notes.Dim("begins"))
		}
	case schemas.FrameCommand:
		w.note(inset + w.notes.Cyan("▸ "+f.Text))
	case schemas.FrameResult:
		w.note(inset + w.notes.Dim("  "+f.Text))
	case schemas.FrameDenied:
		w.note(inset + w.notes.Red("✗ "+f.Text))
	case schemas.FrameAdvice:
		w.note(inset + w.notes.Yellow("advisor: "+f.Text))
	case schemas.FrameNote:
		w.note(inset + w.notes.Yellow("! "+f.Text))
	case schemas.FrameConfirm:
		return w.confirm(ctx, f)
	case schemas.FrameFinished:
		if f.Depth > 0 {
			w.note(inset + w.notes.Dim("ends: "+f.Text))
		}
	}
	return nil
}

// inset is what stands before the lines of a child: its name, with a number
// where there were others of the name.
func (w *runWatch) inset(f schemas.AgentFrame) string {
	if f.Depth == 0 {
		return ""
	}
	name := w.children[f.Run]
	if name == "" {
		if w.children == nil {
			w.children, w.named = map[string]string{}, map[string]int{}
		}
		w.named[f.Agent]++
		if name = f.Agent; w.named[f.Agent] > 1 {
			name = fmt.Sprintf("%s·%d", f.Agent, w.named[f.Agent])
		}
		w.children[f.Run] = name
	}
	return strings.Repeat("  ", f.Depth) + w.notes.Dim(client.Printable(name)) + " "
}

func (w *runWatch) note(text string) {
	if !w.bol {
		fmt.Fprintln(w.app.Out)
		w.bol = true
	}
	w.app.Note("%s", text)
}

// ended is the end of a run as JSON shows it.
type ended struct {
	Kind string `json:"kind"` // end
	Run  string `json:"run"`
	schemas.AgentFinished
	Batch string `json:"batch,omitempty"`
}

func (w *runWatch) end(reply schemas.AgentFollowReply) error {
	f := schemas.AgentFinished{Outcome: "failed", Reason: "the daemon did not say how it ended"}
	if reply.Finished != nil {
		f = *reply.Finished
	}
	if w.app.JSON {
		if err := w.app.PrintJSON(ended{"end", w.run, f, reply.Batch}); err != nil {
			return err
		}
		if f.Outcome != "answered" {
			return &client.Fault{Code: client.ExitFailed}
		}
		return nil
	}
	if !w.bol {
		w.app.Printf("\n")
	}
	if w.what == "dispatch" {
		w.app.Printf("%s", reply.Batch)
		if reply.Batch != "" && !strings.HasSuffix(reply.Batch, "\n") {
			w.app.Printf("\n")
		}
	}
	if f.Outcome != "answered" {
		return client.Refused(w.what, client.JoinNonEmpty(": ", f.Outcome, f.Reason), "`writ agent show "+w.run+"` shows all of it.")
	}
	if f.Reason != "" {
		w.note(w.notes.Yellow("! " + f.Reason))
	}
	return nil
}
