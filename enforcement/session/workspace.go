package session

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/writbus/writ/schemas/digest"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/project"
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
		case enforcement.CapabilitiesFile:
			ws.Capabilities = content
		default:
			ws.Tests[rel] = content
		}
	}
	return ws
}
