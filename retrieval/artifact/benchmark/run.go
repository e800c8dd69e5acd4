package benchmark

import (
	"fmt"
	"slices"

	"github.com/writbus/writ/retrieval/artifact/search"
	rules "github.com/writbus/writ/retrieval/benchmark"
)

// Config is what to measure.
type Config struct {
	Queries []Query
	Methods []search.Method // none: all
	// Build indexes a query's project, with words alone where the embedder is
	// nil.
	Build    func(project string, e search.Embedder) (*search.Index, error)
	Embedder search.Embedder // nil: words alone
	// Context gives what an agent is given of a project, which was built last, for a
	// task; nil measures no contexts. Agent and Budget say what it does.
	Context  func(project, task string) (Given, error)
	Agent    string
	Budget   int
	Weights  *search.Weights // nil: the shipped ones
	Rounds   int             // how often each query is asked for the latencies; 0 is 5
	Seed     uint64
	Clock    func() int64 // nanoseconds, monotonic
	Heap     func() int64 // bytes in use after a collection; nil: not measured
	Resident func() int64 // bytes of memory of the process; nil: not measured
}

// Report is what was measured.
type Report struct {
	Embedder string    `json:"embedder"` // "" for words alone
	Seed     uint64    `json:"seed"`
	Queries  int       `json:"queries"`
	Methods  []Quality `json:"methods"`
	// Differences are those of each method from the first, paired by query.
	Differences []Difference `json:"differences,omitempty"`
	Context     *Context     `json:"context,omitempty"`
	Projects    []Project    `json:"projects"`
	// Missing lists relevant paths that are not indexed; they count as misses.
	Missing []Missing `json:"missing,omitempty"`
	// Resident is the memory of the process at the end, bytes; 0 if not
	// measured.
	Resident int64    `json:"resident_bytes,omitempty"`
	Judged   []Judged `json:"judged"`
}

// Quality is how good and how fast a method is.
type Quality struct {
	Method   search.Method             `json:"method"`
	Measures map[string]rules.Interval `json:"measures"`
	// Calibration is the expected error of the scores of the best ten files of each
	// query, taken for the chances that these answer.
	Calibration float64   `json:"calibration_error"`
	Latency     []Latency `json:"latency"` // the whole first, then the stages
}

// Difference is what a method is better by than another.
type Difference struct {
	Method   search.Method             `json:"method"`
	Over     search.Method             `json:"over"`
	Measures map[string]rules.Interval `json:"measures"`
}

// Latency is of a stage, "total" for the whole, in microseconds.
type Latency struct {
	Stage string  `json:"stage"`
	P50   float64 `json:"p50_us"`
	P95   float64 `json:"p95_us"`
	P99   float64 `json:"p99_us"`
}

// Project is what indexing one project took.
type Project struct {
	Name      string  `json:"project"`
	Queries   int     `json:"queries"`
	Documents int     `json:"documents"`
	Chunks    int     `json:"chunks"`
	Text      int64   `json:"text_bytes"`
	Lexical   float64 `json:"lexical_ms"` // finding, reading, cutting and indexing the files, words alone
	Build     float64 `json:"build_ms"`   // the same with vectors
	Index     int64   `json:"index_bytes"`
	Heap      int64   `json:"heap_bytes,omitempty"` // that the index adds; 0 if not measured
	// NDCG10 is the mean of each method, in their order.
	NDCG10 []float64 `json:"ndcg@10"`
}

// Missing is a relevant path that is not indexed.
type Missing struct {
	ID   string `json:"id"`
	Path string `json:"path"`
}

// Judged is a query's answers.
type Judged struct {
	ID      string                    `json:"id"`
	Project string                    `json:"project,omitempty"`
	NDCG10  map[search.Method]float64 `json:"ndcg@10"`
	First   map[search.Method]string  `json:"first"` // the best path, "" for none
}

// judgedFiles is how many files of each query say how well scores are calibrated.
const judgedFiles = 10

// run is one measurement on its way.
type run struct {
	Config
	report   Report
	values   [][]Measures           // by method, by query
	chances  [][]rules.Chance       // by method, of the best files of all queries
	took     []map[string][]float64 // by method, by stage, microseconds
	clusters []string               // ids of the queries, in the order of values
	giving   giving
}

