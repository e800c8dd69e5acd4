package tools

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/retrieval/artifact/benchmark"
	"github.com/writbus/writ/retrieval/artifact/search"
	"github.com/writbus/writ/retrieval/artifact/strategy"
	"github.com/writbus/writ/retrieval/files"
	"github.com/writbus/writ/retrieval/files/finder"
	"github.com/writbus/writ/schemas"
)

// benchmarkRetrieval measures how well and how fast the files of projects are
// found.
func benchmarkRetrieval(ctx context.Context, args []string, out, errw io.Writer) error {
	flags := newFlags("benchmark retrieval", "Measure how well and how fast the files of projects are found.",
		"writ model benchmark retrieval --methods bm25,semantic,two-stage --queries queries.jsonl", errw)
	queries := flags.String("queries", "", "`file` of queries with the paths that answer them, JSON Lines: {\"id\",\"query\",\"relevant\":[\"path\"…]}, and \"project\":\"module@version\" for files of the Go module cache, or a folder in --sources; \"kind\":\"nothing\" without relevant paths for what nothing answers")
	sources := flags.String("sources", "", "`folder` of other projects that queries name")
	methods := flags.String("methods", "bm25,semantic,two-stage", "what to compare; differences are from the first")
	project := flags.String("project", ".", "`folder` of the queries that name no project")
	paths := flags.String("paths", "", "`globs` of the files to index, parted by commas; \"\" is what writ index build looks at by itself, \"**\" all there is")
	agent := flags.String("agent", strategy.Default, "whose strategy the contexts are made with")
	budget := flags.Int("context-tokens", 1500, "tokens that a context may take; 0 measures none")
	embedder := flags.String("embedder", "static", "static, minilm, none, the file of a trained table or a model")
	rounds := flags.Int("rounds", 5, "how often each query is asked for the latencies")
	seed := flags.Uint64("seed", 1, "of the intervals")
	asJSON := flags.Bool("json", false, "print JSON")
	if err := parse(flags, args); err != nil {
		return err
	}
	c := benchmark.Config{Rounds: *rounds, Seed: *seed, Clock: since(time.Now()), Heap: heap, Resident: resident}
	var err error
	if c.Methods, err = methodsOf(*methods); err != nil {
		return err
	}
	if c.Queries, err = queriesOf(*queries); err != nil {
		return err
	}
	e, err := embedderOf(*embedder)
	if err != nil {
		return err
	}
	if e != nil {
		c.Embedder = e
	} else if !given(flags, "methods") {
		c.Methods = slices.DeleteFunc(c.Methods, func(m search.Method) bool { return m == search.Semantic })
	}
	if *budget < 0 {
		return fmt.Errorf("%w: --context-tokens is %d, must not be negative", errUsage, *budget)
	}
	if *sources != "" {
		if *sources, err = filepath.Abs(*sources); err != nil {
			return err
		}
	}
	places := &modules{ctx: ctx, project: *project, sources: *sources}
	var built *files.Project
	c.Build = func(name string, e search.Embedder) (*search.Index, error) {
		root, err := places.folder(name)
		if err != nil {
			return nil, err
		}
		if _, err := fmt.Fprintf(errw, "indexing %s\n", root); err != nil {
			return nil, err
		}
		if built, err = indexed(ctx, root, globsOf(*paths), e); err != nil {
			return nil, err
		}
		return built.Current().Index, nil
	}
	if *budget > 0 {
		c.Agent, c.Budget = *agent, *budget
		c.Context = func(_, task string) (benchmark.Given, error) { return givenFor(built, task, *agent, *budget) }
	}
	report, err := benchmark.Run(c)
	if err != nil {
		return err
	}
	if *asJSON {
		return report.WriteJSON(out)
	}
	return report.WriteTable(out)
}

// methodsOf reads "bm25,two-stage".
func methodsOf(list string) (all []search.Method, err error) {
	for name := range strings.SplitSeq(list, ",") {
		m, err := search.ParseMethod(strings.TrimSpace(name))
		if err != nil || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("%w: --methods: %w", errUsage, search.UnknownMethod(name))
		}
		all = append(all, m)
	}
	return all, nil
}

func queriesOf(file string) ([]benchmark.Query, error) {
	if file == "" {
		return nil, fmt.Errorf("%w: --queries is missing: name a file of judged queries", errUsage)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	queries, err := benchmark.ReadQueries(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(queries) == 0 {
		return nil, fmt.Errorf("%s holds no query", file)
	}
	return queries, nil
}

func globsOf(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// given says whether a flag was.
func given(flags *flag.FlagSet, name string) (found bool) {
	flags.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// givenFor is what an agent is given of a project.
func givenFor(p *files.Project, task, agent string, budget int) (benchmark.Given, error) {
	reply, err := finder.New(p, time.Now).Context(schemas.ArtifactContextRequest{
		ArtifactSearchRequest: schemas.ArtifactSearchRequest{Query: task, Agent: agent}, MaxContextTokens: budget,
	}, strategy.BuiltIn(), nil)
	g := benchmark.Given{Tokens: reply.Tokens}
	for _, a := range reply.Artifacts {
		if !slices.Contains(g.Paths, a.Path) {
			g.Paths = append(g.Paths, a.Path)
		}
	}
	return g, err
}

// indexed indexes a folder as the daemon does, with nothing recorded.
func indexed(ctx context.Context, root string, globs []string, e search.Embedder) (*files.Project, error) {
	p, err := files.Open(files.Options{
		Root: root, Embedder: e, Now: time.Now, Workers: runtime.GOMAXPROCS(0),
		Record: func(context.Context, []schemas.Payload) error { return nil },
	})
	if err != nil {
		return nil, err
	}
	if _, err := p.Update(ctx, files.Update{Globs: &globs}); err != nil {
		return nil, err
	}
	return p, nil
}

// resident is the memory that the process has, bytes; 0 where that is not known.
func resident() int64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(raw), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// modules finds the folders of projects.
type modules struct {
	ctx                  context.Context
	project, sources     string
	cache, root, version string // of the Go toolchain
	asked                bool
	failed               error // of asking
}

// folder is where the files of a project are.
func (m *modules) folder(name string) (string, error) {
	if name == "" {
		return filepath.Abs(m.project)
	}
	if m.sources != "" {
		if dir := filepath.Join(m.sources, filepath.FromSlash(name)); filepath.IsLocal(filepath.FromSlash(name)) && isFolder(dir) {
			return filepath.EvalSymlinks(dir)
		}
	}
	if err := m.toolchain(); err != nil {
		return "", err
	}
	module, version, versioned := strings.Cut(name, "@")
	if !versioned {
		return "", fmt.Errorf("project %q has no version: write module@version, or std@%s", name, m.version)
	}
	if module == "std" {
		if version != m.version {
			return "", fmt.Errorf("the standard library here is that of %s, the queries are about %s: run with GOTOOLCHAIN=%s", m.version, version, version)
		}
		return filepath.Join(m.root, "src"), nil
	}
	dir := filepath.Join(m.cache, filepath.FromSlash(escaped(module)+"@"+escaped(version)))
	if !isFolder(dir) {
		return "", fmt.Errorf("%s is not in the module cache: run `go mod download %s`, or name its sources' folder with --sources", name, name)
	}
	return dir, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
