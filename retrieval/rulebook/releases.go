package rulebook

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/retrieval/rulerelease"
	"github.com/writbus/writ/schemas"
)

// takingReleases is Writ, which carries out what a release says.
var takingReleases = schemas.Writ("release")

// Releases are those that this log follows. One is taken at a time.
type Releases struct {
	book *Book
	mu   sync.Mutex
	kept bus.Kept[rulerelease.State]
	now  atomic.Pointer[rulerelease.State] // as it was read last
}

func newReleases(b *Book, o Options) *Releases {
	return &Releases{book: b, kept: bus.Kept[rulerelease.State]{Conn: o.Conn, Log: o.Log, Aggregate: schemas.Releases(), Evolve: rulerelease.Evolve}}
}

// refresh reads what the log says. The caller holds the lock.
func (f *Releases) refresh(ctx context.Context) (rulerelease.State, error) {
	state, _, err := f.kept.Refresh(ctx)
	if err == nil {
		f.now.Store(&state)
	}
	return state, err
}

// State is what is followed. What the log has of it is read once, before the first
// decision; what cannot be read is nothing.
func (f *Releases) State(ctx context.Context) rulerelease.State {
	if state := f.now.Load(); state != nil {
		return *state
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	state, err := f.refresh(ctx)
	if err != nil {
		f.book.o.Logger.Warn("read which releases are followed", "error", err)
	}
	return state
}

// Releases are those that this log follows.
func (b *Book) Releases() *Releases { return b.releases }

// Act does an act on the releases that are followed. Whoever carries releases here
// hands each over as ReleaseTake.
func (f *Releases) Act(ctx context.Context, r schemas.ReleaseRequest) (reply schemas.ReleaseReply, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.book.o.Followed()
	state, err := f.refresh(ctx)
	if err != nil {
		return reply, err
	}
	switch r.Act {
	case schemas.ReleaseList:
	case schemas.ReleaseLeave:
		reply, err = f.leave(ctx, state, r.Name)
	case schemas.ReleaseFollow, schemas.ReleaseTake:
		reply, err = f.take(ctx, state, r)
	case schemas.ReleaseDraft:
		return f.draft(r)
	default:
		err = schemas.Faultf(schemas.CodeBadRequest, "there is no act %.40q on releases", r.Act)
	}
	if err != nil {
		return reply, err
	}
	state, err = f.refresh(ctx)
	reply.Followed = state.Followed()
	return reply, err
}

// take brings the rules of a release in. The release is in the log before its rules:
// where the daemon ends in between, taking it again brings the rest.
func (f *Releases) take(ctx context.Context, state rulerelease.State, r schemas.ReleaseRequest) (reply schemas.ReleaseReply, err error) {
	var taken rulerelease.Release
	var sum, key string
	actor, record := takingReleases, []schemas.Payload{}
	if r.Act == schemas.ReleaseFollow {
		if taken, sum, key, err = state.Pin(r.Envelope, r.Key, f.book.now()); err == nil {
			actor = atTerminal
			record = append(record, schemas.ReleaseFollowed{Name: taken.Name, Layer: taken.Layer, Key: key, Place: r.Place})
		}
	} else {
		taken, sum, err = state.Take(r.Envelope, f.book.now())
	}
	if err != nil {
		return reply, err
	}
	if err := f.book.awaitOutcomes(ctx); err != nil {
		return reply, err
	}
	files, err := f.read(taken)
	if err != nil {
		return reply, err
	}
	if state[taken.Name].Left || state[taken.Name].Number < taken.Number {
		record = append(record, taken.Taken(sum))
	}
	for _, p := range record {
		if _, err := f.kept.Decide(ctx, actor, func(rulerelease.State) ([]schemas.Payload, error) { return []schemas.Payload{p}, nil }); err != nil {
			return reply, err
		}
	}
	for _, file := range files {
		c := rule.Take{Rule: corpus.Authored(file.Rule), Hash: file.Hash, Release: taken.Release}
		c.Content = corpus.Keep(c.Rule, file.Content)
		if err := f.released(ctx, file.Rule.ID, c, &reply.Imported); err != nil {
			return reply, err
		}
	}
	// What it has no more is out, whatever was missed of the releases between.
	reasons := map[string]string{}
	for _, t := range taken.Tombstones {
		reasons[t.ID] = t.Reason
	}
	if err := f.drop(ctx, taken.Release, func(id string) (reason string, out bool) {
		return cmp.Or(reasons[id], "it is not in release "+taken.Text()), !slices.ContainsFunc(taken.Rules, func(r rulerelease.Rule) bool { return r.ID == id })
	}, &reply.Retired); err != nil {
		return reply, err
	}
	reply.Behind = f.book.bandWith(nil).Left
	return reply, nil
}

// released carries out one command, and notes the rule where that changed something.
func (f *Releases) released(ctx context.Context, id string, c rule.Command, changed *[]string) error {
	_, d, err := f.book.change(ctx, id, takingReleases, plain(c))
	if err == nil && len(d.Record) > 0 {
		*changed = append(*changed, id)
	}
	return err
}

// read reads the rules of a release. One that does not hold refuses all of
// them: what is left out nobody would miss.
func (f *Releases) read(r rulerelease.Release) ([]corpus.File, error) {
	var all []schemas.RuleFile
	named := map[string]bool{}
	for _, one := range r.Rules {
		all = append(all, schemas.RuleFile{Path: one.Path, Content: one.Content})
		named[one.ID] = true
	}
	files, refused := f.wholly(all)
	for _, file := range files {
		if !named[file.Rule.ID] {
			refused = append(refused, fmt.Sprintf("%s: holds the rule %s, which the release does not name", file.Path, file.Rule.ID))
		}
		delete(named, file.Rule.ID)
	}
	for id := range named {
		refused = append(refused, id+" has no file in it")
	}
	if len(refused) > 0 {
		slices.Sort(refused)
		return nil, schemas.Faultf(schemas.CodeRefused, "release %d of %s cannot be taken, and nothing of it is: its maintainers have to make another. %s", r.Number, r.Name, strings.Join(refused, "; "))
	}
	return files, nil
}

// wholly reads rule files of which none may be left out. Edges that lead nowhere here
// are: they may lead to rules that are not shipped to everybody.
func (f *Releases) wholly(all []schemas.RuleFile) (files []corpus.File, refused []string) {
	files, problems := f.book.load(all)
	problems = slices.DeleteFunc(append(problems, badChecks(files)...), func(p corpus.Problem) bool {
		return p.Kind == corpus.KindUnknownTarget || p.Kind == corpus.KindWrongEndpoint
	})
	refused, _ = weigh(problems, allPlaces)
	files, _ = f.book.sound(files, nil)
	for _, file := range files {
		if file.Rule.Proposed() {
			refused = append(refused, file.Path+": "+file.Rule.ID+" is a proposal: promote it first, or take its line authority out")
		}
	}
	return files, refused
}

// leave follows a name no more, and takes out what came of it.
func (f *Releases) leave(ctx context.Context, state rulerelease.State, name string) (reply schemas.ReleaseReply, err error) {
	// Whoever left before, and was stopped in the middle, leaves again.
	of := state[name]
	if _, err := state.Find(name); err != nil && !of.Left {
		return reply, err
	}
	if err := f.book.await(ctx); err != nil {
		return reply, err
	}
	if !of.Left {
		if _, err := f.kept.Decide(ctx, atTerminal, func(rulerelease.State) ([]schemas.Payload, error) {
			return []schemas.Payload{schemas.ReleaseLeft{Name: name}}, nil
		}); err != nil {
			return reply, err
		}
	}
	return reply, f.drop(ctx, of.Release, func(string) (string, bool) {
		return "the releases of " + name + " are followed no more", true
	}, &reply.Retired)
}

// drop takes out those rules of a name's releases that why says are out.
func (f *Releases) drop(ctx context.Context, r schemas.Release, why func(id string) (reason string, out bool), dropped *[]string) error {
	reasons := map[string]string{}
	err := f.book.runtime.Read(f.book.rules.Name(), func(reader projections.Reader) error {
		for state, err := range f.book.rules.All(reader) {
			if err != nil {
				return err
			}
			reason, out := why(state.Rule.ID)
			if out && slices.ContainsFunc(state.Released, func(held rule.Released) bool { return held.Release.Name == r.Name }) {
				reasons[state.Rule.ID] = reason
			}
		}
		return nil
	})
	for _, id := range slices.Sorted(maps.Keys(reasons)) {
		if err == nil {
			err = f.released(ctx, id, rule.Drop{Release: r, Reason: reasons[id]}, dropped)
		}
	}
	return err
}

// draft is what a maintainer signs: the rules of files, in the order of their ids,
// after the release before.
func (f *Releases) draft(r schemas.ReleaseRequest) (reply schemas.ReleaseReply, err error) {
	files, refused := f.wholly(r.Files)
	if len(refused) > 0 {
		return reply, schemas.Faultf(schemas.CodeRefused, "nothing is released: %s", strings.Join(refused, "; "))
	}
	content := map[string]string{}
	for _, file := range r.Files {
		content[file.Path] = file.Content
	}
	made := rulerelease.Release{
		Release: schemas.Release{Name: r.Name, Layer: r.Layer, Number: r.Number}, Made: f.book.now().Truncate(time.Second), Key: r.Key, Rules: []rulerelease.Rule{}, Terms: r.Terms,
	}
	for _, file := range files {
		made.Rules = append(made.Rules, rulerelease.Rule{ID: file.Rule.ID, Path: file.Path, Content: content[file.Path]})
	}
	slices.SortFunc(made.Rules, func(a, b rulerelease.Rule) int { return strings.Compare(a.ID, b.ID) })
	reply.Draft, err = rulerelease.Draft(made, r.Envelope, r.Reason)
	if err != nil {
		return reply, schemas.Faultf(schemas.CodeRefused, "nothing is released: %v", err)
	}
	return reply, nil
}
