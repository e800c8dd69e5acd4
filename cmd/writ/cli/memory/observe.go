package memory

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

const (
	// observeBatch and observeBytes bound one request of many observations.
	observeBatch = 200
	observeBytes = 4 << 20
	// transcriptBytes is what one request brings of a transcript, and
	// judgedBudget how long it may take where a language model is asked, or a
	// page of large observations goes to or from the log.
	transcriptBytes = 192 << 10
	judgedBudget    = 10 * time.Minute
)

// observeFlags are what observations of one command share.
type observeFlags struct {
	one               schemas.Observation
	jsonl, transcript string
	classify          bool
}

func (a *app) observeCommand() *cobra.Command {
	var flags observeFlags
	c := &cobra.Command{
		Use:   "observe [TEXT|-]",
		Short: "Record an observation behind the write gate; durable when the command ends",
		Long: `Records what may be worth keeping. An annotation in front says what to do with
it: [gate=allow|hold|discard confidence=0.8 category=c reason="short"] text.
Without one it is allowed, as a fallback with a named reason; --classify lets the
classifier decide instead: the configured model, or the one in the program.
Nothing is lost, whatever the verdict; secrets are taken out before anything is
stored.

--jsonl reads one object a line: text (or original, in base64), and id, scope,
source, session, category where they differ from the flags. An object's id makes
a repeated one no second observation. --transcript reads a Claude Code
transcript, takes the annotated lines of the assistant, and lets the classifier
extract what else is worth keeping.`,
		Example: `  writ memory add "[gate=allow category=build] tests need -race"
  git log -1 --format=%B | writ memory add - --source git
  writ memory add --jsonl notes.jsonl
  writ memory add --transcript ~/.claude/projects/p/s.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := a.observations(cmd, args, flags)
			if err != nil {
				return err
			}
			for i := range all {
				all[i].Classify = flags.classify
			}
			return a.observe(cmd.Context(), all)
		},
	}
	f := c.Flags()
	f.StringVar(&flags.jsonl, "jsonl", "", "a file with one JSON object a line, or - for standard input")
	f.StringVar(&flags.transcript, "transcript", "", "a transcript of Claude Code")
	f.BoolVar(&flags.classify, "classify", false, "let the classifier decide about what has no annotation")
	f.StringVar(&flags.one.ID, "id", "", "its id: observing it again changes nothing")
	f.StringVar(&flags.one.Scope, "scope", "", "the project it belongs to, or global (default: the project of this folder, else global)")
	f.StringVar(&flags.one.Source, "source", "", "who observed it (default: agent or person)")
	f.StringVar(&flags.one.Session, "session", "", "the session it comes from (default $CLAUDE_CODE_SESSION_ID)")
	f.StringVar(&flags.one.Category, "category", "", "its category where the annotation names none")
	c.MarkFlagsMutuallyExclusive("jsonl", "transcript")
	c.MarkFlagsMutuallyExclusive("id", "jsonl")
	c.MarkFlagsMutuallyExclusive("id", "transcript")
	return c
}

// observations reads what the command line names, whole, before anything is
// recorded.
func (a *app) observations(cmd *cobra.Command, args []string, flags observeFlags) ([]schemas.ObserveRequest, error) {
	shared := flags.one
	shared.Session = a.SessionOr(shared.Session)
	if shared.Scope == "" {
		shared.Scope = a.memoryScope()
	}
	if !cmd.Flags().Changed("source") {
		shared.Source = "person"
		if a.AgentAround() != "" {
			shared.Source = "agent"
		}
	}
	files := flags.jsonl != "" || flags.transcript != ""
	switch {
	case files && len(args) > 0:
		return nil, client.Usage("observe: a text and a file", "Give one of them.")
	case flags.jsonl != "":
		all, err := a.observedLines(flags.jsonl, shared)
		return inRequests(all), err
	case flags.transcript != "":
		return a.transcriptRequests(flags.transcript, shared)
	case len(args) == 0 && client.IsTerminal(a.In):
		return nil, client.Usage("observe: there is nothing to observe", "Give a text, - for standard input, --jsonl or --transcript.")
	case len(args) == 0 || args[0] == "-":
		raw, err := a.readObserved("-", client.MaxPayload)
		if err != nil {
			return nil, err
		}
		shared.Input = raw
	default:
		shared.Input = []byte(args[0])
	}
	if len(bytes.TrimSpace(shared.Input)) == 0 {
		return nil, client.Usage("observe: there is nothing to observe", "Give a text, - for standard input, --jsonl or --transcript.")
	}
	return inRequests([]schemas.Observation{shared}), nil
}

// memoryScope is the project of this folder, or global.
func (a *app) memoryScope() string {
	if root, found := config.FindProject(a.Env.Dir); found && len(root) <= schemas.MaxIDBytes {
		return root
	}
	return schemas.MemoryGlobal
}

// readObserved reads a file, or standard input for "-".
func (a *app) readObserved(name string, most int64) ([]byte, error) {
	in := a.In
	if name != "-" {
		f, err := os.Open(a.Env.Absolute(name))
		if err != nil {
			return nil, client.Refused("observe", err.Error(), "")
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, most+1))
	switch {
	case err != nil:
		return nil, client.Refused("observe "+name, err.Error(), "")
	case int64(len(raw)) > most:
		return nil, client.Refused("observe "+name, fmt.Sprintf("it is larger than %d MiB", most>>20), "Observe it in parts.")
	}
	return raw, nil
}

// observedFile bounds a file of many observations.
const observedFile = 1 << 30

// observedObject is a line of a JSON Lines file.
type observedObject struct {
	ID            string  `json:"id"`
	ObservationID string  `json:"observation_id"`
	Text          *string `json:"text"`
	Original      []byte  `json:"original"`
	Scope         string  `json:"scope"`
	Source        string  `json:"source"`
	Session       string  `json:"session"`
	Category      string  `json:"category"`
}

func (a *app) observedLines(name string, shared schemas.Observation) ([]schemas.Observation, error) {
	raw, err := a.readObserved(name, observedFile)
	if err != nil {
		return nil, err
	}
	var all []schemas.Observation
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var o observedObject
		if err := json.Unmarshal(line, &o); err != nil {
			return nil, client.Refused(fmt.Sprintf("observe %s:%d", name, n), client.OneLine(err.Error()), "Nothing was recorded. Each line is an object with text, or original in base64.")
		}
		if o.Text == nil && o.Original == nil {
			return nil, client.Refused(fmt.Sprintf("observe %s:%d", name, n), "the object has neither text nor original", "Nothing was recorded.")
		}
		one := shared
		if one.Input = o.Original; o.Original == nil {
			one.Input = []byte(*o.Text)
		}
		for _, own := range []struct {
			to   *string
			from string
		}{{&one.ID, o.ID}, {&one.ID, o.ObservationID}, {&one.Scope, o.Scope}, {&one.Source, o.Source}, {&one.Session, o.Session}, {&one.Category, o.Category}} {
			if own.from != "" {
				*own.to = own.from
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// transcriptRequests cuts a transcript into requests of whole lines; the daemon
// knows what in them is an observation.
func (a *app) transcriptRequests(name string, shared schemas.Observation) ([]schemas.ObserveRequest, error) {
	raw, err := a.readObserved(name, observedFile)
	if err != nil {
		return nil, err
	}
	var all []schemas.ObserveRequest
	for len(raw) > 0 {
		cut := len(raw)
		if cut > transcriptBytes {
			if cut = bytes.LastIndexByte(raw[:transcriptBytes], '\n') + 1; cut == 0 {
				cut = len(raw)
				if end := bytes.IndexByte(raw, '\n'); end >= 0 {
					cut = end + 1
				}
			}
		}
		all = append(all, schemas.ObserveRequest{Transcripts: []schemas.Transcript{{Lines: raw[:cut], Scope: shared.Scope, Session: shared.Session}}})
		raw = raw[cut:]
	}
	return all, nil
}

// inRequests cuts many observations into requests.
func inRequests(all []schemas.Observation) (requests []schemas.ObserveRequest) {
	for len(all) > 0 {
		n, size := 0, 0
		for n < len(all) && n < observeBatch && (n == 0 || size+len(all[n].Input) < observeBytes) {
			size += len(all[n].Input)
			n++
		}
		requests = append(requests, schemas.ObserveRequest{Observations: all[:n]})
		all = all[n:]
	}
	return requests
}

// observe records observations over one connection and shows what became of
// each.
func (a *app) observe(ctx context.Context, requests []schemas.ObserveRequest) error {
	s, err := a.Open(ctx, client.RoleHook)
	if err != nil {
		return client.Explain("observe", err)
	}
	defer s.Close()
	single := len(requests) == 1 && len(requests[0].Observations) == 1
	tally, n := map[string]int{}, 0
	for _, request := range requests {
		reply, err := client.CallWithin[schemas.ObserveReply](ctx, s, judgedBudget, schemas.SvcObserve, request)
		if err != nil {
			if n > 0 {
				a.Note("the first %d are recorded", n)
			}
			return client.Explain("observe", err)
		}
		if reply.Failed != "" {
			a.Note("writ: observe: the classifier %s failed: %s. What it should have judged is allowed as a fallback, or left in its transcript", reply.Classifier, client.OneLine(reply.Failed))
		}
		for _, o := range reply.Observed {
			n++
			tally[o.Verdict]++
			if a.JSON {
				if err := a.PrintJSON(o); err != nil {
					return err
				}
			} else if single {
				a.showObserved(o)
			}
		}
	}
	if !a.JSON && !single {
		a.Printf("%s: %d allowed, %d held, %d discarded.\n", client.Plural(n, "observation", "observations"), tally["allow"], tally["hold"], tally["discard"])
	}
	return nil
}

func (a *app) showObserved(o schemas.Observed) {
	why := o.Reason
	if o.Fallback {
		why = "fallback: " + why
	}
	if o.Repeated {
		why = "known already, nothing was recorded"
	}
	a.Printf("%s  %s %.2f (%s)\n", o.ObservationID, o.Verdict, o.Confidence, why)
	if len(o.Redacted) > 0 {
		a.Printf("taken out before it was stored: %s\n", strings.Join(o.Redacted, ", "))
	}
}

// jsonLines writes items one JSON object a line.
func jsonLines[T any](w io.Writer, items []T) error {
	out := bufio.NewWriter(w)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, item := range items {
		if err := encoder.Encode(item); err != nil {
			return err
		}
	}
	return out.Flush()
}
