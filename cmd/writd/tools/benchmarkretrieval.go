package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

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
	c := benchmark.Config{Rounds: *rounds, Seed: *seed, Clock: since(time.Now()), Heap: heap, Resident: files.Resident}
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
	places := &files.Sources{Project: *project, Folder: *sources}
	var built *files.Project
	c.Build = func(name string, e search.Embedder) (*search.Index, error) {
		root, err := places.Find(ctx, name)
		if err != nil {
			return nil, err
		}
		if _, err := fmt.Fprintf(errw, "indexing %s\n", root); err != nil {
			return nil, err
		}
		if built, err = files.Indexed(ctx, root, globsOf(*paths), e, time.Now); err != nil {
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
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	queries, err := benchmark.ReadQueries(bytes.NewReader(text))
	if err == nil && len(queries) == 0 {
		err = errors.New("it holds no query")
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return queries, err
}

func globsOf(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// given says whether a flag was.
func given(flags *pflag.FlagSet, name string) (found bool) {
	flags.Visit(func(f *pflag.Flag) { found = found || f.Name == name })
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
