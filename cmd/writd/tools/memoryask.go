package tools

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement/redact"
	"github.com/writbus/writ/observer/classify"
	"github.com/writbus/writ/observer/model"
	"github.com/writbus/writ/observer/observation"
)

// benchmarked is a report with what it took to judge.
type benchmarked struct {
	classify.Report
	By        string `json:"by"` // the model as it is configured, or embedded
	Calls     int    `json:"calls,omitempty"`
	Failed    int    `json:"failed_calls,omitempty"`
	Fallbacks int    `json:"fallbacks,omitempty"` // texts without an answer that can be used: they count as allowed
	Last      string `json:"last_failure,omitempty"`
}

// writeCalls says how the model fared, nothing where none was asked.
func (r benchmarked) writeCalls(w io.Writer) error {
	if r.Calls == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "%s: %d calls, %d failed; %d texts without an answer count as allowed, as they are stored\n", r.By, r.Calls, r.Failed, r.Fallbacks)
	if err == nil && r.Last != "" {
		_, err = fmt.Fprintf(w, "the last failure: %s\n", r.Last)
	}
	return err
}

// configuredModel is the client that the daemon would have.
func configuredModel() (*model.Client, error) {
	dir, err := config.DataDir()
	if err != nil {
		return nil, err
	}
	settings, err := config.Load(dir)
	if err != nil {
		return nil, err
	}
	s := settings.Model
	if s.API == "" {
		return nil, errors.New("no language model is set up: set model.api and model.name in config.yaml of the data directory, or WRIT_MODEL_API and WRIT_MODEL_NAME")
	}
	return model.New(model.Config{API: s.API, BaseURL: s.URL, Model: s.Name, Key: os.Getenv(config.ModelKey), Timeout: s.Timeout})
}

const (
	// askedAtOnce is how many texts one call is asked about, as the daemon does.
	askedAtOnce = 40
	// askedRunes is how much of one it is shown.
	askedRunes = 4000
)

// askedAbout is what the gate says of each turn: the annotation where there is
// one, else the model's. What it does not answer is allowed as a fallback. It
// fails if no call was answered: then there is nothing to measure.
func askedAbout(ctx context.Context, c *model.Client, turns []classify.Labelled) (r benchmarked, verdicts []string, err error) {
	r.By = c.Model()
	gated := make([]observation.Gated, len(turns))
	var open []int
	for i, turn := range turns {
		if gated[i] = observation.Gate([]byte(redact.Text(turn.Text))); gated[i].Fallback && gated[i].Reason == observation.MissingAnnotation {
			open = append(open, i)
		}
	}
	for len(open) > 0 {
		some := open[:min(len(open), askedAtOnce)]
		open = open[len(some):]
		texts := make([]string, len(some))
		for i, at := range some {
			texts[i] = firstRunes(gated[at].Text, askedRunes)
		}
		r.Calls++
		annotations, err := annotationsFor(ctx, c, texts)
		if ctx.Err() != nil {
			return r, nil, ctx.Err()
		}
		if err != nil {
			r.Failed, r.Last = r.Failed+1, err.Error()
			annotations = make([]string, len(some))
		}
		for i, at := range some {
			gated[at] = observation.Apply(gated[at], annotations[i])
		}
	}
	if r.Calls > 0 && r.Failed == r.Calls {
		return r, nil, fmt.Errorf("%s answered none of %d calls, so there is nothing to measure. The last failure: %s", r.By, r.Calls, r.Last)
	}
	for _, g := range gated {
		verdicts = append(verdicts, g.Verdict)
		if g.Reason == observation.ClassifierError {
			r.Fallbacks++
		}
	}
	return r, verdicts, nil
}

func annotationsFor(ctx context.Context, c *model.Client, texts []string) ([]string, error) {
	system, user := observation.ClassifyPrompt(texts, "data-"+strings.ToLower(rand.Text()[:12]))
	reply, err := c.Chat(ctx, model.Request{System: system, Messages: []model.Message{model.Said(model.User, user)}}, nil)
	if err != nil {
		return nil, err
	}
	return observation.Classified(reply.Text, len(texts))
}

func firstRunes(s string, most int) string {
	n := 0
	for at := range s {
		if n == most {
			return s[:at]
		}
		n++
	}
	return s
}
