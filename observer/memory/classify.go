package memory

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/writbus/writ/observer/classify"
	"github.com/writbus/writ/observer/model"
	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

const (
	// byEmbedded names the embedded classifier. Persisted; never change.
	byEmbedded = "embedded"
	// classifiedAtOnce is how many observations one call is asked about.
	classifiedAtOnce = 40
	// turnBytes bounds what one call reads of a transcript, and of one message.
	turnBytes    = 48 << 10
	messageBytes = 8 << 10
	// extractTokens bounds a call's answer.
	extractTokens = 2000
)

// Classifier names who decides about what has no annotation.
func (d *Service) Classifier() string {
	switch {
	case d.Classify == observation.ClassifyOff:
		return observation.ClassifyOff
	case d.Model != nil:
		return d.Model.Model()
	}
	return byEmbedded
}

// decide lets the classifier decide about the observations that have no
// annotation. One that fails leaves them allowed as fallbacks that say so.
func (d *Service) decide(ctx context.Context, all []taken) (by, failed string) {
	var open []*taken
	for i := range all {
		if r := all[i].recorded; r.Fallback && r.Reason == observation.MissingAnnotation {
			open = append(open, &all[i])
		}
	}
	if len(open) == 0 {
		return "", ""
	}
	ctx, end := d.Meter.Span(ctx, spanClassify, "by", d.Classifier())
	defer func() { end(failure(failed)) }()
	if d.Model == nil {
		for _, t := range open {
			v := classify.Default().Classify(t.recorded.Text)
			t.verdict(observation.Gated{Text: t.recorded.Text, Verdict: v.Verdict, Reason: v.Reason, Confidence: v.Confidence, Category: t.recorded.Category})
		}
		return byEmbedded, ""
	}
	for len(open) > 0 {
		some := open[:min(len(open), classifiedAtOnce)]
		open = open[len(some):]
		annotations, err := d.annotations(ctx, some)
		if err != nil {
			failed = err.Error()
			annotations = make([]string, len(some))
		}
		for i, t := range some {
			was := observation.Gated{Text: t.recorded.Text, Verdict: t.recorded.Verdict, Reason: t.recorded.Reason, Confidence: t.recorded.Confidence, Fallback: true, Category: t.recorded.Category}
			is := observation.Apply(was, annotations[i])
			is.Category = cmp.Or(is.Category, was.Category)
			t.verdict(is)
		}
	}
	return d.Model.Model(), failed
}

// verdict replaces the gate's verdict by the classifier's.
func (t *taken) verdict(g observation.Gated) {
	r := &t.recorded
	r.Verdict, r.Confidence, r.Fallback = g.Verdict, g.Confidence, g.Fallback
	r.Reason, r.Category = redactText(g.Reason), redactText(g.Category)
}

// annotations asks the model about observations in one call.
func (d *Service) annotations(ctx context.Context, some []*taken) ([]string, error) {
	texts := make([]string, len(some))
	for i, t := range some {
		texts[i] = excerpt.Runes(t.recorded.Text, embeddedRunes)
	}
	return annotationsOf(ctx, d.Model, texts)
}

// annotationsOf asks a model about texts in one call.
func annotationsOf(ctx context.Context, c *model.Client, texts []string) ([]string, error) {
	system, user := observation.ClassifyPrompt(texts, newMark())
	reply, err := c.Chat(ctx, model.Request{System: system, Messages: []model.Message{model.Said(model.User, user)}}, nil)
	if err != nil {
		return nil, err
	}
	return observation.Classified(reply.Text, len(texts))
}

// newMark is a word that nobody can foresee.
func newMark() string { return "data-" + strings.ToLower(rand.Text()[:12]) }

