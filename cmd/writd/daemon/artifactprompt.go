package daemon

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/artifact/strategy"
	"github.com/writbus/writ/retrieval/files"
	"github.com/writbus/writ/schemas"
)

const (
	// promptContext bounds the block of a project's files that goes with a
	// prompt, tokens, and leastContext is below what none is worth its place.
	promptContext = 1500
	leastContext  = 200
	// charsPerToken is a low estimate for English and code, so that a budget of
	// tokens stays within a budget of characters.
	charsPerToken = 3.2
	// servedSessions bounds how many sessions are remembered to have their
	// block; of others the view is asked.
	servedSessions = 4096
)

// artifactsFor returns the block of the project's files that goes with the
// first prompt of a session for which there is something to read, "" for none.
// It is recorded as shown. Nothing here keeps a prompt waiting: an index that
// is not in memory is loaded for the next one, and a failure means no block.
func (d *Daemon) artifactsFor(ctx context.Context, session, agentType, project, prompt string, room int) string {
	budget := min(promptContext, int(float64(room)/charsPerToken))
	if session == "" || strings.TrimSpace(prompt) == "" || budget < leastContext {
		return ""
	}
	p := d.loadedArtifacts(project)
	if p == nil || d.hasBlock(session) {
		return ""
	}
	strategies, err := d.strategies(p.id)
	if err != nil {
		d.logger.Warn("files for a prompt", "error", err)
		return ""
	}
	reply, err := d.contextFor(ctx, p, schemas.ArtifactContextRequest{
		ArtifactSearchRequest: schemas.ArtifactSearchRequest{Project: p.id, Query: prompt, Agent: cmp.Or(agentType, strategy.Default)},
		MaxContextTokens:      budget, Session: session,
	}, strategies, "prompt")
	if err != nil {
		d.logger.Warn("files for a prompt", "error", err)
		return ""
	}
	if len(reply.Artifacts) == 0 || len(reply.Context) > room {
		return ""
	}
	d.views.artifacts.serve(session)
	return reply.Context
}

// loadedArtifacts is the index of a project where it is in memory. Elsewhere it
// begins to be.
func (d *Daemon) loadedArtifacts(root string) *liveProject {
	s := d.views.artifacts
	s.mu.Lock()
	p := s.projects[resolved(root)]
	s.mu.Unlock()
	if p != nil && p.isOpen() && p.Current() != nil {
		p.touch(d.now())
		return p
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loading[root] || s.running == nil || s.running.Err() != nil || !filepath.IsAbs(root) {
		return nil
	}
	s.loading[root] = true
	s.wait.Go(func() {
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.loading, root)
		}()
		p, err := d.artifactsOf(s.running, root)
		if err != nil {
			return
		}
		p.mu.Lock()
		exists := p.exists
		p.mu.Unlock()
		if exists && p.Current() == nil {
			<-s.begin(p, files.Update{})
		}
	})
	return nil
}

// hasBlock says whether a session was given files already.
func (d *Daemon) hasBlock(session string) bool {
	s := d.views.artifacts
	s.mu.Lock()
	served := s.served[session]
	s.mu.Unlock()
	if served {
		return true
	}
	err := d.runtime.Read(s.view.Name(), func(r projections.Reader) (err error) {
		served, err = s.view.ShownAny(r, session)
		return err
	})
	return err == nil && served
}

func (s *artifactStore) serve(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.served) >= servedSessions {
		clear(s.served)
	}
	s.served[session] = true
}
