package rulebook

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/writbus/writ/enforcement/check"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/curation"
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

// keepsOut says whether a problem of a kind refuses its node.
func keepsOut(kind corpus.Kind) bool {
	switch kind {
	case corpus.KindDowngraded, corpus.KindSkipped, corpus.KindFilled, corpus.KindNoted, corpus.KindDropped:
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

// toldPlaces are how many places of one reason a reply names, and allPlaces how
// many where somebody asks for all: a message has at most 1 MiB.
const toldPlaces, allPlaces = 3, 5_000

// weigh tells the problems that keep nodes out from those a person is told, a
// line for each reason.
func weigh(problems []corpus.Problem, places int) (refused, warnings []string) {
	for _, g := range corpus.Groups(problems) {
		if keepsOut(g.Kind) {
			refused = append(refused, g.Line(places))
		} else {
			warnings = append(warnings, g.Line(places))
		}
	}
	return refused, warnings
}

// Import brings rule files in, all or none; with Partial, the nodes that are
// sound.
func (b *Book) Import(ctx context.Context, r schemas.RuleImportRequest) (schemas.RuleImportReply, error) {
	defer b.o.Lean()()
	if err := b.awaitOutcomes(ctx); err != nil {
		return schemas.RuleImportReply{}, err
	}
	files, problems := b.load(r.Files)
	problems = append(problems, badChecks(files)...)
	if r.Partial {
		files, problems = b.sound(files, problems)
	}
	places := toldPlaces
	if r.All {
		places = allPlaces
	}
	refused, warnings := weigh(problems, places)
	if len(refused) > 0 && !r.Partial {
		return schemas.RuleImportReply{Problems: refused, Warnings: warnings}, nil
	}
	if len(files) >= index.PackFrom {
		defer b.o.Rest()
	}
	name := cmp.Or(r.Corpus, defaultCorpus)
	band := b.bandWith(rulesOf(files))
	seen := map[string]int{}
	for _, f := range r.Files {
		seen[f.Path] = f.Seen
	}
	source := func(f corpus.File) (string, int) { return name + "/" + f.Path, seen[f.Path] }
	report, err := b.bring(ctx, files, source, r.DryRun)
	report.Warnings, report.Skipped, report.Band = warnings, append(refused, report.Skipped...), band
	for _, f := range files {
		if curation.Lacking(f.Rule) {
			report.Undescribed++
		}
	}
	if err != nil || !r.Prune {
		return report, err
	}
	report.Retired, err = b.prune(ctx, name+"/", files, problems, r.DryRun)
	return report, err
}

// sound leaves out the nodes that something keeps out, and of the others the
// edges that then lead nowhere. What of the problems is left is told: an edge
// that is left out refuses no node.
func (s *store) sound(files []corpus.File, problems []corpus.Problem) ([]corpus.File, []corpus.Problem) {
	type node struct{ path, id string }
	out := map[node]bool{}
	var told []corpus.Problem
	for _, p := range problems {
		switch {
		case p.Kind == corpus.KindUnknownTarget:
			continue // again below
		case p.Kind == corpus.KindWrongEndpoint:
			p.Kind, p.Reason = corpus.KindSkipped, p.Reason+": the edge is left out"
		case keepsOut(p.Kind):
			n := node{p.Path, p.ID}
			out[n] = out[n] || p.Kind != corpus.KindDuplicate // of which the first came in
		}
		told = append(told, p)
	}
	var sound []corpus.File
	inside := map[string]schemas.NodeType{}
	for _, f := range files {
		if !out[node{f.Path, f.Rule.ID}] {
			sound = append(sound, f)
			inside[f.Rule.ID] = f.Rule.NodeType()
		}
	}
	for i := range sound {
		r := &sound[i].Rule
		r.Edges = slices.DeleteFunc(slices.Clone(r.Edges), func(e schemas.Edge) bool {
			to, here := inside[e.Target]
			if !here {
				to, here = s.nodeType(e.Target)
			}
			if !here {
				told = append(told, corpus.Problem{
					Path: sound[i].Path, Line: sound[i].Line, Kind: corpus.KindSkipped, ID: r.ID, Target: e.Target,
					Reason: "edge " + e.Type + " points to a node that is not there: the edge is left out",
				})
			}
			return !here || !corpus.EdgeAllowed(e.Type, r.Type, to)
		})
	}
	return sound, told
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
	n, err := s.changeAll(ctx, schemas.Writ("pruning"), gone, func(string) rule.Command {
		return rule.Prune{Reason: "its file is gone from " + strings.TrimSuffix(source, "/")}
	})
	return gone[:n], err
}

// uncounted are the outcomes that came with a rule beyond those of earlier
// imports.
func (s *store) uncounted(f corpus.File) (more []schemas.OutcomeRecorded, err error) {
	if f.Outcomes == (corpus.Outcomes{}) {
		return nil, nil
	}
	had, err := s.outcomes(f.Rule.ID)
	for _, o := range []schemas.OutcomeRecorded{
		{Positive: true, Count: f.Outcomes.Positive - had.ImportedPositive},
		{Positive: false, Count: f.Outcomes.Negative - had.ImportedNegative},
	} {
		if o.Count > 0 {
			o.Evidence, o.Detail = projections.EvidenceImported, "counted by the corpus that was imported"
			more = append(more, o)
		}
	}
	return more, err
}

// bring records those rules that differ from what the log has, and returns once
// queries see them. source says where a file is from, and the revision of its node
// that somebody decided on, 0 for any.
func (s *store) bring(ctx context.Context, files []corpus.File, source func(corpus.File) (string, int), dryRun bool) (schemas.RuleImportReply, error) {
	var report schemas.RuleImportReply
	var last schemas.Position
	for _, f := range files {
		state, err := s.whole(f.Rule.ID)
		if err != nil {
			return report, err
		}
		from, seen := source(f)
		c := rule.Import{Rule: corpus.Authored(f.Rule), Source: from, Hash: f.Hash, Compared: seen > 0}
		if f.Content != nil {
			c.Content = corpus.Keep(c.Rule, f.Content)
		}
		asSeen := rule.AsSeen{Revision: seen, Command: c}
		d, err := rule.Decide(state, asSeen)
		if err == nil && seen > 0 && len(d.Record) > 0 && !dryRun {
			_, _, err = s.change(ctx, f.Rule.ID, schemas.Writ("import"), plain(asSeen))
		}
		if fault := (schemas.Fault{}); errors.As(err, &fault) && fault.Code() == schemas.CodeConflict {
			report.Skipped = append(report.Skipped, fault.Error())
			continue
		} else if err != nil {
			return report, err
		}
		if len(d.Record) == 0 {
			report.Unchanged++
		} else {
			report.Imported = append(report.Imported, f.Rule.ID)
		}
		if seen > 0 {
			d.Record = nil // it was recorded above
		}
		counted, err := s.uncounted(f)
		if err != nil {
			return report, err
		}
		for _, o := range counted {
			report.Outcomes += o.Count
			d.Record = append(d.Record, o)
		}
		if dryRun {
			continue
		}
		for _, p := range d.Record {
			if last, err = s.record(ctx, f.Rule.ID, schemas.Writ("import"), p); err != nil {
				return report, err
			}
		}
	}
	if last.Seq == 0 {
		return report, s.runtime.AwaitBuilt(ctx, schemas.StreamRules, viewRetrieval)
	}
	return report, s.visible(ctx, last)
}
