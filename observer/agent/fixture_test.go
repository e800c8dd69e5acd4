package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writbus/writ/bus"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas"
)

// Entry is what went into the log together.
type Entry struct {
	Aggregate schemas.Aggregate
	Payloads  []schemas.Payload
	Actor     schemas.Actor
	Time      time.Time
}

// events is a log in memory.
type events struct {
	mu   sync.Mutex
	all  []Entry
	last map[schemas.Aggregate]uint64
	fail func(Entry) error
}

func (l *events) writer() *bus.Writer { return bus.NewWriter(l.Append, bus.WriterOptions{}) }

func (l *events) Append(_ context.Context, main schemas.Event, also []schemas.Payload, expect bus.Expect) (at schemas.Position, err error) {
	e := Entry{main.Aggregate, append([]schemas.Payload{main.Data}, also...), main.Actor, main.Time}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != nil {
		if err := l.fail(e); err != nil {
			return at, err
		}
	}
	if l.last == nil {
		l.last = map[schemas.Aggregate]uint64{}
	}
	if seq, checked := expect.Sequence(); checked && seq != l.last[e.Aggregate] {
		return at, bus.ErrConflict
	}
	for _, p := range e.Payloads {
		if c, ok := p.(schemas.Checker); ok {
			if err := c.Check(); err != nil {
				return at, err
			}
		}
	}
	l.all = append(l.all, e)
	at.Seq = uint64(len(l.all))
	l.last[e.Aggregate] = at.Seq
	return at, nil
}

// types lists what was recorded, of one run or of all.
func (l *events) payloads(run string) []schemas.Payload {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []schemas.Payload
	for _, e := range l.all {
		if run == "" || e.Aggregate == schemas.AgentRun(run) {
			all = append(all, e.Payloads...)
		}
	}
	return all
}

func (l *events) types(run string) string {
	var all []string
	for _, p := range l.payloads(run) {
		all = append(all, string(p.EventType()))
	}
	return strings.Join(all, " ")
}

func recordedOf[P schemas.Payload](l *events) []P {
	var all []P
	for _, p := range l.payloads("") {
		if one, ok := p.(P); ok {
			all = append(all, one)
		}
	}
	return all
}

// script is a Model that says one text after the other, by agent.
type script struct {
	mu     sync.Mutex
	say    map[string][]string // by the first line of the system text
	asked  []Prompt
	answer func(Prompt) (string, Reply, error) // instead
	chunk  int
}

func (s *script) Chat(ctx context.Context, p Prompt, heard func(string) error) (Reply, error) {
	s.mu.Lock()
	kept := p
	kept.Messages = append([]Message{}, p.Messages...)
	s.asked = append(s.asked, kept)
	text, reply, err := "", Reply{Whole: true, Model: "script"}, error(nil)
	if s.answer != nil {
		s.mu.Unlock()
		text, reply, err = s.answer(p)
		s.mu.Lock()
	} else {
		name, _, _ := strings.Cut(strings.TrimPrefix(p.System, "You are "), ".")
		if len(s.say[name]) == 0 {
			s.mu.Unlock()
			return reply, fmt.Errorf("nothing to say for %q", name)
		}
		text, s.say[name] = s.say[name][0], s.say[name][1:]
	}
	s.mu.Unlock()
	size := max(s.chunk, 1)
	for len(text) > 0 {
		n := min(size, len(text))
		if ctx.Err() != nil {
			return reply, ctx.Err()
		}
		if err := heard(text[:n]); err != nil {
			return reply, err
		}
		text = text[n:]
	}
	return reply, err
}

// frames is a Watcher that keeps what it sees.
type frames struct {
	mu  sync.Mutex
	all []schemas.AgentFrame
}

func (f *frames) Watch(one schemas.AgentFrame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, one)
}

func (f *frames) prose(run string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out strings.Builder
	for _, one := range f.all {
		if one.Kind == schemas.FrameProse && one.Run == run {
			out.WriteString(one.Text)
		}
	}
	return out.String()
}

// bench is an engine with everything around it.
type bench struct {
	t        testing.TB
	engine   *Engine
	log      *events
	model    *script
	watch    *frames
	dir      string
	mu       sync.Mutex
	calls    []verbs.Call
	handlers map[string]verbs.Handler
	ids      int
}

// newBench makes an engine whose agents are the constitutions given, by name.
// Commands without a handler of their own answer "OK: done".
func newBench(t testing.TB, constitutions map[string]string, say map[string][]string, change ...func(*Options)) *bench {
	t.Helper()
	b := &bench{t: t, log: &events{}, model: &script{say: say}, watch: &frames{}, dir: t.TempDir(), handlers: map[string]verbs.Handler{}}
	for name, text := range constitutions {
		if !strings.HasPrefix(text, "{") {
			quoted, _ := json.Marshal(strings.Fields(text))
			text = fmt.Sprintf(`{"name": %q, "capabilities": %s}`, name, quoted)
		}
		if err := os.WriteFile(filepath.Join(b.dir, name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{
		Model: b.model, Log: b.log.writer(), Limits: dialect.DefaultLimits(), Now: time.Now, NewID: b.newID,
		Handler: func(verb string) verbs.Handler {
			return verbs.HandlerFunc(func(ctx context.Context, c verbs.Call) (verbs.Result, error) {
				b.mu.Lock()
				b.calls = append(b.calls, c)
				own := b.handlers[verb]
				b.mu.Unlock()
				if own != nil {
					return own.Handle(ctx, c)
				}
				return verbs.OK("done"), nil
			})
		},
		Problem: func(err error) { t.Log(err) },
	}
	for _, c := range change {
		c(&o)
	}
	b.engine = New(o)
	t.Cleanup(b.engine.Close)
	return b
}

func (b *bench) newID() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ids++
	return fmt.Sprintf("id%d", b.ids)
}

func (b *bench) start(agent, message string) Start {
	return Start{Run: "r1", File: filepath.Join(b.dir, agent+".json"), Workspace: b.dir, Message: message, Origin: schemas.OriginUser, Trigger: TriggerRun, Watch: b.watch}
}

func (b *bench) run(agent, message string) schemas.AgentFinished {
	b.t.Helper()
	f, err := b.engine.Run(b.t.Context(), b.start(agent, message))
	if err != nil {
		b.t.Fatal(err)
	}
	return f
}

func (b *bench) ran() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, c := range b.calls {
		all = append(all, strings.TrimSpace("/"+c.Verb+" "+c.Args))
	}
	return strings.Join(all, ", ")
}

// told is the nth message of the user's side that the model was sent last.
func (b *bench) told() string {
	p := b.model.asked[len(b.model.asked)-1]
	return p.Messages[len(p.Messages)-1].Text
}

var errScripted = errors.New("scripted failure")
