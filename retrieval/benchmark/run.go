package benchmark

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

// ErrUnknownRule is returned by [Run] when the truth names a rule that the
// corpus does not have: its figures would be too low.
var ErrUnknownRule = errors.New("benchmark: the truth names rules that the corpus does not have")

// Config is what to measure.
type Config struct {
	Rules   []schemas.Rule
	Truth   []Query           // none: no quality
	Options retrieval.Options // embedder, profiles; its clock is replaced by Clock
	Profile string            // "" is the embedder's
	Scale   []int             // sizes of grown corpora; none: only the corpus itself
	Queries int               // asked for each size; 0 is 2,000
	Seed    uint64
	// Ask asks a model, which then chooses what is given; nil for none.
	Ask   func(system, question string) (answer string, err error)
	Clock func() int64 // nanoseconds, monotonic
	Heap  func() int64 // bytes in use after a collection; nil: memory is not measured
}

func (c Config) queries() int {
	if c.Queries <= 0 {
		return 2000
	}
	return c.Queries
}

func (c Config) heap() int64 {
	if c.Heap == nil {
		return 0
	}
	return c.Heap()
}

func (c Config) options() retrieval.Options {
	opt := c.Options
	opt.Clock = c.Clock
	return opt
}

// Report is what was measured.
type Report struct {
	Embedder string    `json:"embedder"`
	Profile  string    `json:"profile"`
	Index    string    `json:"index"` // version of the corpus's index
	Seed     uint64    `json:"seed"`
	Quality  []Quality `json:"quality,omitempty"`
	// Asked are the calls of the model, NotUnderstood those whose answer was none.
	Asked         int      `json:"asked,omitempty"`
	NotUnderstood int      `json:"not_understood,omitempty"`
	Speed         []Speed  `json:"speed"`             // the corpus first, then the grown ones
	Judged        []Judged `json:"queries,omitempty"` // each with its ranking
}

// Run measures.
func Run(c Config) (Report, error) {
	ix, err := c.index()
	if err != nil {
		return Report{}, err
	}
	r := Report{Embedder: ix.Embedder(), Index: ix.Info().Version, Seed: c.Seed}
	r.Profile = ix.Search(retrieval.Query{Text: "profile", Profile: c.Profile}).Profile
	if len(c.Truth) > 0 {
		if err := checkTruth(ix, c.Truth); err != nil {
			return Report{}, err
		}
		asked := &askingSearcher{Index: ix, ask: c.Ask}
		r.Judged = Judge(asked, c.Truth, c.Profile)
		if asked.err != nil {
			return Report{}, fmt.Errorf("benchmark: the model: %w", asked.err)
		}
		r.Asked, r.NotUnderstood = asked.asked, asked.lost
		r.Quality = Summarise(r.Judged, c.Seed)
	}
	own, err := c.speed(c.Rules, NewGrower(c.Rules, c.Seed))
	if err != nil {
		return Report{}, err
	}
	r.Speed = append(r.Speed, own)
	for _, n := range c.Scale {
		g := NewGrower(c.Rules, c.Seed+uint64(n))
		grown, err := c.speed(g.Rules(n), g)
		if err != nil {
			return Report{}, fmt.Errorf("a corpus grown to %d rules: %w", n, err)
		}
		r.Speed = append(r.Speed, grown)
	}
	return r, nil
}

func (c Config) index() (*retrieval.Index, error) {
	docs, err := retrieval.AnalyseAll(c.Rules, c.Options.Embedder)
	if err != nil {
		return nil, err
	}
	return retrieval.NewIndex(docs, c.options())
}

func checkTruth(ix *retrieval.Index, truth []Query) error {
	var missing []string
	for _, q := range truth {
		for _, id := range q.Relevant {
			if _, ok := ix.Document(id); !ok {
				missing = append(missing, id)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("%w: %s", ErrUnknownRule, strings.Join(slices.Compact(missing), ", "))
}

// askingSearcher lets a model choose what is given, if there is one.
type askingSearcher struct {
	*retrieval.Index
	ask         func(system, question string) (string, error)
	asked, lost int
	err         error // of the first call that failed; no more are made
}

func (s *askingSearcher) Search(q retrieval.Query) retrieval.Answer {
	if s.ask != nil && !q.Raw && s.err == nil {
		if candidates := s.Candidates(q); len(candidates) > 0 {
			var answer string
			s.asked++
			if answer, s.err = s.ask(retrieval.JudgeSystem, retrieval.JudgeAsked(q.Text, candidates, "prompt")); s.err == nil {
				judged, understood := retrieval.JudgeAnswered(candidates, answer)
				if q.Judged = judged; !understood {
					q.Judged, s.lost = nil, s.lost+1
				}
			}
		}
	}
	return s.Index.Search(q)
}
