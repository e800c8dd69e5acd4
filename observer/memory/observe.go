package memory

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement/redact"
	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/schemas"
)

// observedAtOnce bounds the observations of one request.
const observedAtOnce = 1000

// taken is an observation on its way into the log.
type taken struct {
	recorded schemas.ObservationRecorded
	key      schemas.ObservationKey
	event    string
	named    bool                   // the client chose the id
	actor    schemas.Actor          // none for an agent
	at       time.Time              // of what was shared; else now
	into     schemas.ObservationKey // of an import: what it was merged into, if anything
	reply    schemas.Observed
}

// observe stores observations, whatever their verdicts: secrets taken out,
// gated, sealed, and durable when it returns.
func (d *Service) observe(ctx context.Context, r schemas.ObserveRequest) (schemas.ObserveReply, error) {
	for _, transcript := range r.Transcripts {
		r.Observations = append(r.Observations, notedIn(transcript)...)
	}
	if len(r.Transcripts) == 0 && len(r.Observations) > observedAtOnce {
		return schemas.ObserveReply{}, schemas.Faultf(schemas.CodeBadRequest, "at most %d observations in one request, not %d", observedAtOnce, len(r.Observations))
	}
	all := make([]taken, len(r.Observations))
	named := false
	for i, o := range r.Observations {
		t, err := takeObservation(o)
		if err != nil {
			return schemas.ObserveReply{}, err
		}
		all[i], named = t, named || t.named
	}
	reply := schemas.ObserveReply{}
	setting := d.Classify
	if r.Classify || setting == observation.ClassifyAll {
		reply.Classifier, reply.Failed = d.decide(ctx, all)
	}
	if len(r.Transcripts) > 0 && setting != observation.ClassifyOff {
		said, err := d.extractAll(ctx, r.Transcripts)
		if err != nil {
			reply.Failed = err.Error()
		}
		reply.Classifier = d.Classifier()
		all, named = append(all, said...), named || len(said) > 0
	}
	if err := d.store(ctx, all, named); err != nil {
		return schemas.ObserveReply{}, err
	}
	reply.Observed = make([]schemas.Observed, len(all))
	for i := range all {
		reply.Observed[i] = all[i].reply
	}
	return reply, nil
}

// extractAll finds the observations in lines of transcripts that nobody
// annotated. What was found before a failure is returned with it.
func (d *Service) extractAll(ctx context.Context, transcripts []schemas.Transcript) (all []taken, err error) {
	ctx, end := d.Meter.Span(ctx, spanClassify, "by", d.Classifier())
	defer func() { end(err) }()
	for _, t := range transcripts {
		for _, turns := range stretches(turnsIn(t.Lines)) {
			said, err := d.extract(ctx, turns, t.Scope, t.Session)
			if err != nil {
				return all, err
			}
			all = append(all, said...)
		}
	}
	return all, nil
}

func turnsIn(lines []byte) (turns []observation.Turn) {
	for line := range bytes.Lines(lines) {
		turns = append(turns, observation.Turns(line)...)
	}
	return turns
}

// sourceTranscript is the source of what an agent noted in its own words.
// Persisted; never change.
const sourceTranscript = "transcript"

// notedIn lists the observations in lines of a transcript.
func notedIn(t schemas.Transcript) []schemas.Observation {
	var all []schemas.Observation
	for line := range bytes.Lines(t.Lines) {
		for _, noted := range observation.Transcript(line) {
			all = append(all, schemas.Observation{
				ID: noted.ID, Input: noted.Input, Scope: t.Scope, Source: sourceTranscript, Session: cmp.Or(noted.Session, t.Session),
			})
		}
	}
	return all
}

// observeTranscript observes what an agent noted in the transcript of a
// session, from a byte on, and returns where the next reading begins: after
// the last whole line. It is for the ends of turns and sessions; what was read
// before is known and changes nothing.
func (d *Service) observeTranscript(ctx context.Context, path, session, scope string, from int64) (next int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return from, fmt.Errorf("transcript: %w", err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() < from {
		from = 0 // another file by now
	}
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return from, fmt.Errorf("transcript: %w", err)
	}
	in := bufio.NewReader(f)
	for next = from; ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil // what is left is being written
			}
			return next, err
		}
		all := notedIn(schemas.Transcript{Lines: line, Scope: scope, Session: session})
		if len(all) > 0 {
			if _, err := d.observe(ctx, schemas.ObserveRequest{Observations: all}); err != nil {
				return next, err
			}
		}
		next += int64(len(line))
	}
}

