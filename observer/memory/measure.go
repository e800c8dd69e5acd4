package memory

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/writbus/writ/observer/classify"
	"github.com/writbus/writ/observer/model"
	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/schemas/excerpt"
)

// Measured is how well labelled texts were judged, with what it took.
type Measured struct {
	classify.Report
	By        string `json:"by"` // the model as it is configured, or embedded
	Calls     int    `json:"calls,omitempty"`
	Failed    int    `json:"failed_calls,omitempty"`
	Fallbacks int    `json:"fallbacks,omitempty"` // texts without an answer that can be used: they count as allowed
	Last      string `json:"last_failure,omitempty"`
}

// WriteTable writes it for people.
func (m Measured) WriteTable(w io.Writer) error {
	if m.Calls > 0 {
		_, err := fmt.Fprintf(w, "%s: %d calls, %d failed; %d texts without an answer count as allowed, as they are stored\n", m.By, m.Calls, m.Failed, m.Fallbacks)
		if err == nil && m.Last != "" {
			_, err = fmt.Fprintf(w, "the last failure: %s\n", m.Last)
		}
		if err != nil {
			return err
		}
	}
	return m.Report.WriteTable(w)
}

// Labelled reads a file of labelled texts, or with "" those that were held out from the
// model in the program.
func Labelled(path string) ([]classify.Labelled, error) {
	if path == "" {
		return classify.ReadLabelled(strings.NewReader(classify.Heldout))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	all, err := classify.ReadLabelled(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

// Measure judges texts as the daemon does, by their annotations, and by a model, or
// without one by the embedded classifier, where they have none. It fails if a model
// answered no call: then there is nothing to measure.
func Measure(ctx context.Context, c *model.Client, embedded *classify.Model, turns []classify.Labelled, seed uint64) (m Measured, err error) {
	m.By = byEmbedded
	gated := make([]observation.Gated, len(turns))
	var open []int
	for i, turn := range turns {
		text := turn.Text
		if c != nil {
			text = redactText(text) // nothing secret leaves this machine
		}
		if gated[i] = observation.Gate([]byte(text)); gated[i].Fallback && gated[i].Reason == observation.MissingAnnotation {
			open = append(open, i)
		}
	}
	if c == nil {
		for _, at := range open {
			gated[at].Verdict = embedded.Classify(gated[at].Text).Verdict
		}
	} else if err = m.ask(ctx, c, gated, open); err != nil {
		return m, err
	}
	verdicts := make([]string, len(turns))
	for i, g := range gated {
		verdicts[i] = g.Verdict
		if c != nil && g.Reason == observation.ClassifierError {
			m.Fallbacks++
		}
	}
	m.Report = classify.Evaluate(turns, verdicts, seed)
	return m, nil
}

func (m *Measured) ask(ctx context.Context, c *model.Client, gated []observation.Gated, open []int) error {
	m.By = c.Model()
	for len(open) > 0 {
		some := open[:min(len(open), classifiedAtOnce)]
		open = open[len(some):]
		texts := make([]string, len(some))
		for i, at := range some {
			texts[i] = excerpt.Runes(gated[at].Text, embeddedRunes)
		}
		m.Calls++
		annotations, err := annotationsOf(ctx, c, texts)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			m.Failed, m.Last = m.Failed+1, err.Error()
			annotations = make([]string, len(some))
		}
		for i, at := range some {
			gated[at] = observation.Apply(gated[at], annotations[i])
		}
	}
	if m.Calls > 0 && m.Failed == m.Calls {
		return fmt.Errorf("%s answered none of %d calls, so there is nothing to measure. The last failure: %s", m.By, m.Calls, m.Last)
	}
	return nil
}
