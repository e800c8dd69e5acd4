package library

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

// ForPrompt returns the block of the project's files that goes with the first
// prompt of a session for which there is something to read, "" for none. It is
// recorded as shown. Nothing here keeps a prompt waiting for longer than a look at
// the files may: an index that is not in memory is loaded for the next one, and a failure means no block.
func (l *Library) ForPrompt(ctx context.Context, session, agentType, project, prompt string, room int) string {
	budget := min(promptContext, int(float64(room)/charsPerToken))
	if session == "" || strings.TrimSpace(prompt) == "" || budget < leastContext {
		return ""
	}
	p := l.loaded(project, true)
	if p == nil || l.hasBlock(session) {
		return ""
	}
	l.settle(ctx, p)
	strategies, err := l.o.Strategies(p.id)
	if err != nil {
		l.o.Logger.Warn("files for a prompt", "error", err)
		return ""
	}
	reply, err := l.contextFor(ctx, p, schemas.ArtifactContextRequest{
		ArtifactSearchRequest: schemas.ArtifactSearchRequest{Project: p.id, Query: prompt, Agent: cmp.Or(agentType, strategy.Default)},
		MaxContextTokens:      budget, Session: session,
	}, strategies, "prompt")
	if err != nil {
		l.o.Logger.Warn("files for a prompt", "error", err)
		return ""
	}
	if len(reply.Artifacts) == 0 || len(reply.Context) > room {
		return ""
	}
	l.serve(session)
	return reply.Context
}

// loaded is the index of a project where it is in memory. Elsewhere it begins
// to be; index says that one is made where there is none.
func (l *Library) loaded(root string, index bool) *project {
	l.mu.Lock()
	p := l.projects[resolved(root)]
	l.mu.Unlock()
	if p != nil && p.isOpen() && p.Current() != nil {
		p.touch(l.o.Now())
		return p
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loading[root] || l.running == nil || l.running.Err() != nil || !filepath.IsAbs(root) {
		return nil
	}
	l.loading[root] = true
	l.wait.Go(func() {
		defer func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.loading, root)
		}()
		p, err := l.open(l.running, root)
		switch {
		case err != nil:
		case p.isAway():
			<-l.begin(p, files.Update{})
		case index:
			l.unasked(p)
		}
	})
	return nil
}

// hasBlock says whether a session was given files already.
func (l *Library) hasBlock(session string) bool {
	l.mu.Lock()
	served := l.served[session]
	l.mu.Unlock()
	if served {
		return true
	}
	err := l.o.Runtime.Read(l.o.View.Name(), func(r projections.Reader) (err error) {
		served, err = l.o.View.ShownAny(r, session)
		return err
	})
	return err == nil && served
}

func (l *Library) serve(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.served) >= servedSessions {
		clear(l.served)
	}
	l.served[session] = true
}
