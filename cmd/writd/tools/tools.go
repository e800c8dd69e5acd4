// Package tools holds the programs that work on rules and models without a
// daemon – benchmarks, tuning, models – and the MCP server. People and hosts
// run them through writ, which starts writd for them, since they need what only
// the daemon links.
//
// They change no log and no view. What they write, they write where they are
// told.
package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/observer/eventlog/table/parquet"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/embed"
	"github.com/writbus/writ/retrieval/embed/minilm"
	"github.com/writbus/writ/retrieval/embed/static"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/disk"
	"github.com/writbus/writ/schemas/excerpt"
)

// errUsage is returned for a command line that cannot be understood.
var errUsage = errors.New("usage")

// tool is one program: it takes its arguments and its world.
type tool func(ctx context.Context, args []string, out, errw io.Writer) error

var all = map[string]tool{
	"benchmark rules":     benchmarkRules,
	"benchmark retrieval": benchmarkRetrieval,
	"benchmark memory":    benchmarkMemory,
	"tune":                tuneProfile,
	"model train":         modelTrain,
	"model list":          modelList,
	"model pull":          modelPull,
	"model use":           modelUse,
	"mcp":                 serveMCP,
	"parquet":             toParquet,
	"move":                moveLog,
	"repair":              repair,
	"restore":             restore,
	"whatif":              whatIf,
	"top":                 watchLive,
}

// Names lists the first words of the tools.
func Names() []string {
	return []string{"benchmark", "mcp", "model", "move", "parquet", "repair", "restore", "top", "tune", "whatif"}
}

// Run runs the tool that args name. It returns the exit status: 0, 1 when it
// failed, 2 for a command line that cannot be understood.
func Run(ctx context.Context, args []string, out, errw io.Writer) int {
	words := 1
	run, known := all[args[0]]
	if !known {
		words = min(2, len(args))
		run, known = all[strings.Join(args[:words], " ")]
	}
	name := strings.Join(args[:words], " ")
	if !known {
		var names []string
		for n := range all {
			if strings.HasPrefix(n, args[0]+" ") || strings.HasPrefix(named(n), args[0]+" ") {
				names = append(names, "writ "+named(n))
			}
		}
		slices.Sort(names)
		_, _ = fmt.Fprintf(errw, "writ: %s: there is no such command. Use one of: %s\n", name, strings.Join(names, ", "))
		return 2
	}
	err := run(ctx, args[words:], out, errw)
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return 0
	}
	todo := ""
	if disk.Full(err) {
		todo = ". Make room on that disk, and try again"
	}
	_, _ = fmt.Fprintf(errw, "writ: %s: %s%s\n", named(name), excerpt.Plain(err.Error()), todo)
	if errors.Is(err, errUsage) {
		return 2
	}
	return 1
}

// typed are commands of writ that run a tool of another name.
var typed = map[string]string{
	"move": "log move", "parquet": "log export", "restore": "backup restore", "whatif": "log whatif", "tune": "model tune",
	"benchmark rules": "model benchmark rules", "benchmark retrieval": "model benchmark retrieval", "benchmark memory": "model benchmark memory",
}

// named is the name by which people call a tool.
func named(tool string) string { return cmp.Or(typed[tool], tool) }

// newFlags are the flags of a tool, with an example in its help.
func newFlags(name, does, example string, errw io.Writer) *pflag.FlagSet {
	flags := pflag.NewFlagSet(named(name), pflag.ContinueOnError)
	flags.SetOutput(errw)
	flags.Usage = func() {
		_, _ = fmt.Fprintf(errw, "%s\n\nUsage:\n  writ %s [flags]\n\nExamples:\n  %s\n\nFlags:\n%s", does, flags.Name(), example, flags.FlagUsagesWrapped(80))
	}
	return flags
}

func parse(flags *pflag.FlagSet, args []string) error {
	if err := understand(flags, args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%w: unexpected argument %q", errUsage, flags.Arg(0))
	}
	return nil
}

// understand reads the flags among the arguments.
func understand(flags *pflag.FlagSet, args []string) error {
	err := flags.Parse(args)
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return err
	}
	why, _, _ := strings.Cut(err.Error(), ": strconv.")
	return fmt.Errorf("%w: %s. `writ %s --help` shows the flags", errUsage, why, flags.Name())
}

// rulesOf reads the rules of a folder or a file, or those that are shipped.
func rulesOf(dir string) ([]schemas.Rule, error) {
	if dir == "" {
		return corpus.EmbeddedRules()
	}
	folder := os.DirFS(dir)
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		folder = corpus.Only(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	}
	rules, err := corpus.Rules(folder)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if len(rules) == 0 {
		return nil, fmt.Errorf("there is no rule in %s", dir)
	}
	return rules, nil
}

// embedderOf opens an embedder by name: "minilm", "static", "none", the file of a trained
// table, the folder of a model, or the name of a pulled one.
func embedderOf(name string) (retrieval.Embedder, error) {
	switch name {
	case "none":
		return nil, nil
	case "static":
		return static.Default()
	case minilm.Setting:
		return minilm.Default()
	}
	if dataDir, err := config.DataDir(); err == nil {
		if dir, pulled := (config.Layout{Root: dataDir}).Model(name); pulled {
			name = dir
		}
	}
	if _, err := os.Stat(name); err != nil {
		return nil, fmt.Errorf("embedder %q: neither minilm, static nor none, nor a table or model: %w", name, err)
	}
	return embed.Load(name, embed.Options{})
}

// numbers reads "1000,10000".
func numbers(list string) ([]int, error) {
	var out []int
	for _, field := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%w: --scale takes sizes such as 1000,10000, not %q", errUsage, list)
		}
		out = append(out, n)
	}
	return out, nil
}

// heap is what is in use, bytes, after its garbage was collected.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what pools keep outlives one collection
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// since is a clock in nanoseconds.
func since(epoch time.Time) func() int64 { return func() int64 { return int64(time.Since(epoch)) } }

// toParquet makes a file of Parquet on standard output of rows on standard input.
func toParquet(_ context.Context, _ []string, out, _ io.Writer) error {
	return parquet.Convert(out, os.Stdin)
}
