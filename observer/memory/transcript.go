package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// transcriptBudget bounds the reading of a transcript's annotated lines beside
// the hook that named it; a model has its own bounds. A variable
// for tests.
var transcriptBudget = 5 * time.Second

// answerTries is how often a stretch of a transcript is asked about whose
// answers cannot be understood; then it is passed over, and that recorded.
const answerTries = 2

// callsAtOnce bounds how often a model is called after one turn: a long
// transcript that was not read before is gone through turn by turn.
const callsAtOnce = 4

// transcripts is how far the transcripts of sessions were read for annotated
// lines. After a restart they are read again: what was observed is known and
// changes nothing.
type transcripts struct {
	mu      sync.Mutex
	read    map[string]int64
	tries   map[string]int  // of the stretch that comes next, by path
	reading map[string]bool // true: read once more, something came meanwhile
	wait    sync.WaitGroup
	running context.Context //nolint:containedctx // readings end with the services, not with their hook
	asking  context.Context //nolint:containedctx // questions to a model end before, nobody waits for them
}

// NoteTranscript observes what was said since the last time, beside the hook: a
// turn does not wait for it.
func (d *Service) NoteTranscript(session, project, transcript string) {
	at := &d.transcripts
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.running == nil || at.running.Err() != nil {
		return
	}
	if _, under := at.reading[session]; under {
		at.reading[session] = true
		return
	}
	if at.read == nil {
		at.read, at.reading, at.tries = map[string]int64{}, map[string]bool{}, map[string]int{}
	}
	at.reading[session] = false
	at.wait.Go(func() {
		for again := true; again; {
			d.readTranscript(session, project, transcript)
			at.mu.Lock()
			if again = at.reading[session] && at.running.Err() == nil; again {
				at.reading[session] = false
			} else {
				delete(at.reading, session)
			}
			at.mu.Unlock()
		}
	})
}

// readTranscript observes what the agent annotated, then what the classifier
// finds in the rest.
func (d *Service) readTranscript(session, project, transcript string) {
	at := &d.transcripts
	at.mu.Lock()
	from := at.read[session]
	at.mu.Unlock()
	ctx, cancel := context.WithTimeout(at.running, transcriptBudget)
	defer cancel()
	next, err := d.observeTranscript(ctx, transcript, session, project, from)
	if errors.Is(err, fs.ErrNotExist) {
		// Hosts name a file that they may never write.
		d.Logger.Debug("no transcript", "session", session, "error", err)
		return
	}
	if err != nil {
		d.Logger.Warn("observe a transcript", "session", session, "error", err)
	}
	at.mu.Lock()
	at.read[session] = next
	at.mu.Unlock()
	if d.Classify == observation.ClassifyOff {
		return
	}
	if err := d.classifyTranscript(transcript, session, project); err != nil && at.asking.Err() == nil {
		d.Logger.Warn("extract observations from a transcript", "session", session, "error", err)
	}
}

// classifyTranscript lets the classifier extract observations from what was
// not read yet, and records how far that is. A failure leaves the rest for the
// next time: nothing of it is promoted unjudged.
func (d *Service) classifyTranscript(path, session, scope string) error {
	at := &d.transcripts
	m := d.kept
	if err := d.await(at.running); err != nil {
		return err
	}
	var was schemas.TranscriptObserved
	if err := m.read(func(r projections.Reader) (err error) {
		was, err = m.view.Transcript(r, path)
		return err
	}); err != nil {
		return err
	}
	raw, from, err := tailOf(path, was.Offset)
	if err != nil {
		return err
	}
	for n := 0; len(raw) > 0 && (d.Model == nil || n < callsAtOnce); n++ {
		lines := firstLines(raw, turnBytes)
		raw = raw[len(lines):]
		if err := d.classifyLines(lines, path, session, scope, from+int64(len(lines))); err != nil {
			return err
		}
		from += int64(len(lines))
	}
	return nil
}

// classifyLines extracts from one stretch that ends at an offset.
func (d *Service) classifyLines(lines []byte, path, session, scope string, end int64) error {
	at := &d.transcripts
	event := schemas.TranscriptObserved{Path: path, Session: session, Offset: end, By: d.Classifier()}
	all, err := d.extractAll(at.asking, []schemas.Transcript{{Lines: lines, Scope: scope, Session: session}})
	if err != nil {
		at.mu.Lock()
		at.tries[path]++
		tries := at.tries[path]
		at.mu.Unlock()
		if notAnswered(err) || tries < answerTries {
			return err
		}
		event.Failed = observation.ClassifierError
	}
	at.mu.Lock()
	delete(at.tries, path)
	at.mu.Unlock()
	if err := d.store(at.running, all, true); err != nil {
		return err
	}
	event.Observations = len(all)
	_, err = d.recordMemory(at.running, schemas.Event{Actor: schemas.Writ("memory"), Aggregate: schemas.Memory(schemas.MemoryGlobal), Data: event})
	return err
}

// tailOf reads a file's whole lines from an offset on, from the start if the
// file has become shorter. Lines longer than one reading takes are passed over: the
// offset that is returned is where the lines begin.
func tailOf(path string, from int64) ([]byte, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("transcript: %w", err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() < from {
		from = 0
	}
	for at, within := from, false; ; { // within a line that is passed over
		raw, err := io.ReadAll(io.NewSectionReader(f, at, transcriptMost))
		if err != nil {
			return nil, 0, fmt.Errorf("transcript: %w", err)
		}
		first, last := bytes.IndexByte(raw, '\n')+1, bytes.LastIndexByte(raw, '\n')+1
		switch {
		case within && first > 0:
			at, from, within = at+int64(first), at+int64(first), false
		case last == 0 && len(raw) == transcriptMost:
			at, within = at+int64(len(raw)), true
		case within: // it goes on to be written
			return nil, from, nil
		default:
			return raw[:last], from, nil
		}
	}
}

// transcriptMost bounds what one reading takes; the next one goes on.
const transcriptMost = 16 << 20

// firstLines is the whole lines that fit, at least one.
func firstLines(raw []byte, most int) []byte {
	if len(raw) <= most {
		return raw
	}
	if end := bytes.LastIndexByte(raw[:most], '\n'); end >= 0 {
		return raw[:end+1]
	}
	return raw[:bytes.IndexByte(raw, '\n')+1]
}
