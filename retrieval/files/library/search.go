package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/artifact/search"
	"github.com/writbus/writ/retrieval/artifact/strategy"
	"github.com/writbus/writ/retrieval/files/finder"
	"github.com/writbus/writ/schemas"
)

// search searches the files of a project.
func (l *Library) search(ctx context.Context, r schemas.ArtifactSearchRequest) (schemas.ArtifactSearchReply, error) {
	p, strategies, err := l.searchable(ctx, r.Project)
	if err != nil {
		return schemas.ArtifactSearchReply{}, err
	}
	reply, err := p.finder.Search(r, strategies)
	reply.Index = p.fresher(reply.Index)
	reply.Problem = cmp.Or(reply.Problem, p.unsettled(), p.lackingProblem(l.o.Embedder, reply.Method))
	return reply, asked(l, p, err)
}

// context renders what an agent should read for a task.
func (l *Library) context(ctx context.Context, r schemas.ArtifactContextRequest) (schemas.ArtifactContextReply, error) {
	p, strategies, err := l.searchable(ctx, r.Project)
	if err != nil {
		return schemas.ArtifactContextReply{}, err
	}
	return l.contextFor(ctx, p, r, strategies, "request")
}

// searchable returns a project that can be searched, and its strategies.
func (l *Library) searchable(ctx context.Context, folder string) (*project, strategy.Set, error) {
	p, _, err := l.ready(ctx, folder)
	if err != nil {
		return nil, nil, err
	}
	strategies, err := l.o.Strategies(p.id)
	if err != nil {
		return nil, nil, err
	}
	p.mu.Lock()
	failed := p.failed
	p.mu.Unlock()
	if errors.Is(failed, search.ErrLost) {
		return nil, nil, asked(l, p, failed)
	}
	l.settle(ctx, p)
	return p, strategies, nil
}

// contextFor renders a context and, for a session, records it as shown.
func (l *Library) contextFor(ctx context.Context, p *project, r schemas.ArtifactContextRequest, strategies strategy.Set, trigger string) (schemas.ArtifactContextReply, error) {
	var known func(schemas.ArtifactHit) bool
	if r.Session != "" {
		l.showing.Lock() // two prompts of a session are not given the same
		defer l.showing.Unlock()
		if err := l.o.Runtime.Await(ctx, schemas.StreamArtifacts, l.o.View.Name()); err != nil {
			return schemas.ArtifactContextReply{}, err
		}
		known = func(hit schemas.ArtifactHit) bool { return l.hadChunk(r.Session, p.id, hit) }
	}
	reply, err := p.finder.Context(r, strategies, known)
	if err != nil {
		return reply, asked(l, p, err)
	}
	reply.Index = p.fresher(reply.Index)
	reply.Problem = cmp.Or(reply.Problem, p.unsettled(), p.lackingProblem(l.o.Embedder, reply.Method))
	if r.Session == "" || len(reply.Artifacts) == 0 {
		return reply, nil
	}
	shown := schemas.ArtifactShown{Session: r.Session, Trigger: trigger, Tokens: reply.Tokens}
	snapshot := p.Current()
	for _, found := range reply.Artifacts {
		if !found.Brief {
			shown.Shown = append(shown.Shown, finder.Shown(found, snapshot))
		}
	}
	if len(shown.Shown) == 0 {
		return reply, nil
	}
	return reply, l.record(ctx, p.id, []schemas.Payload{shown})
}

func (l *Library) hadChunk(session, project string, hit schemas.ArtifactHit) (shown bool) {
	err := l.o.Runtime.Read(l.o.View.Name(), func(r projections.Reader) (err error) {
		shown, err = l.o.View.Shown(r, session, project, hit)
		return err
	})
	return err == nil && shown
}

// fresher is an index's age, which is none where its files are watched.
func (p *project) fresher(age schemas.ArtifactIndexAge) schemas.ArtifactIndexAge {
	now := p.age()
	age.AgeSeconds, age.Changed = now.AgeSeconds, max(age.Changed, now.Changed)
	age.Stale = age.Stale || now.Stale
	return age
}

// unsettled says that an answer did not wait for all that changed, "" where it did.
func (p *project) unsettled() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fresh.telling == nil && (p.fresh.looking == nil || p.fresh.watching != nil) {
		return ""
	}
	return "the files are still being looked at, so what changed last may be missing: ask again"
}

// lookEvery is how often searches have the files looked at, at the least, where
// nothing watches them.
const lookEvery = 500 * time.Millisecond

// due says whether the files should be looked at before a search: nothing watches
// them, and it takes a twentieth of the time at most, or lookEvery has passed.
func (p *project) due(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	every := lookEvery
	if p.comparing > 0 {
		every = min(every, 20*p.comparing)
	}
	return p.fresh.watching == nil && p.building == nil && now.Sub(p.checked) > every
}

// asked gives an error of a search the code a client can act on. An index that
// cannot be read any more is let go of: the next request takes it up anew.
func asked(l *Library, p *project, err error) error {
	switch {
	case errors.Is(err, search.ErrLost):
		l.o.Warn(fmt.Sprintf("the index of %s is made anew: %s. Look after the disk with %s", p.id, plainly(err), l.o.Data))
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.projects[p.id] == p {
			l.letGo(p)
		}
		return schemas.Faultf(schemas.CodeNotReady, "%s; it is made anew, so ask again", plainly(err))
	case errors.Is(err, finder.ErrRequest):
		return schemas.Faultf(schemas.CodeBadRequest, "%s", plainly(err))
	case errors.Is(err, finder.ErrNoIndex):
		return schemas.Faultf(schemas.CodeNotReady, "%v", err)
	}
	return err
}

// plainly is an error without the packages it came from: who asked knows none of
// them.
func plainly(err error) string {
	text := err.Error()
	for _, layer := range []string{"finder: ", "artifacts: ", "search: ", "inject: "} {
		text = strings.TrimPrefix(text, layer)
	}
	return text
}
