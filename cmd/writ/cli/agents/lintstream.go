package agents

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/observer/agent/scanner"
	"github.com/writbus/writ/observer/agent/vocabulary"
)

func (a *app) lintStreamCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lint-stream [FILE]",
		Short: "Show what a response is to the command language, without running it",
		Long: `Reads an agent's response from a file or standard input and shows prose, commands
and diagnostics as the one scanner finds them, as soon as they are certain.
Nothing is run. The exit status is 1 where there is a diagnostic.`,
		Example: `  writ agent lint < response.txt
  writ agent lint response.txt --json | jq -r 'select(.kind == "command") | .verb'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			in := a.In
			if name := client.First(args); name != "" && name != "-" {
				f, err := os.Open(a.Env.Absolute(name))
				if err != nil {
					return client.Refused("lint-stream", err.Error(), "")
				}
				defer func() { _ = f.Close() }()
				in = f
			}
			return a.lintStream(in)
		},
	}
}

// scanBuffer is how much of a stream is read at once.
const scanBuffer = 64 << 10

func (a *app) lintStream(in io.Reader) error {
	shown := &lintSink{app: a, st: a.Env.Style(a.Out), bol: true}
	scanner := scanner.New(vocabulary.Table(), shown)
	buffer := make([]byte, scanBuffer)
	for {
		n, err := in.Read(buffer)
		if _, scanErr := scanner.Write(buffer[:n]); scanErr != nil {
			return scanErr
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return client.Refused("lint-stream", err.Error(), "")
		}
	}
	if err := scanner.Close(); err != nil {
		return err
	}
	if shown.err == nil && shown.problems > 0 {
		return &client.Fault{Code: client.ExitFailed}
	}
	return shown.err
}

// lintSink shows what the scanner finds, in its order.
type lintSink struct {
	app      *app
	st       client.Style
	bol      bool // the output is at the beginning of a line
	problems int
	err      error
}

// lintedCommand is a command as JSON shows it.
type lintedCommand struct {
	Kind      string   `json:"kind"`
	Verb      string   `json:"verb"`
	Args      string   `json:"args,omitempty"`
	Body      *string  `json:"body,omitempty"`
	Status    string   `json:"status"`
	Line      int      `json:"line"`
	Start     int64    `json:"start"`
	End       int64    `json:"end"`
	Swallowed []string `json:"swallowed,omitempty"`
}

type lintedDiagnostic struct {
	Kind       string `json:"kind"`
	Diagnostic string `json:"diagnostic"`
	Line       int    `json:"line"`
	Name       string `json:"name,omitempty"`
	Suggestion string `json:"suggestion,omitempty"`
	Note       string `json:"note"`
}

func (s *lintSink) Prose(text []byte) {
	if s.app.JSON {
		s.print(struct {
			Kind string `json:"kind"`
			Text string `json:"text"`
		}{"prose", string(text)})
		return
	}
	if _, err := s.app.Out.Write(text); err != nil && s.err == nil {
		s.err = err
	}
	s.bol = text[len(text)-1] == '\n'
}

func (s *lintSink) Command(c scanner.Command) {
	if s.app.JSON {
		one := lintedCommand{
			Kind: "command", Verb: c.Verb, Args: c.Args, Status: c.Status.String(), Line: c.Line,
			Start: c.Start, End: c.End, Swallowed: c.Swallowed,
		}
		if c.HasBody {
			one.Body = &c.Body
		}
		s.print(one)
		return
	}
	text := "/" + client.JoinNonEmpty(" ", c.Verb, c.Args)
	if c.HasBody {
		text += fmt.Sprintf(" (%s)", client.Plural(len(c.Body), "byte", "bytes"))
	}
	s.line(s.st.Cyan("▸ " + text))
}

func (s *lintSink) Diagnostic(d scanner.Diagnostic) {
	s.problems++
	if s.app.JSON {
		s.print(lintedDiagnostic{"diagnostic", string(d.Kind), d.Line, d.Name, d.Suggestion, d.String()})
		return
	}
	s.line(s.st.Yellow("! " + d.String()))
}

func (s *lintSink) line(text string) {
	if !s.bol {
		s.app.Printf("\n")
	}
	s.bol = true
	s.app.Printf("%s\n", text)
}

func (s *lintSink) print(value any) {
	if err := s.app.PrintJSON(value); err != nil && s.err == nil {
		s.err = err
	}
}
