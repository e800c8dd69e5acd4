package library

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/retrieval/artifact/mention"
	"github.com/writbus/writ/retrieval/files"
	"github.com/writbus/writ/schemas"
)

// mostDepth bounds how far the graph of mentions is followed.
const mostDepth = 20

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

// pathIn is a path as the index has it, of one that somebody wrote.
func pathIn(root, written string) (string, error) {
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

// deps walks the graph of mentions around a file.
func (l *Library) deps(ctx context.Context, r schemas.ArtifactDepsRequest) (schemas.ArtifactDeps, error) {
	p, s, err := l.ready(ctx, r.Project)
	if err != nil {
		return schemas.ArtifactDeps{}, err
	}
	file, err := pathIn(p.id, r.Path)
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

// explain says why a path is in the index, or is not.
func (l *Library) explain(ctx context.Context, r schemas.ArtifactExplainRequest) (schemas.ArtifactExplanation, error) {
	p, err := l.open(ctx, r.Project)
	if err != nil {
		return schemas.ArtifactExplanation{}, err
	}
	file, err := pathIn(p.id, r.Path)
	if err != nil {
		return schemas.ArtifactExplanation{}, err
	}
	e, err := p.Explain(file)
	if errors.Is(err, files.ErrGlob) {
		return schemas.ArtifactExplanation{}, schemas.Faultf(schemas.CodeBadRequest, "%s", plainly(err))
	}
	return schemas.ArtifactExplanation{Path: e.Path, Indexed: e.Indexed, Reason: string(e.Reason), Detail: e.Detail}, err
}
