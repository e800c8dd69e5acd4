package rulebook

import (
	"context"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/writbus/writ/enforcement/check"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/retrieval/rulebook/index"
	"github.com/writbus/writ/schemas"
)

// defaultCorpus names a corpus that its import does not name.
const defaultCorpus = "rules"

// load reads rule files that came with a request.
func (s *store) load(files []schemas.RuleFile) ([]corpus.File, []corpus.Problem) {
	return corpus.LoadAny(folderOf(files), s.nodeType)
}

// nodeType tells the type of a node in the corpus, to which an edge may point.
func (s *store) nodeType(id string) (schemas.NodeType, bool) {
	state, err := s.rule(id)
	return state.Rule.NodeType(), err == nil && state.Status == rule.Active
}

func folderOf(files []schemas.RuleFile) fstest.MapFS {
	folder := fstest.MapFS{}
	for _, f := range files {
		folder[f.Path] = &fstest.MapFile{Data: []byte(f.Content)}
	}
	return folder
}

// keepsOut says whether a problem refuses its file.
func keepsOut(p corpus.Problem) bool {
	switch p.Kind {
	case corpus.KindDowngraded, corpus.KindSkipped, corpus.KindFilled:
		return false
	default:
		return true
	}
}

// badChecks are the problems of mechanical checks that do not compile.
func badChecks(files []corpus.File) []corpus.Problem {
	var all []corpus.Problem
	for _, f := range files {
		_, problems := check.Compile([]schemas.Rule{f.Rule})
		for _, p := range problems {
			all = append(all, corpus.Problem{Path: f.Path, Line: f.Line, Kind: corpus.KindInvalid, ID: p.Rule, Reason: p.Error()})
		}
	}
	return all
}

// weigh tells the problems that keep files out from those a person is told.
func weigh(problems []corpus.Problem) (refused, warnings []string) {
	for _, p := range problems {
		if keepsOut(p) {
			refused = append(refused, p.String())
		} else {
			warnings = append(warnings, p.String())
		}
	}
	return refused, warnings
}

// Import brings rule files in, all or none; with Partial, those that are sound.
func (b *Book) Import(ctx context.Context, r schemas.RuleImportRequest) (schemas.RuleImportReply, error) {
	defer b.o.Lean()()
	if err := b.await(ctx); err != nil {
		return schemas.RuleImportReply{}, err
	}
	files, problems := b.load(r.Files)
	problems = append(problems, badChecks(files)...)
	refused, warnings := weigh(problems)
	if len(refused) > 0 && !r.Partial {
		return schemas.RuleImportReply{Problems: refused, Warnings: warnings}, nil
	}
	if r.Partial {
		files = b.sound(files, problems)
	}
	if len(files) >= index.PackFrom {
		defer b.o.Rest()
	}
	if why := b.unfit(rulesOf(files)...); why != "" {
		return schemas.RuleImportReply{Problems: append(refused, why), Warnings: warnings}, nil
	}
	name := r.Corpus
	if name == "" {
		name = defaultCorpus
	}
	report, err := b.bring(ctx, files, func(f corpus.File) string { return name + "/" + f.Path }, r.DryRun)
	report.Warnings, report.Skipped = warnings, refused
	if err != nil || !r.Prune {
		return report, err
	}
	report.Retired, err = b.prune(ctx, name+"/", files, problems, r.DryRun)
	return report, err
}

// sound leaves out the files whose edges lead nowhere, and then those that only
// led to them.
func (s *store) sound(files []corpus.File, problems []corpus.Problem) []corpus.File {
	out := map[string]bool{}
	for _, p := range problems {
		if keepsOut(p) {
			out[p.Path] = true
		}
	}
	for changed := true; changed; {
		changed = false
		inside := map[string]bool{}
		for _, f := range files {
			if !out[f.Path] {
				inside[f.Rule.ID] = true
			}
		}
		for _, f := range files {
			for _, e := range f.Rule.Edges {
				if _, stored := s.nodeType(e.Target); !out[f.Path] && !inside[e.Target] && !stored {
					out[f.Path], changed = true, true
				}
			}
		}
	}
	var sound []corpus.File
	for _, f := range files {
		if !out[f.Path] {
			sound = append(sound, f)
		}
	}
	return sound
}

// prune retires what an earlier import of the same corpus brought and this one
// has no file for. A file with a problem is still a file.
func (s *store) prune(ctx context.Context, source string, files []corpus.File, problems []corpus.Problem, dryRun bool) ([]string, error) {
	present := map[string]bool{}
	for _, f := range files {
		present[f.Rule.ID] = true
	}
	for _, p := range problems {
		present[p.ID] = true
	}
	var gone []string
	err := s.from(source, func(id string, state rule.State) {
		if !present[id] && state.Status == rule.Active {
			gone = append(gone, id)
		}
	})
	slices.Sort(gone)
	if err != nil || dryRun {
		return gone, err
	}
	for i, id := range gone {
		c := rule.Prune{Reason: "its file is gone from " + strings.TrimSuffix(source, "/")}
		if _, _, err := s.change(ctx, id, schemas.Writ("pruning"), plain(c)); err != nil {
			return gone[:i], err
		}
	}
	return gone, nil
}

// bring records those rules that differ from what the log has, and returns once
// queries see them.
func (s *store) bring(ctx context.Context, files []corpus.File, source func(corpus.File) string, dryRun bool) (schemas.RuleImportReply, error) {
	var report schemas.RuleImportReply
	var last schemas.Position
	for _, f := range files {
		state, err := s.rule(f.Rule.ID)
		if err != nil {
			return report, err
		}
		c := rule.Import{Rule: corpus.Authored(f.Rule), Source: source(f), Hash: f.Hash}
		if f.Content != nil {
			c.Content = corpus.Keep(c.Rule, f.Content)
		}
		d, err := rule.Decide(state, c)
		if err != nil {
			return report, err
		}
		if len(d.Record) == 0 {
			report.Unchanged++
			continue
		}
		report.Imported = append(report.Imported, f.Rule.ID)
		if dryRun {
			continue
		}
		if last, err = s.record(ctx, f.Rule.ID, schemas.Writ("import"), d.Record[0]); err != nil {
			return report, err
		}
	}
	if last.Seq == 0 {
		return report, s.runtime.Await(ctx, schemas.StreamRules, viewRetrieval)
	}
	return report, s.visible(ctx, last)
}
