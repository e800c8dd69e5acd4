package agents

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// confirm asks the person at the terminal. Only a plain yes is one: the end of
// the input, an interruption and silence are no.
func (w *runWatch) confirm(ctx context.Context, f schemas.AgentFrame) error {
	w.note(w.notes.Bold(f.Text))
	fmt.Fprint(w.app.Err, "Run it? [y/N] ")
	waiting, cancel := context.WithTimeout(w.interrupted, schemas.AgentAnswerWithin)
	defer cancel()
	line, err := w.answers.line(waiting)
	switch {
	case err == nil:
	case w.interrupted.Err() != nil:
		fmt.Fprintln(w.app.Err)
		return nil // the run is stopped, and its question with it
	case waiting.Err() != nil:
		fmt.Fprintln(w.app.Err)
		w.note(fmt.Sprintf("nobody answered within %s: it does not run", schemas.AgentAnswerWithin))
		return nil
	case errors.Is(err, io.EOF):
		fmt.Fprintln(w.app.Err)
	default:
		return client.Refused(w.what, err.Error(), "")
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	yes := answer == "y" || answer == "yes"
	_, err = client.Call[struct{}](ctx, w.service, schemas.SvcAgentAnswer, schemas.AgentAnswerRequest{Run: w.run, ID: f.ID, Yes: yes})
	if err != nil {
		w.note("the answer came too late: " + err.Error())
	}
	return nil
}

// typed reads what a person types, a line at a time.
type typed struct {
	in      *bufio.Reader
	reading chan typedLine // of a read that nobody waited for to its end
}

type typedLine struct {
	text string
	err  error
}

// line returns the next line, or why there is none. A line that was typed after
// nobody waited for it any more answers no later question.
func (t *typed) line(ctx context.Context) (string, error) {
	if t.reading != nil {
		select {
		case <-t.reading:
			t.reading = nil
		default:
		}
	}
	if t.reading == nil {
		t.reading = make(chan typedLine, 1)
		go func(to chan<- typedLine) {
			text, err := t.in.ReadString('\n')
			to <- typedLine{text, err}
		}(t.reading)
	}
	select {
	case l := <-t.reading:
		t.reading = nil
		if l.err != nil && l.text != "" && errors.Is(l.err, io.EOF) {
			l.err = nil // the last line has no end
		}
		return l.text, l.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