// extract finds the observations in what was said, with the model in one call
// or with the embedded classifier sentence by sentence. It returns
// observation.ErrAnswer for an answer that cannot be understood.
func (d *Service) extract(ctx context.Context, turns []observation.Turn, scope, session string) ([]taken, error) {
	if len(turns) == 0 {
		return nil, nil
	}
	for i := range turns {
		turns[i].Text = redactText(turns[i].Text) // nothing secret leaves this machine
	}
	if d.Model == nil {
		return extractEmbedded(turns, scope, session)
	}
	system, user := observation.ExtractPrompt(turns, newMark())
	reply, err := d.Model.Chat(ctx, model.Request{System: system, MaxTokens: extractTokens, Messages: []model.Message{model.Said(model.User, user)}}, nil)
	if err != nil {
		return nil, err
	}
	lines, err := observation.Extracted(reply.Text)
	if err != nil {
		return nil, err
	}
	var all []taken
	for i, line := range lines {
		t, err := takeObservation(schemas.Observation{
			ID: fmt.Sprintf("%s#m%d", turnsID(turns), i), Input: line, Scope: scope, Source: sourceTranscript, Session: cmp.Or(turns[0].Session, session),
		})
		if err != nil {
			return nil, err
		}
		t.recorded.Redacted = marksIn(t.recorded.Text)
		all = append(all, t)
	}
	return all, nil
}

// redactedMark is what redact.Mark leaves.
var redactedMark = regexp.MustCompile(`\[redacted:([a-z0-9-]+)\]`)

// marksIn lists the kinds of the secrets that were taken out of what a text was
// extracted from.
func marksIn(text string) (kinds []string) {
	for _, m := range redactedMark.FindAllStringSubmatch(text, -1) {
		kinds = append(kinds, m[1])
	}
	return kinds
}

// turnsID is the same whenever the same stretch of a transcript is read.
func turnsID(turns []observation.Turn) string {
	sum := sha256.New()
	for _, t := range turns {
		_, _ = fmt.Fprintf(sum, "%q", t.ID)
	}
	return "t" + hex.EncodeToString(sum.Sum(nil))[:20]
}

// extractEmbedded records the sentences that are worth keeping, and for review
// those that may be. The others are no observations.
func extractEmbedded(turns []observation.Turn, scope, session string) ([]taken, error) {
	var all []taken
	for _, turn := range turns {
		for i, sentence := range observation.Sentences(turn.Text) {
			v := classify.Default().Extract(sentence)
			if v.Verdict == classify.Discard || strings.HasSuffix(sentence, "?") {
				continue
			}
			t, err := takeObservation(schemas.Observation{
				ID: fmt.Sprintf("%s#s%d", turn.ID, i), Input: []byte(sentence), Scope: scope, Source: sourceTranscript, Session: cmp.Or(turn.Session, session),
			})
			if err != nil {
				return nil, err
			}
			t.recorded.Redacted = marksIn(t.recorded.Text)
			t.verdict(observation.Gated{Verdict: v.Verdict, Reason: v.Reason, Confidence: v.Confidence})
			all = append(all, t)
		}
	}
	return all, nil
}

// stretches cuts turns into what one call reads; long messages lose their
// middle.
func stretches(turns []observation.Turn) [][]observation.Turn {
	var all [][]observation.Turn
	size := 0
	for _, t := range turns {
		if len(t.Text) > messageBytes {
			t.Text = strings.ToValidUTF8(t.Text[:messageBytes/2]+"\n…\n"+t.Text[len(t.Text)-messageBytes/2:], "")
		}
		if len(all) == 0 || size+len(t.Text) > turnBytes {
			all, size = append(all, nil), 0
		}
		size += len(t.Text)
		all[len(all)-1] = append(all[len(all)-1], t)
	}
	return all
}

// notAnswered says whether a failure lies on the way to a model, not in its answer.
func notAnswered(err error) bool { return !errors.Is(err, observation.ErrAnswer) }

// failure is what a span is told of a classifier that failed.
func failure(reason string) error {
	if reason == "" {
		return nil
	}
	return errors.New(reason)
}
