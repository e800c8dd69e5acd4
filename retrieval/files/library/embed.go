package library

import (
	"fmt"
	"time"

	"github.com/writbus/writ/retrieval/artifact/search"
	"github.com/writbus/writ/retrieval/embed/choice"
)

// filesAtOnce is how many files' vectors are made before they are published.
const filesAtOnce = 32

// embedRetry is how long to wait after an embedder failed.
const embedRetry = 20 * time.Second

// embedding is what goes on with the vectors of a project's files that are made
// beside; guarded by the project.
type embedding struct {
	running bool
	again   bool   // files changed since it began
	problem string // the last failure's; "" once it works
}

// embed makes the vectors that a project lacks, beside everything else. After a
// failure it waits and tries again, until the services end.
func (l *Library) embed(p *project) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.meaning.running {
		p.meaning.again = true
		return
	}
	p.meaning.running = true
	l.wait.Go(func() {
		made := false
		for {
			left, err := p.Embed(l.running, filesAtOnce)
			made = made || err == nil && left > 0
			if p.embedded(left, err) {
				break
			}
			if err == nil {
				continue
			}
			within(l.running, embedRetry, nil)
			if l.running.Err() != nil {
				p.embedded(0, nil)
				return
			}
		}
		if made {
			l.save(p)
		}
	})
}

// embedded takes down how far the vectors are, and says whether that is all.
func (p *project) embedded(left int, err error) (done bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.meaning.problem = ""; err != nil {
		p.meaning.problem = err.Error()
		return false
	}
	if left == 0 && !p.meaning.again {
		p.meaning.running = false
		return true
	}
	p.meaning.again = false
	return false
}

// embedderProblem is why an embedder does not serve, "" where it does.
func (p *project) embedderProblem(e choice.Embedder) string {
	if e.Problem != "" {
		return e.Problem
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.meaning.problem
}

// lackingProblem is why files were found by their words alone, "" where they
// were not or where only words were asked for.
func (p *project) lackingProblem(e choice.Embedder, method string) string {
	if method == string(search.BM25) {
		return ""
	}
	problem := p.embedderProblem(e)
	if left := p.Lacking(); left > 0 {
		text := fmt.Sprintf("%s has still to make the vectors of %d of %d files; until then they are found by their words alone", e.Name(), left, p.Current().Len())
		if problem != "" {
			text += ": " + problem
		}
		return text
	}
	if e.Embedder == nil && problem != "" {
		return "files are found by their words alone: " + problem
	}
	return ""
}
