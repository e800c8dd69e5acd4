package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/benchmark"
	"github.com/writbus/writ/retrieval/tune"
	"github.com/writbus/writ/schemas"
)

// tuneProfile fits a ranking profile to judged queries by cross-validation.
func tuneProfile(_ context.Context, args []string, out, errw io.Writer) error {
	flags := newFlags("tune", "Fit a ranking profile to judged queries, and say whether it beats the current one.",
		"writ model tune --truth queries.jsonl", errw)
	truthFile := flags.String("truth", "", "`files` of queries with the rules that answer them, JSON Lines, with commas between")
	giving := flags.Bool("giving", false, "fit the decision what is given instead, each group of queries held out in turn")
	without := flags.String("without", "", "`file` of ids of queries to leave out, one a line")
	dir := flags.String("corpus", "", "`folder` of rules (default: those shipped)")
	embedder := flags.String("embedder", "minilm", "minilm, static, none, the file of a trained table or the folder of a model")
	current := flags.String("profile", "", "profile to beat (default: the embedder's)")
	folds := flags.Int("folds", 0, "parts of the cross-validation (default 5)")
	seed := flags.Uint64("seed", 1, "of the intervals")
	asJSON := flags.Bool("json", false, "print JSON")
	if err := parse(flags, args); err != nil {
		return err
	}
	var truth []benchmark.Query
	for _, file := range strings.Split(*truthFile, ",") {
		more, err := truthOf(file)
		if err != nil {
			return err
		}
		truth = append(truth, more...)
	}
	truth, err := withoutThose(truth, *without)
	if err != nil {
		return err
	}
	rules, err := rulesOf(*dir)
	if err != nil {
		return err
	}
	if *giving {
		asHooksAsk(truth, rules)
	}
	e, err := embedderOf(*embedder)
	if err != nil {
		return err
	}
	config := tune.Config{
		Rules: rules, Truth: truth, Options: retrieval.Options{Embedder: e}, Current: *current, Folds: *folds, Seed: *seed,
	}
	var result interface{ Write(io.Writer) error }
	if *giving {
		result, err = tune.FitGiving(config, retrieval.DefaultDecision)
	} else {
		result, err = tune.Fit(config)
	}
	if err != nil {
		return err
	}
	if *asJSON {
		return json.NewEncoder(out).Encode(result)
	}
	return result.Write(out)
}

// withoutThose drops the queries whose ids a file lists.
func withoutThose(truth []benchmark.Query, path string) ([]benchmark.Query, error) {
	if path == "" {
		return truth, nil
	}
	listed, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	ids := strings.Fields(string(listed))
	return slices.DeleteFunc(truth, func(q benchmark.Query) bool { return slices.Contains(ids, q.ID) }), nil
}

// plainWeight is that of queries without a group, which are asked of no project.
const plainWeight = 0.5

// asHooksAsk completes queries as the hooks ask them: in a project, for the
// domains that are its own.
func asHooksAsk(truth []benchmark.Query, rules []schemas.Rule) {
	domains := map[string]bool{}
	for _, r := range rules {
		domains[r.Domain] = true
	}
	all := slices.Sorted(maps.Keys(domains))
	for i := range truth {
		q := &truth[i]
		if q.Project && len(q.Domains) == 0 {
			q.Domains = project.Project{}.Domains(all, q.Languages, q.Query)
		}
		if q.Group == "" && q.Weight == 0 {
			q.Group, q.Weight = "plain", plainWeight
		}
	}
}

// truthOf reads a file of judged queries.
func truthOf(path string) ([]benchmark.Query, error) {
	if path == "" {
		return nil, fmt.Errorf("%w: --truth FILE is needed, JSON Lines such as {\"id\":\"q1\",\"query\":\"…\",\"relevant\":[\"GO-CTX-FIRST-001\"]}", errUsage)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	truth, err := benchmark.ReadTruth(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return truth, nil
}
