package rulebook

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/retrieval"
)

const (
	// judgePatience is how long after a model was asked a prompt waits for its choice:
	// about as long as the rest of a hook takes. Most models answer later, beside the
	// agent's work.
	judgePatience = 20 * time.Millisecond
	// judgedKept is how many choices are remembered, the newest.
	judgedKept = 256
)

// judge lets the configured model choose what a prompt is given.
type judge struct {
	ask      func(ctx context.Context, system, question string) (answer string, err error)
	patience time.Duration

	mu     sync.Mutex
	choose map[[sha256.Size]byte]*choice
	oldest [][sha256.Size]byte // of choose
	owed   map[string]*debt    // by session: asked for its last prompt, which did not wait
}

// debt is what a session's last prompt went without, and what it was paid of the
// one before.
type debt struct {
	*choice        // nil where it went without none
	text    string // of that prompt
	also    []string
}

// choice is what a model said of the candidates of a text.
type choice struct {
	late   chan struct{}     // closed when nobody waits any more
	done   chan struct{}     // closed when judged is there
	judged map[string]string // nil: no answer that could be understood
}

func newJudge(ask func(ctx context.Context, system, question string) (string, error)) *judge {
	return &judge{ask: ask, patience: judgePatience, choose: map[[sha256.Size]byte]*choice{}, owed: map[string]*debt{}}
}

// Search answers a query as the index does. Where a model is configured, it chooses
// what a prompt of a session is given: of the prompt if it answers in time, else
// with the session's next one. Nothing is lost by a model that fails.
func (b *Book) Search(ctx context.Context, q retrieval.Query) retrieval.Answer {
	if b.judge != nil && q.Session != "" && q.Project && q.Limit == 0 {
		q = b.judge.judged(ctx, b.index.Current(), q)
	}
	return b.index.Search(ctx, q)
}

// judged completes a query by what the model said of it, and of the prompt before.
// It may be asked again of the same prompt, and then says the same or more.
func (j *judge) judged(ctx context.Context, ix *retrieval.Index, q retrieval.Query) retrieval.Query {
	var pending *choice
	if candidates := ix.Candidates(q); len(candidates) > 0 {
		pending = j.chosen(ctx, ix.Info().Version, q, candidates)
		select {
		case <-pending.done:
		case <-pending.late:
		case <-ctx.Done():
		}
		if pending.answered() {
			q.Judged, pending = pending.judged, nil
		}
	}
	q.Also = j.settle(q, pending)
	return q
}

// answered says whether the model has said what it will say.
func (c *choice) answered() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// settle tells the rules that a model chose in full for a session's prompt after
// that had been answered. The prompt may go without a choice of its own.
func (j *judge) settle(q retrieval.Query, pending *choice) (also []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	d := j.owed[q.Session]
	switch {
	case d == nil:
	case d.text == q.Text:
		return d.also
	case d.choice != nil && d.answered():
		for id, tier := range d.judged {
			if tier == retrieval.TierInject {
				also = append(also, id)
			}
		}
		slices.Sort(also)
	case d.choice != nil && pending == nil:
		return nil // it may still come
	}
	delete(j.owed, q.Session)
	if pending == nil && len(also) == 0 {
		return nil
	}
	if len(j.owed) >= judgedKept {
		clear(j.owed)
	}
	j.owed[q.Session] = &debt{choice: pending, text: q.Text, also: also}
	return also
}

// chosen is the model's choice among the candidates of a query, asked for once.
func (j *judge) chosen(ctx context.Context, version string, q retrieval.Query, candidates []retrieval.Hit) *choice {
	var ids strings.Builder
	for _, c := range candidates {
		ids.WriteString(c.ID + "\n")
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s\n%q\n%s", version, q.Text, ids.String()))
	j.mu.Lock()
	defer j.mu.Unlock()
	if c := j.choose[key]; c != nil {
		return c
	}
	c := &choice{late: make(chan struct{}), done: make(chan struct{})}
	time.AfterFunc(j.patience, func() { close(c.late) })
	if len(j.oldest) >= judgedKept {
		delete(j.choose, j.oldest[0])
		j.oldest = j.oldest[1:]
	}
	j.choose[key], j.oldest = c, append(j.oldest, key)
	go func() {
		defer close(c.done)
		mark := "prompt-" + strings.ToLower(rand.Text()[:12]) //nolint:forbidigo // nobody who wrote the prompt may know it
		answer, err := j.ask(context.WithoutCancel(ctx), retrieval.JudgeSystem, retrieval.JudgeAsked(q.Text, candidates, mark))
		if judged, understood := retrieval.JudgeAnswered(candidates, answer); err == nil && understood {
			c.judged = judged
			return
		}
		j.mu.Lock() // a later prompt asks again
		defer j.mu.Unlock()
		if j.choose[key] == c {
			delete(j.choose, key)
		}
	}()
	return c
}
