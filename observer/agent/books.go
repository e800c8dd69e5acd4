package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/writbus/writ/schemas/excerpt"

	"github.com/writbus/writ/bus"

	"github.com/writbus/writ/observer/agent/schedule"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

const (
	// trustBook labels what an agent once wrote down: it may repeat what a page
	// said.
	trustBook = "memory"
	// maxKept bounds one note, description or lesson, in bytes.
	maxKept = 16 << 10
	// maxTitle bounds titles and signatures, in bytes.
	maxTitle = 300
	// foundAtMost is how many hits a search shows.
	foundAtMost = 10
)

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

// errRefused carries a result out of a decision that changes nothing.
type errRefused struct{ result verbs.Result }

func (errRefused) Error() string { return "agents: refused" }

// host names Writ as the host of its own agents.
const host = "writ"

// caller is the agent that speaks.
func caller(call verbs.Call) schemas.Actor { return schemas.Agent(host, call.Run, call.Agent) }

// change reads a book, decides, and appends what was decided at the place the
// decision was made for.
func (b *Books) change(ctx context.Context, view string, book schemas.Aggregate, call verbs.Call,
	decide func(r projections.Reader, head projections.BookHead) (schemas.Payload, error),
) error {
	load := func(ctx context.Context) (change schemas.Payload, seq uint64, err error) {
		err = b.Views.Read(ctx, view, func(r projections.Reader) error {
			head, err := projections.Head(r, book)
			if seq = head.Seq; err == nil {
				change, err = decide(r, head)
			}
			return err
		})
		return change, seq, err
	}
	_, _, err := bus.Decide(ctx, b.Log, load, nil,
		func(change schemas.Payload) ([]schemas.Payload, error) { return []schemas.Payload{change}, nil },
		bus.Change{Event: entry(book, caller(call))})
	return err
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
	var refused errRefused
	var ofSchedule schedule.Refused
	switch {
	case errors.As(err, &refused):
		return refused.result, true
	case errors.As(err, &ofSchedule):
		return verbs.Err(ofSchedule.What, ofSchedule.Adapt), true
	}
	return r, false
}

func refuse(what, adapt string) error { return errRefused{verbs.Err(what, adapt)} }

// numbered is the id of the next thing of a book.
func numbered(letter string, head projections.BookHead) string {
	return fmt.Sprintf("%s%d", letter, head.Made+1)
}

// tooLong refuses a text beyond its bound.
func tooLong(what, text string, most int) (verbs.Result, bool) {
	if len(text) <= most {
		return verbs.Result{}, false
	}
	return verbs.Err(fmt.Sprintf("the %s has %d bytes, at most %d are kept", what, len(text), most), "keep the essence of it"), true
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
