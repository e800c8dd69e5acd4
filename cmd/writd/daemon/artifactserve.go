package daemon

import (
	"context"
	"errors"
	"maps"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/writbus/writ/retrieval/artifact/mention"
	"github.com/writbus/writ/retrieval/files"
	"github.com/writbus/writ/schemas"
)

const (
	// mostListed bounds the lists of problems and loose mentions in a status.
	mostListed = 100
	// mostDepth bounds how far the graph of mentions is followed.
	mostDepth = 20
)

// mostWait bounds how long one request waits. A variable for tests.
var mostWait = 8 * time.Second

// artifactBuild brings an index up to the files.
func (d *Daemon) artifactBuild(ctx context.Context, r schemas.ArtifactBuildRequest) (schemas.ArtifactStatus, error) {
	s := d.views.artifacts
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
	p, err := d.artifactsOf(ctx, r.Project)
	if errors.Is(err, errOpening) {
		// The update counts as one that runs from here on: who asks for the state
		// once the project is open must not find it idle.
		s.begin(p, u)
		if r.Watch {
			s.wait.Go(func() {
				if <-p.opened; p.closed == nil {
					s.watch(p, d.now(), u.Globs != nil, d.warn)
				}
			})
		}
		return opening(p), nil
	}
	if err != nil {
		return schemas.ArtifactStatus{}, err
	}
	done := s.begin(p, u)
	if r.Watch {
		s.watch(p, d.now(), u.Globs != nil, d.warn)
	}
	if r.Wait > 0 {
		select {
		case <-done:
		case <-ctx.Done():
		case <-time.After(min(r.Wait, mostWait)):
		}
	}
	return d.artifactState(p), nil
}

// opening is the status of a project of which the log is still being read.
func opening(p *liveProject) schemas.ArtifactStatus {
	return schemas.ArtifactStatus{
		Project: p.id, State: "loading", Progress: &schemas.ArtifactProgress{Stage: "reading the log"},
		Types: map[string]int{}, Languages: map[string]int{}, Left: map[string]int{}, Globs: []string{},
	}
}

// artifactStatus says how an index stands.
func (d *Daemon) artifactStatus(ctx context.Context, r schemas.ArtifactStatusRequest) (schemas.ArtifactStatus, error) {
	p, err := d.artifactsOf(ctx, r.Project)
	if errors.Is(err, errOpening) {
		return opening(p), nil
	}
	if err != nil {
		return schemas.ArtifactStatus{}, err
	}
	p.mu.Lock()
	exists := p.exists
	p.mu.Unlock()
	if exists && p.Current() == nil {
		d.views.artifacts.begin(p, files.Update{})
	}
	if r.Watch {
		d.views.artifacts.watch(p, d.now(), false, d.warn)
	}
	if r.Wait > 0 {
		waiting, cancel := context.WithTimeout(ctx, min(r.Wait, mostWait))
		defer cancel()
		p.Await(waiting, r.After)
	}
	if r.Check && p.Current() != nil {
		comparing, cancel := context.WithTimeout(ctx, mostWait)
		defer cancel()
		if _, err := p.Differences(comparing); err != nil && comparing.Err() == nil {
			return schemas.ArtifactStatus{}, schemas.Faultf(schemas.CodeNotFound, "%s", plainly(err))
		}
	}
	return d.artifactState(p), nil
}

// artifactState is a project's status and what is missing of its vectors.
func (d *Daemon) artifactState(p *liveProject) schemas.ArtifactStatus {
	s := p.status()
	if e := d.corpus.Embedder(); e.Embedder != nil {
		s.Embedder, s.Lacking = e.Name(), p.Lacking()
	}
	s.EmbedderProblem = p.embedderProblem(d.corpus.Embedder())
	return s
}

