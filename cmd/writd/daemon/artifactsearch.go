package daemon

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/artifact/strategy"
	"github.com/writbus/writ/retrieval/files/finder"
	"github.com/writbus/writ/schemas"
)

// artifactSearch searches the files of a project.
func (d *Daemon) artifactSearch(ctx context.Context, r schemas.ArtifactSearchRequest) (schemas.ArtifactSearchReply, error) {
	p, _, err := d.readyArtifacts(ctx, r.Project, artifactWait)
	if err != nil {
		return schemas.ArtifactSearchReply{}, err
	}
	strategies, err := d.strategies(p.id)
	if err != nil {
		return schemas.ArtifactSearchReply{}, err
	}
	d.compare(p)
	reply, err := p.finder.Search(r, strategies)
	reply.Index = p.fresher(reply.Index)
	reply.Problem = cmp.Or(reply.Problem, p.lackingProblem(d.corpus.Embedder(), reply.Method))
	return reply, asked(err)
}

// artifactContext renders what an agent should read for a task.
func (d *Daemon) artifactContext(ctx context.Context, r schemas.ArtifactContextRequest) (schemas.ArtifactContextReply, error) {
	p, _, err := d.readyArtifacts(ctx, r.Project, artifactWait)
	if err != nil {
		return schemas.ArtifactContextReply{}, err
	}
	strategies, err := d.strategies(p.id)
	if err != nil {
		return schemas.ArtifactContextReply{}, err
	}
	d.compare(p)
	return d.contextFor(ctx, p, r, strategies, "request")
}

// contextFor renders a context and, for a session, records it as shown.
func (d *Daemon) contextFor(ctx context.Context, p *liveProject, r schemas.ArtifactContextRequest, strategies strategy.Set, trigger string) (schemas.ArtifactContextReply, error) {
	s := d.views.artifacts
	var known func(schemas.ArtifactHit) bool
	if r.Session != "" {
		s.showing.Lock() // two prompts of a session are not given the same
		defer s.showing.Unlock()
		if err := d.runtime.Await(ctx, schemas.StreamArtifacts, s.view.Name()); err != nil {
			return schemas.ArtifactContextReply{}, err
		}
		known = func(hit schemas.ArtifactHit) bool { return d.hadChunk(r.Session, p.id, hit) }
	}
	reply, err := p.finder.Context(r, strategies, known)
	if err != nil {
		return reply, asked(err)
	}
	reply.Index = p.fresher(reply.Index)
	reply.Problem = cmp.Or(reply.Problem, p.lackingProblem(d.corpus.Embedder(), reply.Method))
	if r.Session == "" || len(reply.Artifacts) == 0 {
		return reply, nil
	}
	shown := schemas.ArtifactShown{Session: r.Session, Trigger: trigger, Tokens: reply.Tokens}
	snapshot := p.Current()
	for _, found := range reply.Artifacts {
		shown.Shown = append(shown.Shown, finder.Shown(found, snapshot))
	}
	return reply, d.recordArtifacts(ctx, p.id, []schemas.Payload{shown})
}

func (d *Daemon) hadChunk(session, project string, hit schemas.ArtifactHit) (shown bool) {
	view := d.views.artifacts.view
	err := d.runtime.Read(view.Name(), func(r projections.Reader) (err error) {
		shown, err = view.Shown(r, session, project, hit)
		return err
	})
	return err == nil && shown
}

// fresher is an index's age, which is none where its files are watched.
func (p *liveProject) fresher(age schemas.ArtifactIndexAge) schemas.ArtifactIndexAge {
	now := p.age()
	age.AgeSeconds, age.Changed = now.AgeSeconds, max(age.Changed, now.Changed)
	age.Stale = age.Stale || now.Stale
	return age
}

// compare has the files compared with an index that nothing watches: at the least
// every artifactCheck, and as often as that takes a twentieth of the time. It waits
// a little for the outcome.
func (d *Daemon) compare(p *liveProject) {
	s := d.views.artifacts
	now := d.now()
	if !p.due(now) {
		return
	}
	done := make(chan struct{})
	s.wait.Go(func() {
		defer close(done)
		_, _ = p.Differences(s.running) // a folder that is gone shows in what is read
		p.mu.Lock()
		defer p.mu.Unlock()
		p.comparing = d.now().Sub(now)
	})
	select {
	case <-done:
	case <-time.After(artifactPatience):
	}
}

// due says whether the files should be compared now, and takes that down.
func (p *liveProject) due(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	every := artifactCheck
	if p.comparing > 0 {
		every = min(every, 20*p.comparing)
	}
	if p.watching != nil || p.building != nil || now.Sub(p.checked) <= every {
		return false
	}
	p.checked = now
	return true
}

// strategies are those of a project's settings.
func (d *Daemon) strategies(root string) (strategy.Set, error) {
	settings, err := config.LoadProject(root)
	if err != nil {
		return nil, schemas.Faultf(schemas.CodeBadRequest, "%v", err)
	}
	set, err := strategy.BuiltIn().With(settings.Strategies)
	if err != nil {
		return nil, schemas.Faultf(schemas.CodeBadRequest, "%s of %s: %v", config.ProjectFile, root, err)
	}
	return set, nil
}

// asked gives an error of a search the code a client can act on.
func asked(err error) error {
	switch {
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
