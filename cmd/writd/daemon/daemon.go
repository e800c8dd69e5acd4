package daemon

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/backup/objects"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/enforcement/confine/runner"
	"github.com/writbus/writ/enforcement/httphook"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/enforcement/redact"
	"github.com/writbus/writ/enforcement/session"
	"github.com/writbus/writ/enforcement/turn"
	"github.com/writbus/writ/observer/agent/runs"
	"github.com/writbus/writ/observer/eventlog"
	"github.com/writbus/writ/observer/heap"
	"github.com/writbus/writ/observer/memory"
	"github.com/writbus/writ/observer/metrics"
	"github.com/writbus/writ/observer/model"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/projections/audit/ledger"
	"github.com/writbus/writ/projections/hub"
	"github.com/writbus/writ/projections/pebblestore"
	"github.com/writbus/writ/projections/relocate"
	"github.com/writbus/writ/retrieval/embed/choice"
	"github.com/writbus/writ/retrieval/files/library"
	"github.com/writbus/writ/retrieval/rulebook"
	"github.com/writbus/writ/retrieval/rulebook/graph"
	"github.com/writbus/writ/retrieval/rulebook/index"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
	"github.com/writbus/writ/schemas/disk"
	"github.com/writbus/writ/schemas/filelock"
)

var (
	// ErrRunning is returned by Run when another daemon holds the data
	// directory.
	ErrRunning = errors.New("daemon: another daemon holds the data directory")
	// ErrDataDir is returned by Run for a data directory it cannot use.
	ErrDataDir = errors.New("daemon: the data directory cannot be used")
)

// source names this daemon as the recorder of events.
const source = "/writ/daemon"

// stopBudget bounds a graceful stop: half of it is for requests under way, of verbs and
// then of the others. A variable for tests.
var stopBudget = 10 * time.Second

// What bounds the audit. Variables for tests.
var (
	sealBudget    = 5 * time.Second
	publishBudget = 10 * time.Second
)

// logPatience bounds a call to the log whose caller sets no bound. A variable for
// tests.
var logPatience = bus.DefaultTimeout

// Daemon is a running Writ.
type Daemon struct {
	settings config.Settings
	layout   config.Layout
	logger   *slog.Logger
	started  time.Time
	stop     context.CancelFunc

	conn      *bus.Conn        // appends and looks up
	log       *bus.Writer      // the way into the log, behind conn
	reading   *bus.Conn        // of the projections
	services  *bus.Conn        // requests and their answers
	confined  *bus.Conn        // those of programs that run confined, where these have a door of their own
	endpoint  config.Endpoint  // as it is announced
	server    *embedded.Server // nil for another's
	place     relocate.Place
	claim     *relocate.Claim // of the streams of another's; nil for its own
	backups   *objects.Keeper
	runtime   *projections.Runtime
	views     views
	projects  *project.Cache
	accepted  *acceptedSettings
	runner    runner.Runner
	sessions  *session.Sessions
	gates     *session.Service
	turn      *turn.Service
	corpus    *index.Index
	rules     *rulebook.Book
	graph     *graph.Service
	files     *library.Library
	audit     *ledger.Auditor
	team      *hub.Member
	archive   *ledger.Archiver // nil where nothing leaves from here
	restAsked chan struct{}    // filled when much memory is to be given back

	pages     pages
	telemetry *metrics.Telemetry
	logOpen   atomic.Bool // the server has read it
	serving   atomic.Bool // the services answer
	again     atomic.Bool // it starts anew once it has stopped

	model   *model.Client // nil if none is configured
	noModel error         // why model is nil
	memory  *memory.Service
	events  *eventlog.Log
	agents  *runs.Service

	unreadable unreadable

	warnMu   sync.Mutex
	warnings []string

	stopping time.Time // zero while it serves
	slowest  string    // what took longest to stop, and how long
	took     time.Duration
}

// timed is what stops a part, which the log names where none took longer.
func timed(d *Daemon, part string, stop func()) func() {
	return func() {
		began := time.Now()
		stop()
		if took := time.Since(began); took >= d.took {
			d.slowest, d.took = part, took
		}
	}
}

// now is the one clock of the daemon: what is decided from it travels as data.
func (d *Daemon) now() time.Time { return time.Now().UTC() }

