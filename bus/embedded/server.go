package embedded

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/schemas/filelock"
)

var (
	// ErrPortInUse is returned by Start when something else listens there.
	ErrPortInUse = errors.New("embedded: port is in use")
	// ErrDir is returned by Start when the folder cannot be created or written.
	ErrDir = errors.New("embedded: folder cannot be written")
	// ErrLocked is returned by Start when another server uses the folder.
	ErrLocked = errors.New("embedded: folder is used by another server")
	// ErrStoreCorrupt is returned by Start when a stream is on disk but cannot
	// be read. Nothing was changed.
	ErrStoreCorrupt = errors.New("embedded: stored stream cannot be read")
	// ErrInsecure is returned by Start for a host beyond loopback without TLS.
	ErrInsecure = errors.New("embedded: refusing to listen beyond this machine without TLS")
	// ErrStart is returned by Start for any other refusal of the server.
	ErrStart = errors.New("embedded: server did not start")
)

// Durability says when an append is acknowledged.
type Durability string

const (
	// PowerLoss acknowledges an append after it was synced to the disk. Nothing
	// acknowledged is lost, whatever happens to the machine. One sync each.
	PowerLoss Durability = "power-loss"
	// Interval acknowledges an append when the kernel has it and syncs every
	// Options.SyncInterval. A killed process loses nothing; a power cut may take what
	// was acknowledged since the last sync.
	Interval Durability = "interval"
)

// DefaultSyncInterval is how often Interval syncs by default.
const DefaultSyncInterval = 100 * time.Millisecond

// readersAhead is how many readers of one connection may lag behind at once.
const readersAhead = 8

// DefaultMaxPayload is the largest message by default.
const DefaultMaxPayload = 32 << 20

const (
	tlsTimeout   = 10 * time.Second // a busy machine may be slow to shake hands
	startTimeout = 2 * time.Minute  // recovering a large store without its index takes seconds
	// storeLimit stands for no limit: Health looks at the disk. Without one the server
	// takes three quarters of what is free when it starts.
	storeLimit  = 1 << 60
	memoryLimit = 1 << 30 // of state that JetStream keeps in memory; readers need little

	probePattern = ".probe-*" // names of files that are written to try the disk, and of folders of cuts
)

// Options say how to run the server. Only Dir is required.
type Options struct {
	Dir        string // holds the store and its lock; created with mode 0700
	Host       string // "" is 127.0.0.1
	Port       int    // 0 is a free one
	Durability Durability
	// Together has PowerLoss sync appends of several callers together: whoever
	// appends calls Server.Sync before it acknowledges, as bus.Options.Synced does.
	// Without, the server itself syncs each, one after the other.
	Together bool
	// SyncInterval is how often Interval syncs; 0 is DefaultSyncInterval.
	SyncInterval time.Duration
	MaxPayload   int32 // bytes; 0 is DefaultMaxPayload
	// MaxStore is how many bytes all streams may take; an append beyond it is
	// refused. 0 is no limit but the disk's.
	MaxStore int64
	// Streams are the configurations of the log's streams, as JSON, by name:
	// what a stream whose description is damaged is described by anew.
	Streams map[string][]byte
	Users   []User
	Hub     *rights.Hub // what the server becomes a leaf of; nil for none
	// TLS is required of every client beyond loopback; at loopback who wants it has it.
	TLS    *tls.Config
	Logger *slog.Logger
	// Found is told what is found wrong with the store while the server runs; nil
	// for nobody.
	Found func(Finding)
	// MarkInterval is how often the streams' ends are noted beside the store;
	// 0 is DefaultMarkInterval.
	MarkInterval time.Duration
}

// Server is a running server.
type Server struct {
	ns       *server.Server
	options  Options
	lock     *filelock.Lock
	log      *logger
	findings []Finding

	hubPassword string // of the user in the account that a hub is connected to

	mu      sync.Mutex
	inform  []*bus.Conn       // see Inform
	running bool              // findings are told by Options.Found
	letGo   map[string]uint64 // see LetGo
	noting  sync.Mutex        // see writeMarks

	ended    *ended
	together *together // appends wait for
	noted    *together // notes of the ends wait for
	holes    []Hole    // known to be lost when the server started
	scrubber *scrubber

	stopping chan struct{}
	tending  sync.WaitGroup // keepMarks, keepOpen and the scrubber
	stopOnce sync.Once
	stopped  chan struct{}
}

