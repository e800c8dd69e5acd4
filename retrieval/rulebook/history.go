package rulebook

import (
	"cmp"
	"context"
	"strings"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/curation"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/schemas"
)

const (
	exportPage  = 5000    // files of one page of an export by default
	exportBytes = 8 << 20 // after which a page ends
)

// log is a rule's history with what each revision changed.
func (b *Book) log(ctx context.Context, q schemas.RuleQuery) (schemas.RuleLog, error) {
	log := schemas.RuleLog{ID: q.ID, Entries: []schemas.RuleLogEntry{}}
	if err := b.await(ctx); err != nil {
		return log, err
	}
	versions, err := b.versions(ctx, q.ID)
	if err != nil {
		return log, err
	}
	if len(versions) == 0 {
		return log, rule.NoSuch(q.ID)
	}
	var before schemas.Rule
	for _, v := range versions {
		log.Entries = append(log.Entries, schemas.RuleLogEntry{
			Revision: v.revision.Revision, Type: v.revision.Type, Position: v.revision.Position,
			Time: v.revision.Time, Actor: v.revision.Actor, Reason: v.revision.Reason,
			Diff: curation.Diff(before, v.state.Given().Rule),
		})
		before = v.state.Given().Rule
	}
	return log, nil
}

// export gives the nodes in the corpus as files: those that nobody changed since
// they were read with the very bytes they had.
func (b *Book) export(ctx context.Context, r schemas.RuleExportRequest) (schemas.RuleExportPage, error) {
	page := schemas.RuleExportPage{Files: []schemas.RuleFile{}}
	if err := b.await(ctx); err != nil {
		return page, err
	}
	nodes, err := b.nodes(r.ID, r.ID == "")
	if err != nil {
		return page, err
	}
	if r.ID != "" && len(nodes) == 0 {
		return page, rule.NoSuch(r.ID)
	}
	size := 0
	for _, f := range corpus.Export(nodes) {
		if f.Path <= r.After {
			continue
		}
		if len(page.Files) == cmp.Or(r.Limit, exportPage) || size > exportBytes {
			page.Next = page.Files[len(page.Files)-1].Path
			break
		}
		size += len(f.Content)
		page.Files = append(page.Files, schemas.RuleFile{Path: f.Path, Content: string(f.Content)})
	}
	return page, nil
}

// nodes are the nodes in force with what is known of their files, or the one of
// an id; own ones are those that no release brought.
func (b *Book) nodes(id string, own bool) (nodes []corpus.Node, err error) {
	if id != "" {
		state, err := b.rule(id)
		if err == nil && state.InForce() {
			nodes = append(nodes, stored(state))
		}
		return nodes, err
	}
	err = b.each(func(_ projections.Reader, state rule.Given) error {
		if state.InForce() && (!own || state.From == nil) {
			nodes = append(nodes, stored(state))
		}
		return nil
	})
	return nodes, err
}

// stored is a node with what is known of its file.
func stored(state rule.Given) corpus.Node {
	node := corpus.Node{Rule: state.Rule, Content: state.Content}
	if _, path, named := strings.Cut(state.Source, "/"); named {
		node.Path = path
	}
	return node
}