// warn remembers what status and doctor tell the user.
func (d *Daemon) warn(text string) {
	d.logger.Warn(text)
	d.warnMu.Lock()
	defer d.warnMu.Unlock()
	d.warnings = append(d.warnings, text)
}

// Run serves a data directory until ctx ends or somebody asks the daemon to
// stop, then stops in order: services, projectors, views, log. It returns
// ErrRunning, ErrDataDir, or what the log or the views could not do; ready is
// called once the daemon answers.
func Run(ctx context.Context, s config.Settings, logger *slog.Logger, ready func(url string)) error {
	heap.Begin()
	again, err := run(ctx, s, logger, ready)
	for again && err == nil && ctx.Err() == nil {
		if again, err = run(ctx, s, logger, ready); errors.Is(err, ErrRunning) {
			return nil // a hook started one meanwhile
		}
	}
	return err
}

func run(ctx context.Context, s config.Settings, logger *slog.Logger, ready func(url string)) (again bool, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d := &Daemon{
		settings: s, layout: config.Layout{Root: s.DataDir}, logger: logger,
		stop: stop, restAsked: make(chan struct{}, 1),
	}
	d.started = d.now()
	if _, err := os.Stat(d.layout.Views()); s.ShippedRules && errors.Is(err, fs.ErrNotExist) {
		go rulebook.ReadShipped() // they will be wanted
	}
	if s.MemoryLimit > 0 {
		debug.SetMemoryLimit(s.MemoryLimit)
	}
	release, err := d.takeDataDir()
	if err != nil {
		return false, err
	}
	defer func() {
		if !d.stopping.IsZero() {
			logger.Info("stopped", "took", time.Since(d.stopping).String(), "slowest", d.slowest, "which", d.took.String())
		}
		release()
	}()
	served := begin(d)
	defer served()
	lost, err := d.beat(ctx, beatEvery)
	if err != nil {
		return false, err
	}
	defer func() { stop(); err = errors.Join(lost(), err) }()
	defer d.beginTelemetry(ctx)()
	d.model, d.noModel = d.openModel()
	closeBus, err := d.openBus(ctx)
	if err != nil {
		return false, err
	}
	defer timed(d, "log", closeBus)()
	d.logOpen.Store(true)
	closeViews, err := d.openViews(ctx)
	if err != nil {
		return false, err
	}
	defer timed(d, "views", closeViews)()
	if err := closeLost(ctx, d); err != nil {
		return false, err
	}
	stopRules := d.rules.Begin(ctx)
	defer timed(d, "rules", func() { err = errors.Join(err, stopRules()) })()
	if d.audit, err = d.openAudit(); err != nil {
		return false, err
	}
	if err := d.audit.Acknowledge(ctx, d.layout.Restored(), d.log); err != nil {
		return false, err
	}
	defer timed(d, "audit", d.audit.Begin(ctx))()
	stopTeam, err := beginTeam(ctx, d)
	if err != nil {
		return false, err
	}
	defer timed(d, "hub", stopTeam)()
	defer timed(d, "archive", beginArchive(ctx, d))()
	defer timed(d, "rest", d.beginResting(ctx))()
	if err := errors.Join(os.MkdirAll(filepath.Dir(confine.Doors(s.DataDir)), 0o700), doors(s)("")); err != nil {
		return false, fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	defer func() { err = errors.Join(err, os.Remove(confine.Doors(s.DataDir))) }() // others may have the ports next
	stopServices, err := d.serve(ctx)
	if err != nil {
		return false, err
	}
	defer stopServices()
	defer timed(d, "probes", d.beginProbes(ctx))()
	defer timed(d, "turns", d.turn.Close)()
	defer timed(d, "backups", d.backups.Begin(ctx, d.now, func(err error) { logger.Warn("a planned backup", "error", err) }))()
	overHTTP, err := httphook.Start(httphook.Options{
		Address: s.HTTPHooks, DataDir: s.DataDir, Credentials: config.Layout{Root: s.DataDir}.Credentials(),
		Guarded: func(dir string) (string, bool) { return config.FindGuarded(s.DataDir, dir) },
		FailsOpen: func(root string) bool {
			ruling, err := d.accepted.rule(root)
			return err == nil && ruling.Fail == "open"
		},
		Ask: d.turn.Handle, Writ: d.runner.Writ, Budget: s.HookBudget, Logger: logger,
	})
	if err != nil {
		return false, err
	}
	defer timed(d, "http hooks", overHTTP.Stop)()
	defer timed(d, "pages", d.pages.stop)()
	d.endpoint.PID, d.endpoint.Version, d.endpoint.Protocol, d.endpoint.Started = os.Getpid(), config.Version, config.Protocol, d.started
	if err := config.WriteEndpoint(s.DataDir, d.endpoint); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, config.RemoveEndpoint(s.DataDir, os.Getpid())) }()
	d.serving.Store(true)
	defer d.serving.Store(false)
	gone := hold(ctx, d)
	defer func() { stop(); err = errors.Join(gone(), err) }()
	if err := d.closeAfterLoss(ctx, ""); err != nil {
		return false, err
	}
	served()
	logger.Info("ready", "url", d.endpoint.URL, "data", s.DataDir, "durability", durabilityOf(d.settings), "took", d.now().Sub(d.started).String())
	ready(d.endpoint.URL)
	if e, ok := d.corpus.Embedder().Embedder.(interface{ Warm() }); ok {
		go e.Warm() // the first prompt would wait for it
	}
	<-ctx.Done()
	d.stopping = time.Now()
	logger.Info("stopping")
	return d.again.Load(), nil
}

