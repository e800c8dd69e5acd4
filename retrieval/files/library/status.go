package library

import (
	"context"
	"errors"
	"maps"

	"github.com/writbus/writ/retrieval/files"
	"github.com/writbus/writ/schemas"
)

// mostListed bounds the lists of problems and loose mentions in a status.
const mostListed = 100

// build brings an index up to the files.
func (l *Library) build(ctx context.Context, r schemas.ArtifactBuildRequest) (schemas.ArtifactStatus, error) {
	u := files.Update{Force: r.Force}
	switch {
	case len(r.Globs) > 0:
		if err := files.CheckGlobs(r.Globs); err != nil {
			return schemas.ArtifactStatus{}, schemas.Faultf(schemas.CodeBadRequest, "%s", plainly(err))
		}
		u.Globs = &r.Globs
	case r.Defaults:
		u.Globs = &[]string{}
	}
	p, err := l.open(ctx, r.Project)
	if errors.Is(err, errOpening) {
		// The update counts as one that runs from here on: who asks for the state
		// once the project is open must not find it idle.
		l.begin(p, u)
		return opening(p), nil
	}
	if err != nil {
		return schemas.ArtifactStatus{}, err
	}
	done := l.begin(p, u)
	if r.Wait > 0 {
		within(ctx, min(r.Wait, l.o.Waits.Answer), done)
	}
	return l.state(p), nil
}

// opening is the status of a project of which the log is still being read.
func opening(p *project) schemas.ArtifactStatus {
	return schemas.ArtifactStatus{
		Project: p.id, State: "loading", Progress: &schemas.ArtifactProgress{Stage: "reading the log"},
		Types: map[string]int{}, Languages: map[string]int{}, Left: map[string]int{}, Globs: []string{},
	}
}

// status says how an index stands.
func (l *Library) status(ctx context.Context, r schemas.ArtifactStatusRequest) (schemas.ArtifactStatus, error) {
	p, err := l.open(ctx, r.Project)
	if errors.Is(err, errOpening) {
		return opening(p), nil
	}
	if err != nil {
		return schemas.ArtifactStatus{}, err
	}
	if p.isAway() {
		l.begin(p, files.Update{})
	}
	if r.Watch && p.Current() != nil {
		l.settle(ctx, p)
	}
	if r.Wait > 0 {
		waiting, cancel := context.WithTimeout(ctx, min(r.Wait, l.o.Waits.Answer))
		defer cancel()
		p.Await(waiting, r.After)
	}
	if r.Check && p.Current() != nil {
		comparing, cancel := context.WithTimeout(ctx, l.o.Waits.Answer)
		defer cancel()
		if _, err := p.Differences(comparing); err != nil && comparing.Err() == nil {
			return schemas.ArtifactStatus{}, schemas.Faultf(schemas.CodeNotFound, "%s", plainly(err))
		}
	}
	return l.state(p), nil
}

// state is a project's status and what is missing of its vectors.
func (l *Library) state(p *project) schemas.ArtifactStatus {
	s := p.status()
	if e := l.o.Embedder; e.Embedder != nil {
		s.Embedder, s.Lacking = e.Name(), p.Lacking()
	}
	s.EmbedderProblem = p.embedderProblem(l.o.Embedder)
	return s
}

// status is what is known of a project's index.
func (p *project) status() schemas.ArtifactStatus {
	p.mu.Lock()
	s := schemas.ArtifactStatus{
		Project: p.id, Exists: p.exists, State: "ready", Watching: p.fresh.watching != nil, Unwatched: p.fresh.unwatched,
		Types: map[string]int{}, Languages: map[string]int{}, Left: map[string]int{}, Globs: []string{},
	}
	current := p.Current()
	// What a watch or a look does for an index that is there is no build.
	building := p.building != nil || p.Progress() != nil && current == nil
	switch {
	case building && p.exists && current == nil:
		s.State = "loading"
	case building:
		s.State = "building"
	case p.failed != nil:
		s.State, s.Error = "failed", plainly(p.failed)
	case !p.exists:
		s.Error = p.declined
	}
	if b := p.last; b != nil {
		s.Last = &schemas.ArtifactBuilt{
			At: b.At, Added: b.Added, Changed: b.Changed, Touched: b.Touched, Renamed: b.Renamed, Removed: b.Removed,
			Unchanged: b.Unchanged, Read: b.Read, Seconds: b.Took.Seconds(),
		}
	}
	p.mu.Unlock()
	if now := p.Progress(); now != nil && building {
		s.Progress = &schemas.ArtifactProgress{Stage: now.Stage, Done: now.Done, Total: now.Total}
	}
	if current != nil {
		p.describe(&s, current)
	}
	return s
}

// describe counts what a snapshot holds.
func (p *project) describe(s *schemas.ArtifactStatus, now *files.Snapshot) {
	s.Revision, s.Globs, s.Documents = now.Revision, now.Globs, now.Len()
	s.Chunks, s.IndexSize = now.Index.Chunks(), int64(now.Index.Bytes())
	tally := now.Tally()
	for name, n := range tally.Types {
		s.Types[string(name)] = n
	}
	maps.Copy(s.Languages, tally.Languages)
	s.Bytes, s.Symbols = tally.Bytes, tally.Symbols
	for reason, n := range now.Left {
		s.Left[string(reason)] = n
	}
	for _, problem := range now.Problems[:min(len(now.Problems), mostListed)] {
		s.Problems = append(s.Problems, schemas.ArtifactProblem(problem))
	}
	unresolved, ambiguous, mentions := now.Loose()
	s.Mentions = mentions
	s.Unresolved = mentionsOf(unresolved[:min(len(unresolved), mostListed)])
	s.Ambiguous = mentionsOf(ambiguous[:min(len(ambiguous), mostListed)])
	s.Index = p.age()
}

// age is how old the index may be.
func (p *project) age() schemas.ArtifactIndexAge {
	age, differing := p.Age()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fresh.watching != nil && p.failed == nil {
		age = 0
	}
	return schemas.ArtifactIndexAge{AgeSeconds: age.Seconds(), Stale: differing > 0 || p.failed != nil, Changed: differing}
}