// Start runs a server and returns when it accepts connections and has its
// streams. It returns one of this package's errors; each says what to do.
func Start(ctx context.Context, o Options) (*Server, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	lock, err := lockStore(o.Dir)
	if err != nil {
		return nil, err
	}
	s := &Server{
		options: o, lock: lock, log: newLogger(o.Logger),
		stopping: make(chan struct{}), stopped: make(chan struct{}),
	}
	s.together, s.noted = o.together()
	s.ended = &ended{store: o.Dir, find: s.find}
	s.log.beforeCut = s.ended.before
	s.scrubber = newScrubber(o.Dir, o.Logger, s.stopping, s.find, s.ended.alone)
	if err := s.start(ctx); err != nil {
		lock.Release()
		return nil, err
	}
	s.running = true
	s.tending.Add(2)
	go s.keepMarks()
	go s.keepOpen()
	s.tending.Go(s.scrubber.run)
	return s, nil
}

func (o Options) complete() (Options, error) {
	if o.Dir == "" {
		return o, fmt.Errorf("%w: no folder given", ErrDir)
	}
	if o.Host == "" {
		o.Host = "127.0.0.1"
	}
	if o.Durability == "" {
		o.Durability = PowerLoss
	}
	if o.Durability != PowerLoss && o.Durability != Interval {
		return o, fmt.Errorf("%w: durability %q: use %q or %q", ErrStart, o.Durability, PowerLoss, Interval)
	}
	if o.SyncInterval <= 0 {
		o.SyncInterval = DefaultSyncInterval
	}
	if o.MaxPayload <= 0 {
		o.MaxPayload = DefaultMaxPayload
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.MarkInterval <= 0 {
		o.MarkInterval = DefaultMarkInterval
	}
	if o.MaxStore <= 0 {
		o.MaxStore = storeLimit
	}
	if !rights.Loopback(o.Host) && o.TLS == nil {
		return o, fmt.Errorf("%w: host %s. Use 127.0.0.1, or give a certificate", ErrInsecure, o.Host)
	}
	return o, nil
}

func (s *Server) start(ctx context.Context) error {
	if err := s.checkPort(ctx); err != nil {
		return err
	}
	options, err := s.serverOptions()
	if err != nil {
		return err
	}
	bringBack(s.options)
	before := storedStreams(s.options.Dir)
	if err := errors.Join(s.mendDescriptions(before), forgetReaders(s.options.Dir, before), s.ended.putBack(), s.protect(before)); err != nil {
		return err
	}
	ns, err := server.NewServer(options)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	ns.SetLoggerV2(s.log, false, false, false)
	// Before the start: JetStream leaves an account alone that asks another.
	if err := joinAccounts(ns); err != nil {
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	s.ns = ns
	ns.Start()
	for _, step := range []func() error{
		func() error { return s.ready(ctx) },
		s.openLog,
		func() error { return s.examine(before) },
		s.listen,
	} {
		if err := step(); err != nil {
			ns.Shutdown()
			ns.WaitForShutdown()
			return err
		}
	}
	return nil
}

// forgetReaders removes the readers that somebody had the server keep: who may only
// read leaves nothing behind, and Follow's readers end with their connection.
func forgetReaders(dir string, stored []string) error {
	for _, name := range stored {
		if err := os.RemoveAll(filepath.Join(streamsDir(dir), name, "obs")); err != nil {
			return fmt.Errorf("%w: %w", ErrStart, err)
		}
	}
	return nil
}

// openLog recovers the streams. With several accounts the server leaves that
// to whoever configures them.
func (s *Server) openLog() error {
	if err := s.ns.GlobalAccount().EnableJetStream(nil, nil); err != nil {
		return fmt.Errorf("%w: opening the log: %w", ErrStart, err)
	}
	return nil
}

// listen lets clients in. One that came before the log is open would be told
// that its streams do not exist.
func (s *Server) listen() error {
	s.ns.AcceptLoop(make(chan struct{}))
	if err := s.log.fatal(); err != nil {
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	return nil
}

func (s *Server) ready(ctx context.Context) error {
	timeout := startTimeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline))
	}
	if err := s.log.fatal(); err != nil {
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	if !s.ns.ReadyForConnections(timeout) {
		if err := s.log.fatal(); err != nil {
			return fmt.Errorf("%w: %w", ErrStart, err)
		}
		return fmt.Errorf("%w: not ready after %s", ErrStart, timeout)
	}
	return ctx.Err()
}

// checkPort tries the port first, because the server itself only logs that it
// is taken.
func (s *Server) checkPort(ctx context.Context) error {
	if s.options.Port == 0 {
		return nil
	}
	address := net.JoinHostPort(s.options.Host, fmt.Sprint(s.options.Port))
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w: %s. Stop what listens there, or choose another port (0 for a free one)", ErrPortInUse, address)
	}
	if err != nil {
		return fmt.Errorf("%w: listen on %s: %w", ErrStart, address, err)
	}
	return l.Close()
}

