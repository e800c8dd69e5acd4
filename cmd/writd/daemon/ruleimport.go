package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing/fstest"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/writd/heap"
	"github.com/writbus/writ/enforcement/check"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/rulebook/index"
	"github.com/writbus/writ/schemas"
)

// Sources of rules. Persisted; never change.
const (
	sourceEmbedded = "embedded" // shipped with the program
	sourceTerminal = "terminal" // added or edited by a person, one at a time
)

// defaultCorpus names a corpus that its import does not name.
const defaultCorpus = "rules"

// loadFiles reads rule files that came with a request.
func (d *Daemon) loadFiles(files []schemas.RuleFile) ([]corpus.File, []corpus.Problem) {
	return corpus.LoadAny(folderOf(files), d.nodeType)
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
func (d *Daemon) weigh(problems []corpus.Problem) (refused, warnings []string) {
	for _, p := range problems {
		if keepsOut(p) {
			refused = append(refused, p.String())
		} else {
			warnings = append(warnings, p.String())
		}
	}
	return refused, warnings
}

// ruleImport brings rule files in, all or none; with Partial, those that are
// sound.
func (d *Daemon) ruleImport(ctx context.Context, r schemas.RuleImportRequest) (schemas.RuleImportReply, error) {
	defer heap.Lean()()
	if err := d.runtime.Await(ctx, schemas.StreamRules, viewRules); err != nil {
		return schemas.RuleImportReply{}, err
	}
	files, problems := d.loadFiles(r.Files)
	problems = append(problems, badChecks(files)...)
	refused, warnings := d.weigh(problems)
	if len(refused) > 0 && !r.Partial {
		return schemas.RuleImportReply{Problems: refused, Warnings: warnings}, nil
	}
	if r.Partial {
		files = d.soundFiles(files, problems)
	}
	if len(files) >= index.PackFrom {
		defer d.restSoon()
	}
	if err := d.fitsTheBand(files); err != nil {
		return schemas.RuleImportReply{Problems: append(refused, err.Error()), Warnings: warnings}, nil
	}
	name := r.Corpus
	if name == "" {
		name = defaultCorpus
	}
	report, err := d.importFiles(ctx, files, importing{source: func(f corpus.File) string { return name + "/" + f.Path }, dryRun: r.DryRun})
	report.Warnings, report.Skipped = warnings, refused
	if err != nil || !r.Prune {
		return report, err
	}
	report.Retired, err = d.prune(ctx, name+"/", files, problems, r.DryRun)
	return report, err
}

// soundFiles leaves out the files whose edges lead nowhere, and then those
// that only led to them.
func (d *Daemon) soundFiles(files []corpus.File, problems []corpus.Problem) []corpus.File {
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
				if _, stored := d.nodeType(e.Target); !out[f.Path] && !inside[e.Target] && !stored {
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
func (d *Daemon) prune(ctx context.Context, source string, files []corpus.File, problems []corpus.Problem, dryRun bool) ([]string, error) {
	present := map[string]bool{}
	for _, f := range files {
		present[f.Rule.ID] = true
	}
	for _, p := range problems {
		present[p.ID] = true
	}
	var gone []string
	err := d.runtime.Read(viewRules, func(reader projections.Reader) error {
		for id, err := range d.views.rules.From(reader, source) {
			if err != nil {
				return err
			}
			if present[id] {
				continue
			}
			state, _, err := d.views.rules.Rule(reader, id)
			if err != nil {
				return err
			}
			if state.Status == projections.RuleActive {
				gone = append(gone, id)
			}
		}
		slices.Sort(gone)
		return nil
	})
	if err != nil || dryRun {
		return gone, err
	}
	for i, id := range gone {
		_, err := d.changeRule(ctx, id, schemas.Writ("pruning"), func(projections.RuleState) (schemas.Payload, error) {
			return schemas.RuleRetired{Reason: "its file is gone from " + strings.TrimSuffix(source, "/")}, nil
		})
		if err != nil {
			return gone[:i], err
		}
	}
	return gone, nil
}

// shipped are the rules of this build. Reading them takes a tenth of a second,
// which a start spends while the log is opened.
var shipped shippedRules

type shippedRules struct {
	mu   sync.Mutex
	read []corpus.File // nil until they are asked for
}

// files reads the rules unless somebody did; nobody changes what they get.
func (s *shippedRules) files() ([]corpus.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read != nil {
		return s.read, nil
	}
	files, err := corpus.Embedded()
	s.read = files
	return files, err
}

// forget gives back what was read.
func (s *shippedRules) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = nil
}

// importEmbedded brings in the rules that this build ships, where they are new
// or changed, and retires those that it no longer ships. Rules that a person
// edited or retired stay as they are.
func (d *Daemon) importEmbedded(ctx context.Context) error {
	if err := d.runtime.Await(ctx, schemas.StreamRules, viewRules); err != nil {
		return err
	}
	there, err := d.shippedThere()
	if err != nil {
		return fmt.Errorf("daemon: the shipped rules: %w", err)
	}
	if there {
		return d.runtime.Await(ctx, schemas.StreamRules, viewRetrieval)
	}
	var files []corpus.File // none: those of an earlier start are retired below
	if d.settings.ShippedRules {
		if files, err = shipped.files(); err != nil {
			return fmt.Errorf("daemon: the shipped rules: %w", err)
		}
	}
	report, err := d.importFiles(ctx, files, importing{source: func(corpus.File) string { return sourceEmbedded }, shipped: true})
	if err == nil {
		report.Retired, err = d.pruneEmbedded(ctx, files)
	}
	if err != nil {
		return fmt.Errorf("daemon: import the shipped rules: %w", err)
	}
	if len(report.Imported) > 0 || len(report.Retired) > 0 {
		d.logger.Info("imported the shipped rules", "rules", len(report.Imported), "retired", len(report.Retired))
	}
	return nil
}

// shippedThere says whether bringing the shipped rules in would change nothing.
// It reads no rule that came from elsewhere, and parses no file.
func (d *Daemon) shippedThere() (there bool, err error) {
	var hashes []string
	if d.settings.ShippedRules {
		if hashes, err = corpus.EmbeddedHashes(); err != nil {
			return false, err
		}
	}
	var states []projections.RuleState
	err = d.runtime.Read(viewRules, func(reader projections.Reader) error {
		for id, err := range d.views.rules.From(reader, sourceEmbedded) {
			if err != nil {
				return err
			}
			state, _, err := d.views.rules.Rule(reader, id)
			if err != nil {
				return err
			}
			states = append(states, state)
		}
		return nil
	})
	return err == nil && allThere(hashes, states), err
}

// allThere says whether every one of the files is the last that was imported of
// its rule, and no other shipped rule is in force.
func allThere(hashes []string, states []projections.RuleState) bool {
	found := make(map[string]bool, len(hashes))
	for _, hash := range hashes {
		found[hash] = false
	}
	for _, state := range states {
		if state.Source != sourceEmbedded {
			continue // its source only begins alike
		}
		if _, ships := found[state.Hash]; ships {
			found[state.Hash] = true
		} else if state.Status == projections.RuleActive {
			return false
		}
	}
	for _, is := range found {
		if !is {
			return false
		}
	}
	return true
}

func (d *Daemon) pruneEmbedded(ctx context.Context, files []corpus.File) ([]string, error) {
	return d.prune(ctx, sourceEmbedded, files, nil, false)
}

// importing is how files enter.
type importing struct {
	source  func(corpus.File) string
	shipped bool // leave alone what somebody else touched
	dryRun  bool
}

// importFiles appends those rules that differ from what the log has, and
// returns once queries see them.
func (d *Daemon) importFiles(ctx context.Context, files []corpus.File, how importing) (schemas.RuleImportReply, error) {
	var report schemas.RuleImportReply
	var last schemas.Position
	for _, f := range files {
		state, err := d.ruleState(f.Rule.ID)
		if err != nil {
			return report, err
		}
		if state.Status == projections.RuleActive && state.Hash == f.Hash || how.shipped && touched(state) {
			report.Unchanged++
			continue
		}
		report.Imported = append(report.Imported, f.Rule.ID)
		if how.dryRun {
			continue
		}
		rule := corpus.Authored(f.Rule)
		imported := schemas.RuleImported{Rule: rule, Source: how.source(f), Hash: f.Hash}
		if f.Content != nil {
			imported.Content = corpus.Keep(rule, f.Content)
		}
		position, err := bus.Record(ctx, d.log, schemas.Event{Actor: schemas.Writ("import"), Aggregate: schemas.RuleAggregate(f.Rule.ID), Data: imported})
		if err != nil {
			return report, err
		}
		last = position
	}
	if last.Seq == 0 {
		return report, d.runtime.Await(ctx, schemas.StreamRules, viewRetrieval)
	}
	return report, d.rulesShow(ctx, last)
}

// touched says that somebody besides Writ's own import changed a rule.
func touched(s projections.RuleState) bool {
	return s.Status != "" && (s.Source != sourceEmbedded || s.Status != projections.RuleActive || s.Edited)
}

func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// nodeType tells the type of a node in the corpus, to which an edge may point.
func (d *Daemon) nodeType(id string) (schemas.NodeType, bool) {
	state, err := d.ruleState(id)
	return state.Rule.NodeType(), err == nil && state.Status == projections.RuleActive
}
