package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/observer/agent/book"
	"github.com/writbus/writ/observer/agent/schedule"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

const (
	// trustBook labels what an agent once wrote down: it may repeat what a page
	// said.
	trustBook = "memory"
	// foundAtMost is how many hits a search shows.
	foundAtMost = 10
)

// bookView is a view of books of one sort.
type bookView = projections.AgentBooks[book.State, book.Item]

var noteView, todoView, lessonView = projections.NewAgentBooks(book.Touches, book.Evolve)

// BookViews are the views that Books reads, to be run by a runtime.
func BookViews() []projections.Projector {
	return []projections.Projector{noteView, todoView, lessonView}
}

// Text is something that can be found.
type Text struct {
	ID, Text string
	Time     time.Time
}

// Finder finds texts by words and meaning.
type Finder interface {
	// Find returns the ids of the texts that matter for a query, best first. Key
	// and seq name the set of texts, so that its index can be kept; texts is
	// called where there is none.
	Find(ctx context.Context, key string, seq uint64, texts func() []Text, query string, limit int) ([]string, error)
}

// Books answers /mem, /todo and /lesson: what agents keep across conversations.
// It is safe for concurrent use.
type Books struct {
	Log   *bus.Writer
	Views Views
	Find  Finder
}

// Handlers returns its handlers by verb.
func (b *Books) Handlers() map[string]verbs.Handler {
	return map[string]verbs.Handler{
		"mem": verbs.HandlerFunc(b.mem), "todo": verbs.HandlerFunc(b.todo), "lesson": verbs.HandlerFunc(b.lesson),
	}
}

// host names Writ as the host of its own agents.
const host = "writ"

// caller is the agent that speaks.
func caller(call verbs.Call) schemas.Actor { return schemas.Agent(host, call.Run, call.Agent) }

// change answers what a command wants of a book, and appends what was decided
// at the place the decision was made for. tail follows what was done.
func (b *Books) change(ctx context.Context, call verbs.Call, view bookView, a schemas.Aggregate, want schemas.Payload, tail string) (verbs.Result, error) {
	var d book.Decision
	load := func(ctx context.Context) (state book.State, seq uint64, err error) {
		err = b.Views.Read(ctx, view.Name(), func(r projections.Reader) (err error) {
			state, err = view.Part(r, a, want)
			return err
		})
		return state, state.Seq, err
	}
	_, _, err := bus.Decide(ctx, b.Log, load, nil, func(state book.State) (_ []schemas.Payload, err error) {
		d, err = book.Decide(state, want)
		return d.Record, err
	}, bus.Change{Event: entry(a, caller(call))})
	done := verbs.OK("%s", d.Message)
	if len(d.Record) > 0 {
		done = verbs.OK("%s%s", d.Message, tail)
	}
	if d.ID != "" {
		done = done.With(d.What, d.ID)
	}
	return answered(err, done)
}

// read returns books of one sort as they are at one moment.
func (b *Books) read(ctx context.Context, view bookView, all ...schemas.Aggregate) ([]book.State, error) {
	states := make([]book.State, len(all))
	err := b.Views.Read(ctx, view.Name(), func(r projections.Reader) (err error) {
		for i := range all {
			if states[i], err = view.Whole(r, all[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return states, err
}

// answered makes the answer of a change: what was refused is a result, any other
// error is Writ's own.
func answered(err error, done verbs.Result) (verbs.Result, error) {
	if result, refused := refusal(err); refused {
		return result, nil
	}
	if err != nil {
		return verbs.Result{}, err
	}
	return done, nil
}

// refusal is the result of a change that was refused; ok is false for an error
// that is none.
func refusal(err error) (r verbs.Result, ok bool) {
	var ofBook book.Refused
	var ofSchedule schedule.Refused
	switch {
	case errors.As(err, &ofBook):
		return verbs.Err(ofBook.What, ofBook.Adapt), true
	case errors.As(err, &ofSchedule):
		return verbs.Err(ofSchedule.What, ofSchedule.Adapt), true
	}
	return r, false
}

// kept is a listing from a book.
func kept(text string) verbs.Result { return verbs.Content(trustBook, text) }

// nothing is the answer to a listing of nothing.
func nothing(what string) verbs.Result { return verbs.OK("there are no %s", what) }

// wants refuses an argument that is missing, or one too many.
func wants(call verbs.Call, args int, usage string) (verbs.Result, bool) {
	have := len(strings.Fields(call.Rest))
	if args == 0 && have > 0 || args > 0 && have < args {
		return verbs.Err(fmt.Sprintf("/%s %s is not understood", call.Verb, call.Args), "write "+usage), true
	}
	return verbs.Result{}, false
}

// indented sets the lines of a text apart from the line above them.
func indented(text string) string {
	var out strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\r\n \t")) {
		out.WriteString("    " + line)
	}
	if out.Len() > 0 {
		out.WriteByte('\n')
	}
	return out.String()
}

func line(text string) string { return excerpt.Line(text) }