func (s *Server) serverOptions() (*server.Options, error) {
	clients, agents, err := accounts()
	if err != nil {
		return nil, err
	}
	users, err := serverUsers(s.options.Users, clients, agents)
	if err != nil {
		return nil, err
	}
	port := s.options.Port
	if port == 0 {
		port = server.RANDOM_PORT
	}
	o := &server.Options{
		ServerName: "writ",
		Host:       s.options.Host,
		Port:       port,
		DontListen: true, // until the log is open: see listen
		MaxPayload: s.options.MaxPayload,
		// Each reader may be sent as much as the largest message ahead. Where more waits
		// the server drops the connection, with all that is being asked on it.
		MaxPending:             max(server.MAX_PENDING_SIZE, readersAhead*int64(s.options.MaxPayload)),
		Users:                  users,
		Accounts:               []*server.Account{clients, agents},
		TLSConfig:              s.options.TLS,
		TLS:                    s.options.TLS != nil,
		TLSTimeout:             tlsTimeout.Seconds(),
		AllowNonTLS:            rights.Loopback(s.options.Host),
		JetStream:              true,
		StoreDir:               s.options.Dir,
		JetStreamMaxStore:      s.options.MaxStore,
		JetStreamMaxMemory:     memoryLimit,
		SyncAlways:             s.options.Durability == PowerLoss && !s.options.Together,
		SyncInterval:           s.syncInterval(),
		NoSigs:                 true,
		DisableJetStreamBanner: true,
	}
	if s.options.Hub != nil {
		s.hubPassword, err = joinHub(s.options.Hub, o)
	}
	return o, err
}

// syncInterval is 0 for the server's own two minutes where every append is
// synced anyway: ten looks a second at each block of each stream find nothing.
// So it is where data races are looked for.
func (s *Server) syncInterval() time.Duration {
	if s.options.Durability == PowerLoss || raceDetector {
		return 0
	}
	return s.options.SyncInterval
}

// URL is where clients connect. At loopback TLS is theirs to ask for.
func (s *Server) URL() string {
	if rights.Loopback(s.options.Host) {
		return strings.Replace(s.ns.ClientURL(), "tls://", "nats://", 1)
	}
	return s.ns.ClientURL()
}

// Dial connects from inside this process, without a socket.
func (s *Server) Dial() (net.Conn, error) { return s.ns.InProcessConn() }

// StoreDir is the folder of the streams.
func (s *Server) StoreDir() string { return filepath.Join(s.options.Dir, storeName) }

// Findings are what was found wrong with the store when it was opened, empty for
// a sound one.
func (s *Server) Findings() []Finding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Finding(nil), s.findings...)
}

// Shutdown stops the server after what it has acknowledged is on disk. It may
// be called again. When the context ends first the server goes on stopping and
// the context's error is returned.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopOnce.Do(func() {
		go func() {
			defer close(s.stopped)
			close(s.stopping)
			s.tending.Wait()
			s.mark()
			s.ns.Shutdown()
			s.ns.WaitForShutdown()
			_ = s.noted.each((*syncs).stop)
			s.lock.Release()
		}()
	})
	select {
	case <-s.stopped:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func prepareDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("%w: %w. Choose a folder you may write to", ErrDir, err)
	}
	probe, err := os.CreateTemp(dir, probePattern)
	if err != nil {
		return fmt.Errorf("%w: %w. Choose a folder you may write to", ErrDir, err)
	}
	_ = probe.Close()
	if err := os.Remove(probe.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) { // who has the lock sweeps
		return fmt.Errorf("%w: %w", ErrDir, err)
	}
	return nil
}