// beginTeam brings what leaves to the hub, if one is joined.
func beginTeam(ctx context.Context, d *Daemon) (stop func(), err error) {
	o := hub.Options{
		Folder: d.layout.Root, Credentials: d.layout.Credentials(), Log: d.reading, Clean: redact.Text, Now: d.now,
		Outside: d.server == nil, Grown: func(s schemas.Stream, than int64) (string, int64, []evidence.Hash, error) {
			return ledger.Grown(d.audit, s, than)
		},
		Every: d.settings.AuditEvery / 2, Restart: func() { d.again.Store(true); d.stop() },
	}
	o.Hub, o.Reached = d.server.Hub()
	if o.Key, o.Public, o.Seed, err = ledger.Signer(d.audit); err == nil {
		d.team, stop, err = hub.Begin(ctx, o)
	}
	return stop, err
}

// openAudit opens the evidence of the audit.
func (d *Daemon) openAudit() (*ledger.Auditor, error) {
	o := ledger.Options{
		Log: d.conn, Views: d.runtime, Now: d.now, Logger: d.logger, Warn: d.warn,
		Credentials: d.layout.Credentials(), Evidence: d.layout.Audit(), Witness: d.settings.AuditWitness,
		Publish: d.settings.AuditPublish, Authorization: os.Getenv(config.AuditAuthorization),
		Clean: redact.Text, Every: d.settings.AuditEvery, SealWithin: sealBudget, PublishWithin: publishBudget,
	}
	a, err := ledger.Open(o)
	switch {
	case errors.Is(err, ledger.ErrPlace):
		return nil, fmt.Errorf("%w: %w", config.ErrSettings, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	return a, nil
}

// takeDataDir makes the data directory and locks it.
func (d *Daemon) takeDataDir() (release func(), err error) {
	if err := os.MkdirAll(d.layout.Root, 0o700); err != nil {
		return nil, fmt.Errorf("%w: %s: %w. Make it writable or set WRIT_HOME", ErrDataDir, d.layout.Root, err)
	}
	need := int64(disk.Reserve)
	if _, err := os.Stat(d.layout.Views()); err != nil {
		need += firstViews
	}
	if err := embedded.Room(d.layout.Root, need); err != nil {
		return nil, err
	}
	release, err = lock(d.layout.Lock())
	if errors.Is(err, ErrRunning) {
		who := ""
		if e, endpointErr := config.ReadEndpoint(d.layout.Root); endpointErr == nil {
			who = fmt.Sprintf(" (process %d, since %s)", e.PID, e.Started.Local().Format(time.DateTime))
		}
		return nil, fmt.Errorf("%w: %s%s. Use it, stop it with writ down, or set WRIT_HOME to another folder", ErrRunning, d.layout.Root, who)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w. Make it writable or set WRIT_HOME", ErrDataDir, d.layout.Root, err)
	}
	if moved, err := os.ReadFile(d.layout.Moved()); err == nil {
		release()
		return nil, fmt.Errorf("%w: %s: %s. Restore that where Writ is to go on (writ backup restore), and set WRIT_HOME to it; or, if it never went on elsewhere, delete %s", ErrDataDir, d.layout.Root, bytes.TrimSpace(moved), d.layout.Moved())
	}
	if _, err := config.Upgrade(d.layout); err != nil {
		release()
		return nil, fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	atomicfile.Sweep(d.layout.Root, d.now().Add(-keepUnwritten))
	if tree := project.WorkTree(d.layout.Root); tree != "" {
		d.warn(fmt.Sprintf("the data directory %s lies in the work tree %s: the log would be committed and the agent could reach it; set WRIT_HOME to another folder", d.layout.Root, tree))
	}
	original, err := relocate.Original(d.layout.Root)
	if err != nil {
		d.warn("whether the data directory is a copy cannot be told: " + err.Error())
	} else if original != "" {
		d.warn(d.layout.Root + " is a copy of " + original + ", which is still there: both sign with one key as one log, and what is proven of one does not hold for the other. Go on in one of them and delete the other; `writ backup` and `writ backup restore` make a copy that says that it is one")
	}
	return release, nil
}

// firstViews is what the views of a first start take, in bytes.
const firstViews = 48 << 20

// viewsRoom is whether the views' disk has so many bytes.
func viewsRoom(l config.Layout) func(bytes int64) error {
	return func(bytes int64) error { return embedded.Room(l.Views(), bytes) }
}

// keepUnwritten is longer than anybody takes to write a file.
const keepUnwritten = time.Hour

// mostLook is longer than a look at a lock takes.
const mostLook = 50 * time.Millisecond

// lock takes the data directory for this process, or returns ErrRunning. Who looks
// whether it is held holds it too, for a moment.
func lock(path string) (release func(), err error) {
	for wait := time.Millisecond; ; wait *= 2 {
		held, err := filelock.Take(path)
		switch {
		case err == nil:
			return held.Release, nil
		case !errors.Is(err, filelock.ErrHeld):
			return nil, err
		case wait > mostLook:
			return nil, ErrRunning
		}
		time.Sleep(wait)
	}
}

// openBus starts the embedded server, or connects to the configured one, and
// makes sure that the streams exist.
func (d *Daemon) openBus(ctx context.Context) (func(), error) {
	d.openBackups()
	if err := settle(d); err != nil {
		return nil, err
	}
	retention := retention(d.settings)
	if d.settings.NATSURL != "" {
		return d.connectOutside(ctx)
	}
	credentials, err := embedded.LoadOrCreateCredentials(d.layout.Credentials())
	if err != nil {
		return nil, err
	}
	streams, err := retention.Configurations()
	if err != nil {
		return nil, err
	}
	hub, err := hub.Hub(d.layout.Root, d.layout.Credentials())
	if err != nil {
		d.warn("nothing is brought to the hub: " + err.Error()) // it works as alone
	}
	own, trusted, err := embedded.Identity(d.layout.Credentials())
	if err != nil {
		return nil, err
	}
	server, err := embedded.Start(ctx, embedded.Options{
		Dir: d.layout.Log(), Port: d.settings.Port, Streams: streams, Hub: hub, TLS: own,
		Durability: embedded.Durability(d.settings.Durability), Together: true,
		Users: credentials.Users(), Logger: slog.New(quiet{d.logger.Handler()}), Found: d.damage().found,
	})
	if err != nil {
		return nil, err
	}
	shutdown := func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopBudget)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			d.logger.Error("stop the log", "error", err)
		}
	}
	if err := d.damage().tellAll(server.Findings()); err != nil {
		shutdown()
		return nil, err
	}
	d.server = server
	ready := func() error {
		if d.backups.Moving.Load() {
			return fmt.Errorf("%w: the log is being moved", bus.ErrUnavailable)
		}
		return cmp.Or(server.Health(), viewsRoom(d.layout)(disk.Reserve))
	}
	if err := d.connect(ctx, bus.Options{Archive: bus.NewArchive(filepath.Join(d.layout.Root, "archive")), Dial: server.Dial, Ready: ready, Synced: server.Sync, OnGap: func(schemas.Stream) { server.Look() }}.As(credentials[embedded.RoleDaemon])); err != nil {
		shutdown()
		return nil, err
	}
	server.Inform(d.conn, d.reading)
	err = errors.Join(d.conn.EnsureStreams(ctx, retention), server.SyncStreams(),
		ledger.RecordLost(ctx, d.conn, d.log, d.layout.Log(), d.layout.Audit(), d.layout.Views(), d.warn))
	if err == nil {
		ledger.SayAgain(ctx, d.conn, d.log, func(warning string) {
			if len(server.Findings()) == 0 { // else what was found is what is missing
				d.warn(warning)
			}
		})
		err = ledger.EraseForgotten(ctx, d.conn, server, d.layout.Log(), d.layout.Views(), d.logger)
	}
	if err != nil {
		d.disconnect()
		shutdown()
		return nil, err
	}
	d.endpoint.URL, d.endpoint.TLS.CA = server.URL(), trusted
	return func() { d.disconnect(); shutdown() }, nil
}

