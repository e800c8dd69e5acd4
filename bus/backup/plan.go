package backup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/writbus/writ/schemas/atomicfile"
	"github.com/writbus/writ/schemas/digest"
)

// retry is how long after a failure a planned backup is tried again, at most: the
// pause between two is shorter for short plans.
const retry = 15 * time.Minute

// Plan says where backups are written by themselves, and how often.
type Plan struct {
	Place   string        `json:"place"`
	Every   time.Duration `json:"every"` // nanoseconds; 0: none are
	Keep    int           `json:"keep,omitempty"`
	Last    time.Time     `json:"last,omitzero"`     // of the last whole one
	Problem string        `json:"problem,omitempty"` // why the last try failed
	Tried   time.Time     `json:"tried,omitzero"`
}

// wait is how long it is until the next backup is due: never longer than the pause
// between two, for the clock may have gone back since the last one.
func (p Plan) wait(now time.Time) time.Duration {
	last, pause := p.Last, p.Every
	if p.Problem != "" {
		last, pause = p.Tried, min(retry, p.Every)
	}
	return min(last.Add(pause).Sub(now), pause)
}

// Planner writes backups by plan. It is safe for concurrent use.
type Planner struct {
	file    string
	changed chan struct{}

	mu   sync.Mutex
	plan Plan
}

// OpenPlanner reads the plan from a file; none is there before the first. Where it
// cannot be read the planner that comes with the error has none.
func OpenPlanner(file string) (*Planner, error) {
	p := &Planner{file: file, changed: make(chan struct{}, 1)}
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	body, sum, _ := bytes.Cut(raw, []byte("\n"))
	if err == nil && string(sum) != digest.Hex(body)+"\n" {
		err = errors.New("it is damaged")
	}
	if err == nil {
		err = json.Unmarshal(body, &p.plan)
	}
	if err != nil {
		p.plan = Plan{}
		err = fmt.Errorf("no backups are written by themselves, since their plan, %s, cannot be read: %w. Plan them again with `writ backup DIR --every 24h`, or end it with `writ backup --every off`", file, err)
	}
	return p, err
}

// Plan is the plan as it stands.
func (p *Planner) Plan() Plan {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plan
}

// Set changes the plan, durably.
func (p *Planner) Set(plan Plan) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.set(plan)
}

func (p *Planner) set(plan Plan) error {
	body, err := json.Marshal(plan)
	if err == nil {
		err = atomicfile.Write(p.file, fmt.Appendf(nil, "%s\n%s\n", body, digest.Hex(body)), 0o600)
	}
	if err != nil {
		return fmt.Errorf("the plan of backups: %w", err)
	}
	p.plan = plan
	select {
	case p.changed <- struct{}{}:
	default:
	}
	return nil
}

// Run writes backups when they are due, until ctx ends. make writes one; failed is
// told why one was not written, or the plan cannot be kept: it goes on in memory.
func (p *Planner) Run(ctx context.Context, now func() time.Time, make func(context.Context, Plan) error, failed func(error)) {
	for {
		plan, due := p.Plan(), (<-chan time.Time)(nil)
		if plan.Every > 0 {
			due = time.After(plan.wait(now()))
		}
		select {
		case <-ctx.Done():
			return
		case <-p.changed:
			continue
		case <-due:
		}
		err := make(ctx, plan)
		if ctx.Err() != nil {
			return
		}
		plan.Tried, plan.Problem = now(), ""
		if err == nil {
			plan.Last = plan.Tried
		} else {
			plan.Problem = err.Error()
			failed(err)
		}
		if err := p.note(plan); err != nil {
			failed(err)
		}
	}
}

// note keeps what became of a backup, unless somebody planned otherwise meanwhile.
func (p *Planner) note(plan Plan) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.plan.Place != plan.Place || p.plan.Every != plan.Every {
		return nil
	}
	plan.Keep = p.plan.Keep
	err := p.set(plan)
	p.plan = plan
	return err
}
