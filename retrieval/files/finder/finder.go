package finder

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/artifact/search"
	"github.com/writbus/writ/retrieval/artifact/strategy"
	"github.com/writbus/writ/retrieval/files"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/glob"
)

var (
	// ErrRequest is returned for a request that cannot be understood; its text
	// says what is wrong.
	ErrRequest = errors.New("finder")
	// ErrNoIndex is returned while a project has no index.
	ErrNoIndex = errors.New("finder: the project has no index yet")
)

// Finder answers for one project. It may be used from any number of goroutines.
type Finder struct {
	project  *files.Project
	cache    *search.Cache
	contents *files.Contents
	now      func() time.Time
	began    time.Time

	// Refresh, if not nil, has the index brought up to paths that were found to
	// differ from it, and says whether it was. It is set before the first search.
	Refresh func(paths []string) bool
}

// New returns the finder of a project.
func New(p *files.Project, now func() time.Time) *Finder {
	return &Finder{project: p, cache: search.NewCache(now), contents: files.NewContents(now), now: now, began: now()}
}

// clock is nanoseconds since the finder was made.
func (f *Finder) clock() int64 { return int64(f.now().Sub(f.began)) }

// Search finds chunks. The strategies are those of the project; a request
// without an agent has none. Errors wrap [ErrRequest] or [ErrNoIndex], or are
// the embedder's.
func (f *Finder) Search(r schemas.ArtifactSearchRequest, strategies strategy.Set) (schemas.ArtifactSearchReply, error) {
	reply, _, err := f.search(r, strategies)
	return reply, err
}

// search is Search, and the snapshot that it searched. Where files turn out to
// differ from the index, that is brought up to them and searched once more.
func (f *Finder) search(r schemas.ArtifactSearchRequest, strategies strategy.Set) (schemas.ArtifactSearchReply, *files.Snapshot, error) {
	reply, snapshot, moved, err := f.searchOnce(r, strategies)
	if err != nil || len(moved) == 0 || f.Refresh == nil || !f.Refresh(moved) {
		return reply, snapshot, err
	}
	reply, snapshot, _, err = f.searchOnce(r, strategies)
	return reply, snapshot, err
}

// searchOnce is search, and the files that differ from the index.
func (f *Finder) searchOnce(r schemas.ArtifactSearchRequest, strategies strategy.Set) (schemas.ArtifactSearchReply, *files.Snapshot, []string, error) {
	began := f.clock()
	reply := schemas.ArtifactSearchReply{
		Query: r.Query, Artifacts: []schemas.ArtifactFound{}, References: []string{}, Stages: []schemas.ArtifactStage{},
		Confidence: schemas.ArtifactConfidence{PerArtifact: []float64{}},
	}
	snapshot := f.project.Current()
	if snapshot == nil {
		return reply, nil, nil, ErrNoIndex
	}
	q, err := query(r, strategies)
	if err != nil {
		return reply, nil, nil, err
	}
	q.Clock = f.clock
	found, err := f.cache.Search(snapshot.Index, q)
	asksAll := len(r.Types)+len(r.Tags)+len(r.Phases)+len(r.Path) == 0
	if err == nil && asksAll && len(q.Filter.Types) > 0 && found.Sure < unsure {
		found, reply.AllTypes, err = f.ofAllTypes(snapshot, q, found)
	}
	if err != nil {
		return reply, nil, nil, understood(err)
	}
	reply.Problem = found.Problem
	reply.Method, reply.Embedder, reply.Phase = string(found.Method), found.Embedder, strings.Join(q.Filter.Phases, ",")
	if r.Agent != "" {
		reply.AgentType = strategy.Canonical(r.Agent)
	}
	for _, s := range found.Stages {
		reply.Stages = append(reply.Stages, schemas.ArtifactStage{Name: s.Name, Candidates: s.Candidates, LatencyMs: millis(s.Nanos)})
	}
	reading := f.clock()
	moved := f.read(&reply, found.Hits, snapshot)
	reply.Stages = append(reply.Stages, schemas.ArtifactStage{Name: "read", Candidates: len(reply.Artifacts), LatencyMs: millis(f.clock() - reading)})
	reply.Index = f.age(len(moved))
	reply.LatencyMs = millis(f.clock() - began)
	return reply, snapshot, moved, nil
}

// unsure is the chance that any file answers below which those of other types than
// a strategy names are looked at, and farBetter how many times the best sum one of
// them needs.
const (
	unsure    = 0.5
	farBetter = 2
)