// connect opens the daemon's three connections: on one it appends, on one the
// projections read and on one the services answer, so that neither an append nor
// an answer waits behind records on their way to a view, or behind the other.
func (d *Daemon) connect(ctx context.Context, o bus.Options) (err error) {
	o.Timeout = logPatience
	o.OnAsyncError = func(err error) { d.logger.Warn("bus", "error", err) }
	for _, c := range []struct {
		conn **bus.Conn
		name string
	}{{&d.conn, "writd"}, {&d.reading, "writd-views"}, {&d.services, "writd-services"}} {
		o.Name = c.name
		if *c.conn, err = bus.Connect(ctx, o); err != nil {
			d.disconnect()
			return err
		}
	}
	d.log = d.conn.Writer(d.writes())
	return nil
}

// writes is what all events of this daemon have in common.
func (d *Daemon) writes() bus.WriterOptions {
	return bus.WriterOptions{Source: source, Now: d.now, Redact: redact.Payload}
}

func (d *Daemon) disconnect() {
	for _, c := range []*bus.Conn{d.confined, d.services, d.reading, d.conn} {
		if c != nil {
			c.Close()
		}
	}
}

// openEmbedder opens the embedder of the settings.
func openEmbedder(s config.Settings) choice.Embedder {
	return choice.Open(choice.Settings{Name: s.Embedder, Model: s.EmbedderModel, Key: os.Getenv(config.EmbedderKey)})
}