// status is what is known of a project's index.
func (p *liveProject) status() schemas.ArtifactStatus {
	p.mu.Lock()
	s := schemas.ArtifactStatus{
		Project: p.id, Exists: p.exists, State: "ready", Watching: p.watching != nil,
		Types: map[string]int{}, Languages: map[string]int{}, Left: map[string]int{}, Globs: []string{},
	}
	building, current := p.building != nil || p.Progress() != nil, p.Current()
	switch {
	case building && p.exists && current == nil:
		s.State = "loading"
	case building:
		s.State = "building"
	case p.failed != nil:
		s.State, s.Error = "failed", plainly(p.failed)
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
func (p *liveProject) describe(s *schemas.ArtifactStatus, now *files.Snapshot) {
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
func (p *liveProject) age() schemas.ArtifactIndexAge {
	age, differing := p.Age()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watching != nil && p.failed == nil {
		age = 0
	}
	return schemas.ArtifactIndexAge{AgeSeconds: age.Seconds(), Stale: differing > 0 || p.failed != nil, Changed: differing}
}

func mentionsOf(leads []files.Lead) (all []schemas.ArtifactMention) {
	for _, l := range leads {
		m := schemas.ArtifactMention{Path: l.From, Line: l.Line, Mention: l.Text, Section: l.Section, AtLine: l.At}
		switch l.Outcome {
		case mention.Resolved, mention.ToFolder:
			m.Resolved = l.Meant[0]
		default:
			m.Meant = l.Meant
		}
		all = append(all, m)
	}
	return all
}

// artifactPath is a path as the index has it, of one that somebody wrote.
func artifactPath(root, written string) (string, error) {
	file := filepath.ToSlash(written)
	if filepath.IsAbs(written) {
		rel, err := filepath.Rel(root, resolvedParent(written))
		if err != nil {
			return "", schemas.Faultf(schemas.CodeBadRequest, "%s is not in the project %s", written, root)
		}
		file = filepath.ToSlash(rel)
	}
	file = path.Clean(strings.TrimPrefix(file, "@"))
	if file == ".." || strings.HasPrefix(file, "../") || file == "." {
		return "", schemas.Faultf(schemas.CodeBadRequest, "%s is no file of the project %s", written, root)
	}
	return file, nil
}

// resolvedParent follows the links that lead to a file, and not the file itself.
func resolvedParent(file string) string {
	return filepath.Join(resolved(filepath.Dir(file)), filepath.Base(file))
}

// artifactDeps walks the graph of mentions around a file.
func (d *Daemon) artifactDeps(ctx context.Context, r schemas.ArtifactDepsRequest) (schemas.ArtifactDeps, error) {
	p, s, err := d.readyArtifacts(ctx, r.Project, artifactWait)
	if err != nil {
		return schemas.ArtifactDeps{}, err
	}
	file, err := artifactPath(p.id, r.Path)
	if err != nil {
		return schemas.ArtifactDeps{}, err
	}
	if _, found := s.Document(file); !found {
		return schemas.ArtifactDeps{}, schemas.Faultf(schemas.CodeNotFound, "%s is not in the index. `writ index build --explain %s` says why", file, file)
	}
	depth := min(max(r.Depth, 1), mostDepth)
	reply := schemas.ArtifactDeps{Path: file, Mentions: mentionsOf(s.Leads(file)), Outgoing: []schemas.ArtifactEdge{}, Incoming: []schemas.ArtifactEdge{}}
	if reply.Mentions == nil {
		reply.Mentions = []schemas.ArtifactMention{}
	}
	for _, e := range s.Graph().Out(file, depth) {
		reply.Outgoing = append(reply.Outgoing, schemas.ArtifactEdge(e))
	}
	for _, e := range s.Graph().In(file, depth) {
		reply.Incoming = append(reply.Incoming, schemas.ArtifactEdge(e))
	}
	return reply, nil
}

// artifactExplain says why a path is in the index, or is not.
func (d *Daemon) artifactExplain(ctx context.Context, r schemas.ArtifactExplainRequest) (schemas.ArtifactExplanation, error) {
	p, err := d.artifactsOf(ctx, r.Project)
	if err != nil {
		return schemas.ArtifactExplanation{}, err
	}
	file, err := artifactPath(p.id, r.Path)
	if err != nil {
		return schemas.ArtifactExplanation{}, err
	}
	e, err := p.Explain(file)
	if errors.Is(err, files.ErrGlob) {
		return schemas.ArtifactExplanation{}, schemas.Faultf(schemas.CodeBadRequest, "%s", plainly(err))
	}
	return schemas.ArtifactExplanation{Path: e.Path, Indexed: e.Indexed, Reason: string(e.Reason), Detail: e.Detail}, err
}