// Run measures.
func Run(c Config) (Report, error) {
	if len(c.Methods) == 0 {
		c.Methods = search.Methods()
	}
	if c.Rounds <= 0 {
		c.Rounds = 5
	}
	r := &run{Config: c, report: Report{Seed: c.Seed, Queries: len(c.Queries)}}
	if c.Embedder != nil {
		r.report.Embedder = c.Embedder.Name()
	}
	for range c.Methods {
		r.values, r.chances, r.took = append(r.values, nil), append(r.chances, nil), append(r.took, map[string][]float64{})
	}
	for _, name := range projects(c.Queries) {
		if err := r.project(name); err != nil {
			return Report{}, fmt.Errorf("benchmark: %s: %w", title(name), err)
		}
	}
	r.sum()
	r.report.Context = r.giving.sum(c)
	if c.Resident != nil {
		r.report.Resident = c.Resident()
	}
	return r.report, nil
}

// title is how a project is named to people.
func title(project string) string {
	if project == "" {
		return "this project"
	}
	return project
}

// projects lists those that are asked for, in their order.
func projects(queries []Query) (names []string) {
	for _, q := range queries {
		if !slices.Contains(names, q.Project) {
			names = append(names, q.Project)
		}
	}
	return names
}

func (r *run) project(name string) error {
	p := Project{Name: name}
	began := r.Clock()
	if _, err := r.Config.Build(name, nil); err != nil {
		return err
	}
	p.Lexical = r.millis(began)
	before := r.heap()
	began = r.Clock()
	ix, err := r.Config.Build(name, r.Embedder)
	if err != nil {
		return err
	}
	p.Build = r.millis(began)
	if r.Heap != nil {
		p.Heap = max(r.heap()-before, 0)
	}
	p.Documents, p.Chunks, p.Index, p.Text = ix.Len(), ix.Chunks(), int64(ix.Bytes()), ix.TextBytes()
	p.NDCG10 = make([]float64, len(r.Methods))
	for _, q := range r.Queries {
		if q.Project != name {
			continue
		}
		if err := r.give(q); err != nil {
			return err
		}
		if q.Kind == KindNothing {
			continue
		}
		p.Queries++
		if err := r.query(ix, q, p.NDCG10); err != nil {
			return err
		}
	}
	for i := range p.NDCG10 {
		p.NDCG10[i] /= float64(max(p.Queries, 1))
	}
	r.report.Projects = append(r.report.Projects, p)
	return nil
}

func (r *run) millis(began int64) float64 { return float64(r.Clock()-began) / 1e6 }

func (r *run) heap() int64 {
	if r.Heap == nil {
		return 0
	}
	return r.Heap()
}

// query asks by every method, and judges the ranking of the files.
func (r *run) query(ix *search.Index, q Query, sums []float64) error {
	for path := range q.Relevant {
		if !ix.Has(path) {
			r.report.Missing = append(r.report.Missing, Missing{ID: q.ID, Path: path})
		}
	}
	j := Judged{ID: q.ID, Project: q.Project, NDCG10: map[search.Method]float64{}, First: map[search.Method]string{}}
	for i, m := range r.Methods {
		a, err := ix.Search(search.Query{Text: q.Query, Method: m, Limit: Depth, PerFile: 1, Weights: r.Weights})
		if err != nil {
			return err
		}
		ranking := make([]string, len(a.Hits))
		for n, h := range a.Hits {
			if ranking[n] = h.Document.Path; n < judgedFiles {
				r.chances[i] = append(r.chances[i], rules.Chance{Said: h.Score, Right: q.Relevant[h.Document.Path] > 0})
			}
		}
		if len(ranking) > 0 {
			j.First[m] = ranking[0]
		}
		measures := Measure(ranking, q.Relevant)
		j.NDCG10[m] = measures[0]
		sums[i] += measures[0]
		r.values[i] = append(r.values[i], measures)
		for range r.Rounds {
			if err := r.time(ix, q, i); err != nil {
				return err
			}
		}
	}
	r.clusters = append(r.clusters, q.ID)
	r.report.Judged = append(r.report.Judged, j)
	return nil
}

// time asks as the daemon does.
func (r *run) time(ix *search.Index, q Query, method int) error {
	began := r.Clock()
	a, err := ix.Search(search.Query{Text: q.Query, Method: r.Methods[method], Weights: r.Weights, Clock: r.Clock})
	if err != nil {
		return err
	}
	took := r.took[method]
	took["total"] = append(took["total"], float64(r.Clock()-began)/1e3)
	for _, s := range a.Stages {
		took[s.Name] = append(took[s.Name], float64(s.Nanos)/1e3)
	}
	return nil
}
