package session

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/digest"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/enforcement/testrun/due"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// Watched is the workspace that every decision on a write needs: the approved
// files as they stand.
func (s *Sessions) Watched(p project.Project, state enforcement.State) enforcement.Workspace {
	ws := enforcement.Workspace{Files: map[string]schemas.FileState{}, Known: s.Known}
	for _, rel := range state.Watched() {
		if file, found := p.FileState(rel); found {
			ws.Files[rel] = file
		}
	}
	return ws
}

// Workspace is what Watched is, with what the session's own workers left.
func (s *Sessions) Workspace(ctx context.Context, p project.Project, id string, state enforcement.State) enforcement.Workspace {
	ws := s.Watched(p, state)
	ws.Left, _ = s.leftByWorkers(ctx, id, state)
	return ws
}

// Approvable is the workspace that an approval needs: also the contents of what
// would be approved.
func (s *Sessions) Approvable(ctx context.Context, p project.Project, id string, state enforcement.State) enforcement.Workspace {
	ws := s.Watched(p, state)
	ws.Tests = map[string][]byte{}
	left, theirs := s.leftByWorkers(ctx, id, state)
	ws.Left = left
	tests := append(theirs, state.TestFiles()...)
	for _, rel := range append(theirs, state.ApprovalFiles()...) {
		file, found := p.FileState(rel)
		if !found {
			continue
		}
		ws.Files[rel] = file
		wanted := rel == enforcement.PlanFile || rel == enforcement.CapabilitiesFile || slices.Contains(tests, rel)
		if !wanted {
			continue
		}
		content, err := project.ReadFile(filepath.Join(p.Root, filepath.FromSlash(rel)))
		if err != nil {
			continue
		}
		// What is judged and what is fingerprinted must be one and the same.
		ws.Files[rel] = schemas.FileState{Path: rel, SHA256: digest.Hex(content), Bytes: int64(len(content))}
		switch rel {
		case enforcement.PlanFile:
			ws.Plan = content
			if sha := ws.Files[rel].SHA256; sha != state.Draft && !slices.ContainsFunc(state.Work.Gates[enforcement.GatePlan].Files, func(f schemas.FileState) bool { return f.SHA256 == sha }) {
				ws.PlanOf = s.drafter(ctx, id, p.Root, sha)
			}
		case enforcement.CapabilitiesFile:
			ws.Capabilities = content
		default:
			ws.Tests[rel] = content
		}
	}
	why := ""
	switch {
	case !p.Settings.RunTests:
		why = "`tests: off` in .writ/config.yaml"
	case s.Runner.Writ == "":
		why = "nothing here holds what it does (" + s.Runner.Why + ")"
	}
	ws.Runs = due.Runnable(p.Root, ws.Tests, why)
	return ws
}

// searchedLatest bounds how many of a project's latest sessions are looked into.
const searchedLatest = 50

// drafter is the other session that left plan.md with a content, "" where none
// of the project's latest did. What a session's own workers wrote is its own.
func (s *Sessions) drafter(ctx context.Context, id, root, sha string) string {
	one, err := s.among(ctx, root, func(other string, state enforcement.State) bool {
		return other != id && state.Draft == sha && state.Parent != id && !strings.HasPrefix(other, id+"/")
	})
	if err != nil {
		s.Logger.Warn("look into the sessions of a project", "project", root, "error", err)
	}
	return one
}

// HandedIn reports whether a tool of one of a project's latest sessions handed in a
// prompt for later: hosts submit it in whichever session is open then. After an error
// nobody knows.
func (s *Sessions) HandedIn(ctx context.Context, root, prompt string) (bool, error) {
	if err := s.Runtime.AwaitToDecide(ctx, schemas.StreamSessions, s.List.Name()); err != nil {
		return false, err
	}
	one, err := s.among(ctx, root, func(_ string, state enforcement.State) bool { return enforcement.HandedIn(state, prompt) })
	return one != "", err
}

// among is one of a project's latest sessions of which something holds, "" for none.
// It returns what kept it from looking into all of them, too.
func (s *Sessions) among(ctx context.Context, root string, holds func(id string, state enforcement.State) bool) (found string, err error) {
	all := s.inMemory(root)
	err = s.Runtime.Read(s.List.Name(), func(reader projections.Reader) error {
		seen := 0
		for one, err := range s.List.List(reader) {
			if seen++; err != nil || len(all) >= searchedLatest || seen > searchedSessions {
				return err
			}
			if one.Project == root && !slices.Contains(all, one.ID) {
				all = append(all, one.ID)
			}
		}
		return nil
	})
	for _, one := range all {
		state, unread := s.Peek(ctx, one)
		if unread == nil && holds(one, state) {
			return one, nil
		}
		err = errors.Join(err, unread)
	}
	return "", err
}

// Accepted reports whether the user let a tool of a server run in any session of
// a project, named by its root. One that cannot be told is asked for again.
func (s *Sessions) Accepted(root, tool string) (is bool) {
	err := s.Runtime.Read(s.List.Name(), func(reader projections.Reader) (err error) {
		is, err = s.List.Accepted(reader, root, tool)
		return err
	})
	if err != nil {
		s.Logger.Warn("find whether a tool was let in", "tool", tool, "error", err)
	}
	return is && err == nil
}

// inMemory lists sessions of a project that were used last.
func (s *Sessions) inMemory(root string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for e := s.order.Back(); e != nil && len(ids) < searchedLatest; e = e.Prev() {
		one := e.Value.(*session)
		if state := one.latest.Load(); state != nil && state.Project == root {
			ids = append(ids, one.id)
		}
	}
	return ids
}
