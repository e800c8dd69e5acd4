package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writd/daemon"
	"github.com/writbus/writ/enforcement/whatif"
	"github.com/writbus/writ/observer/replay"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/rulebook"
	"github.com/writbus/writ/retrieval/tune"
	"github.com/writbus/writ/schemas"
)

// whatIfFlags say what is tried, and on what.
type whatIfFlags struct {
	policy, weights, corpus        string
	since, until, session, project string
	embedder                       string
	list                           int
	asJSON                         bool
}

// whatIf runs the log once more under other settings. It connects in roles
// that cannot write.
func whatIf(ctx context.Context, args []string, out, errw io.Writer) error {
	var f whatIfFlags
	flags := newFlags("whatif", "Run recorded prompts and decisions once more under other settings, and say what would have changed.\nThe log stays as it is.",
		"writ log whatif --policy strict.yaml --since 24h", errw)
	flags.StringVar(&f.policy, "policy", "", "`file` of a project's settings, as .writ/config.yaml")
	flags.StringVar(&f.weights, "weights", "", "`file` of a ranking profile (writ model tune --json prints one), or the name of a built-in one")
	flags.StringVar(&f.corpus, "corpus", "", "`folder` of rules")
	flags.StringVar(&f.since, "since", "", "only what happened from this `time` on: RFC 3339, a date, or how long ago (15m, 24h)")
	flags.StringVar(&f.until, "until", "", "only what happened before this `time`")
	flags.StringVar(&f.session, "session", "", "only this session")
	flags.StringVar(&f.project, "project", "", "only sessions of the project with this root")
	flags.StringVar(&f.embedder, "embedder", "", "for both searches (default: that of the settings)")
	flags.IntVar(&f.list, "list", 20, "most decisions and prompts to list, 0 for all")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	if err := parse(flags, args); err != nil {
		return err
	}
	if f.policy == "" && f.weights == "" && f.corpus == "" {
		return fmt.Errorf("%w: say what to try: --policy FILE, --weights FILE or --corpus DIR", errUsage)
	}
	report, err := f.run(ctx)
	if err != nil {
		return err
	}
	if f.asJSON {
		return json.NewEncoder(out).Encode(report)
	}
	return report.Write(out)
}

func (f whatIfFlags) run(ctx context.Context) (report whatif.Report, err error) {
	dataDir, err := config.DataDir()
	if err != nil {
		return report, err
	}
	home, _ := os.UserHomeDir() // without one nothing lies below it
	change := whatif.Change{Project: daemon.ProjectsToday(dataDir, home), Clock: since(time.Now()), Listed: f.list}
	if change.Filter, err = f.filter(); err != nil {
		return report, err
	}
	var tried []string
	if f.policy != "" {
		settings, err := config.ReadPolicy(f.policy)
		if err != nil {
			return report, err
		}
		policy := daemon.PolicyOf(settings)
		change.Policy = &policy
		tried = append(tried, "policy "+f.policy)
	}
	reader, err := dialAs(ctx, dataDir, "dashboard")
	if err != nil {
		return report, err
	}
	defer reader.Close()
	// Another policy may leave prompts another room.
	more, err := f.indexes(ctx, dataDir, reader, &change)
	if err != nil {
		return report, err
	}
	tried = append(tried, more...)
	report, err = whatif.Of(ctx, reader, change)
	report.Change = tried
	return report, err
}

func (f whatIfFlags) filter() (w whatif.Filter, err error) {
	w.Session = f.session
	if w.From, err = timeOf("since", f.since); err != nil {
		return w, err
	}
	if w.Until, err = timeOf("until", f.until); err != nil {
		return w, err
	}
	if f.project != "" {
		w.Root, err = filepath.Abs(f.project)
	}
	return w, err
}

// timeOf reads a time as people write it.
func timeOf(name, text string) (time.Time, error) {
	at, ok := replay.Moment(text, time.Now())
	if !ok {
		return at, fmt.Errorf("%w: --%s takes 2026-01-31, 2026-01-31T15:04:05Z, or how long ago, such as 15m or 2d, not %q", errUsage, name, text)
	}
	return at, nil
}

// indexes builds the search of today and that of the change.
func (f whatIfFlags) indexes(ctx context.Context, dataDir string, reader *bus.Conn, change *whatif.Change) (tried []string, err error) {
	settings, err := config.Load(dataDir)
	if err != nil {
		return nil, err
	}
	f.embedder = cmp.Or(f.embedder, settings.Embedder)
	embedder, err := embedderOf(f.embedder)
	if err != nil {
		return nil, err
	}
	search := whatif.Search{Options: retrieval.Options{Embedder: embedder}}
	if search.Rules, err = rulesToday(ctx, dataDir); err != nil {
		return nil, err
	}
	if f.corpus != "" {
		if search.Other, err = rulesOf(f.corpus); err != nil {
			return nil, err
		}
		tried = append(tried, "corpus "+f.corpus)
	}
	if f.weights != "" {
		profile, err := tune.OpenProfile(f.weights, os.ReadFile)
		if err != nil {
			return nil, err
		}
		search.Profile = &profile
		tried = append(tried, "weights "+profile.Name)
	}
	return tried, change.Searching(ctx, reader, search)
}

// rulesToday asks the daemon for its corpus.
func rulesToday(ctx context.Context, dataDir string) ([]schemas.Rule, error) {
	conn, err := dialAs(ctx, dataDir, "hook")
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return rulebook.Exported(ctx, conn)
}