// openRuntime opens the store of the views, and the views in it.
func (d *Daemon) openRuntime() (*pebblestore.Store, error) {
	store, reset, err := pebblestore.OpenOrReset(d.layout.Views(), pebblestore.Options{Room: viewsRoom(d.layout)})
	if err != nil {
		return nil, err
	}
	if reset != "" {
		d.warn("the views were damaged and are rebuilt from the log; the old ones are kept in " + reset)
	}
	d.runtime, err = projections.NewRuntime(projections.OnBus(d.reading, d.reading.Writer(d.writes())), store, projections.Options{Logger: slog.New(quiet{d.logger.Handler()})}, d.views.all()...)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// openViews opens the projections and lets them catch up with the log.
func (d *Daemon) openViews(ctx context.Context) (func(), error) {
	chosen := openEmbedder(d.settings)
	if chosen.Problem != "" {
		d.warn("rules are found by their words alone: " + chosen.Problem)
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx)) // services still ask while they stop
	d.corpus = index.New(running, index.Options{
		Embedder: chosen, Folder: filepath.Dir(d.layout.Views()), Now: d.now, Built: heap.Follow, Telemetry: d.telemetry,
		Warn: func(err error) { d.logger.Warn("keep the rules in a file instead of memory", "error", err) },
	})
	d.views = newViews(d.corpus, d.settings.Memory.Drift, lostOn(d.reading))
	store, err := d.openRuntime()
	if errors.Is(err, projections.ErrCorruptStore) {
		store, err = d.openRuntime() // what was found damaged is moved aside
	}
	if err != nil {
		cancel()
		return nil, err
	}
	d.openFiles()
	d.openTurns()
	d.openRules()
	d.events = eventlog.New(eventlog.Options{
		Conn: d.conn, Log: d.log, Views: d.runtime, Activity: d.views.activity, Now: d.now,
		Find: func(ctx context.Context, s schemas.Stream, id string) (uint64, error) {
			return d.audit.Find(ctx, s, id)
		},
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := d.runtime.Run(running); err != nil && !errors.Is(err, context.Canceled) {
			d.warn("the projections stopped: " + err.Error())
		}
	}()
	return func() {
		cancel()
		<-done
		if err := errors.Join(d.corpus.Close(), store.Close()); err != nil {
			d.logger.Error("close the views", "error", err)
		}
	}, nil
}
