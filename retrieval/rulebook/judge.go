package rulebook

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/retrieval"
)

const (
	// judgePatience is how long a prompt waits for the model's choice.
	judgePatience = 1500 * time.Millisecond
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
	owed   map[string]*choice  // by session: asked for its last prompt, which did not wait
}

// choice is what a model said of the candidates of a text.
type choice struct {
	done   chan struct{}     // closed when judged is there
	judged map[string]string // nil: no answer that could be understood
}

func newJudge(ask func(ctx context.Context, system, question string) (string, error)) *judge {
	return &judge{ask: ask, patience: judgePatience, choose: map[[sha256.Size]byte]*choice{}, owed: map[string]*choice{}}
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
func (j *judge) judged(ctx context.Context, ix *retrieval.Index, q retrieval.Query) retrieval.Query {
	q.Also = j.late(q.Session)
	candidates := ix.Candidates(q)
	if len(candidates) == 0 {
		return q
	}
	c := j.chosen(ctx, ix.Info().Version, q, candidates)
	waiting, end := context.WithTimeout(ctx, j.patience)
	defer end()
	select {
	case <-c.done:
		q.Judged = c.judged
	case <-waiting.Done():
		j.mu.Lock()
		defer j.mu.Unlock()
		if len(j.owed) >= judgedKept {
			clear(j.owed)
		}
		j.owed[q.Session] = c
	}
	return q
}

// late are the rules that a model chose for a session's prompt after that had
// been answered, told once.
func (j *judge) late(session string) (ids []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := j.owed[session]
	if c == nil {
		return nil
	}
	select {
	case <-c.done:
	default:
		return nil
	}
	delete(j.owed, session)
	for id, tier := range c.judged {
		if tier == retrieval.TierInject {
			ids = append(ids, id)
		}
	}
	return ids
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
	c := &choice{done: make(chan struct{})}
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