// ofAllTypes is what is found where a strategy's types hold nothing that answers,
// as in a project without requirements and architecture, and others do.
func (f *Finder) ofAllTypes(snapshot *files.Snapshot, q search.Query, found search.Answer) (search.Answer, bool, error) {
	q.Filter.Types = nil
	all, err := f.cache.Search(snapshot.Index, q)
	if err != nil || len(all.Hits) == 0 || len(found.Hits) > 0 && all.Best < farBetter*found.Best {
		return found, false, err
	}
	return all, true, nil
}

func millis(nanos int64) float64 { return float64(nanos) / 1e6 }

// understood tells errors of the request from others.
func understood(err error) error {
	if errors.Is(err, search.ErrMethod) || errors.Is(err, glob.ErrGlob) || errors.Is(err, search.ErrNoEmbedder) {
		return bad("%v", err)
	}
	return err
}

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRequest, fmt.Sprintf(format, args...))
}

// query joins a request with its agent's strategy: what the request names wins.
func query(r schemas.ArtifactSearchRequest, strategies strategy.Set) (search.Query, error) {
	q := search.Query{Text: r.Query, Pool: r.Stage1TopK, Limit: r.Stage2TopK, Explain: r.Explain}
	var own strategy.Strategy
	if r.Agent != "" {
		own, _ = strategies.Of(r.Agent)
	}
	switch {
	case strings.TrimSpace(r.Query) == "":
		return q, bad("a search needs a text to look for")
	case r.Stage1TopK < 0 || r.Stage1TopK > strategy.MostTopK || r.Stage2TopK < 0 || r.Stage2TopK > strategy.MostTopK:
		return q, bad("stage1_topk and stage2_topk are 1 to %d", strategy.MostTopK)
	case r.MinScore != nil && !(*r.MinScore >= 0 && *r.MinScore <= 1):
		return q, bad("min_score is %v, must be 0 to 1", *r.MinScore)
	}
	method, err := search.ParseMethod(r.Method)
	if err != nil {
		return q, understood(err)
	}
	q.Method = method
	q.Limit = cmp.Or(r.Stage2TopK, own.TopK)
	q.MinShare = own.MinScore
	if r.MinScore != nil {
		q.MinScore, q.MinShare = *r.MinScore, 0
	}
	q.Filter = search.Filter{Types: own.Types, Tags: own.Tags, Untagged: true, Phases: own.Phases}
	if len(r.Types) > 0 {
		q.Filter.Types = nil
		for _, name := range r.Types {
			t := artifact.Type(strings.ToLower(name))
			if !t.Known() {
				return q, bad("there is no type %q; use %s", name, joined(artifact.Types()))
			}
			q.Filter.Types = append(q.Filter.Types, t)
		}
	}
	if len(r.Tags) > 0 {
		q.Filter.Tags, q.Filter.Untagged = r.Tags, false
	}
	if len(r.Phases) > 0 {
		q.Filter.Phases = r.Phases
	}
	if r.Path != "" {
		q.Filter.Paths = []string{r.Path}
	}
	return q, nil
}

func joined(types []artifact.Type) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}

// age says how old an answer may be; changed are files that were found to have
// changed on the way.
func (f *Finder) age(changed int) schemas.ArtifactIndexAge {
	age, differing := f.project.Age()
	changed = max(changed, differing)
	return schemas.ArtifactIndexAge{AgeSeconds: age.Seconds(), Stale: changed > 0, Changed: changed}
}

// read fills the reply with the hits and their text, and returns the files that
// differ from the index. A piece of one of these is cut anew from what the file
// holds; what is not in it any more is left out.
func (f *Finder) read(reply *schemas.ArtifactSearchReply, hits []search.Hit, snapshot *files.Snapshot) (moved []string) {
	texts, err := f.open()
	if err != nil {
		for _, h := range hits {
			moved = append(moved, h.Document.Path)
		}
		return moved
	}
	defer texts.close()
	for _, p := range texts.of(hits) {
		h := p.hit
		if p.text == "" {
			continue
		}
		reply.Artifacts = append(reply.Artifacts, artifactOf(h, p.text, snapshot))
		reply.Confidence.PerArtifact = append(reply.Confidence.PerArtifact, round(h.Score))
		if ref := reference(h.Document.Path); !slices.Contains(reply.References, ref) {
			reply.References = append(reply.References, ref)
		}
		reply.Confidence.Overall = max(reply.Confidence.Overall, round(h.Score))
	}
	return texts.moved
}

// open gives access to the project's files as they are now.
func (f *Finder) open() (*texts, error) {
	root, err := os.OpenRoot(f.project.Root())
	if err != nil {
		return nil, err
	}
	return &texts{root: root, contents: f.contents, buffer: buffers.Get().(*[]byte)}, nil
}