// takeObservation redacts and gates one observation.
func takeObservation(o schemas.Observation) (taken, error) {
	t := taken{key: schemas.ObservationKey{Scope: cmp.Or(o.Scope, schemas.MemoryGlobal), ID: o.ID}, named: o.ID != ""}
	if !t.named {
		t.key.ID = bus.NewID()
	}
	if len(t.key.ID) > schemas.MaxIDBytes {
		return t, schemas.Faultf(schemas.CodeBadRequest, "the id of an observation has at most %d bytes", schemas.MaxIDBytes)
	}
	if fromOthers(t.key.Scope) {
		return t, schemas.Faultf(schemas.CodeBadRequest, "the scope %q is of what others shared; name the project, or none", t.key.Scope)
	}
	for name, text := range map[string]string{"id": t.key.ID, "scope": t.key.Scope, "session": o.Session} {
		if len(redact.Find([]byte(text))) > 0 {
			return t, schemas.Faultf(schemas.CodeBadRequest, "the %s of an observation must not hold a secret", name)
		}
	}
	if err := schemas.Memory(t.key.Scope).Check(); err != nil {
		return t, schemas.Faultf(schemas.CodeBadRequest, "%v", err)
	}
	input, redacted := redact.Replace(o.Input, redact.Find)
	t.recorded = observation.Record(t.key.ID, redactText(o.Source), o.Session, input)
	if t.recorded.Category == "" {
		t.recorded.Category = redactText(o.Category)
	}
	t.recorded.Redacted = redacted
	t.event = bus.NewID()
	return t, nil
}

// store appends what is new. Ids that a client chose are looked for first,
// while nobody else appends such.
func (d *Service) store(ctx context.Context, all []taken, named bool) error {
	m := d.kept
	states := observation.Standing{}
	if named {
		m.naming.Lock()
		defer m.naming.Unlock()
		var err error
		if states, err = d.known(ctx, all); err != nil {
			return err
		}
	}
	for i := range all {
		t := &all[i]
		state := states.Of(t.key)
		if state.Known() {
			t.recorded = m.told(state)
		}
		t.reply = answerOf(t.recorded, t.key)
		sealed, err := m.seal(state, t.recorded, false)
		if errors.Is(err, errForgotten) { // and a crash came before its tombstone
			t.reply.Repeated = true
			continue
		}
		if err != nil {
			return err
		}
		decision, err := observation.Decide(state, observation.Remember{Recorded: sealed})
		if err != nil {
			return err
		}
		t.reply.Repeated = len(decision.Record) == 0
		for _, e := range decision.Record { // a retry of the same event is stored once
			e.ID, e.Time = t.event, t.at
			if e.Actor = t.actor; e.Actor == (schemas.Actor{}) {
				e.Actor = schemas.Agent("", "", "")
			}
			if t.reply.Position, err = d.recordMemory(ctx, e); err != nil {
				return err
			}
			states[t.key] = observation.Evolve(state, e)
		}
	}
	return nil
}

// known reads the observations whose id was chosen, and what they are to be merged
// into.
func (d *Service) known(ctx context.Context, all []taken) (observation.Standing, error) {
	if err := d.await(ctx); err != nil {
		return nil, err
	}
	var keys []schemas.ObservationKey
	for _, t := range all {
		if t.named {
			keys = append(keys, t.key)
		}
		if t.into.ID != "" {
			keys = append(keys, t.into)
		}
	}
	return d.kept.standing(keys...)
}

// told is what was recorded, as far as it can be read, with the verdict that
// holds.
func (m *Store) told(s observation.State) schemas.ObservationRecorded {
	recorded, err := m.open(s)
	if err != nil {
		recorded = s.Recorded
	}
	recorded.Verdict = s.Verdict()
	return recorded
}

func answerOf(r schemas.ObservationRecorded, k schemas.ObservationKey) schemas.Observed {
	return schemas.Observed{
		ObservationID: k.ID, Scope: k.Scope, Verdict: r.Verdict, Confidence: r.Confidence, Reason: r.Reason,
		GateVersion: r.GateVersion, Fallback: r.Fallback, Category: r.Category, Redacted: r.Redacted,
	}
}

// recordMemory appends facts of memory.
func (d *Service) recordMemory(ctx context.Context, e schemas.Event, also ...schemas.Payload) (schemas.Position, error) {
	position, err := bus.Record(ctx, d.Log, e, also...)
	if errors.Is(err, bus.ErrTooLarge) {
		return position, schemas.Faultf(schemas.CodeBadRequest, "the observation is too large for one message of the log: %v", err)
	}
	return position, err
}
