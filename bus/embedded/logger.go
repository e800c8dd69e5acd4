package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// logger passes the server's log on and keeps what a start needs to report:
// the server says only here why it stopped or left a stream out.
type logger struct {
	to *slog.Logger

	mu       sync.Mutex
	fatals   []error
	warnings []string // of the start
	failure  string   // first failure to write the store
	failures int      // how many there were
	leaf     string   // last failure to reach a hub
	started  bool
	failed   chan struct{} // holds one while failure is not dealt with
	// beforeCut is called with the file that the server is about to end at a
	// damaged record, before it does.
	beforeCut func(file string) error
}

// knownWarnings are about what this package does on purpose. The passwords are
// random, made for this machine and kept in files of the same owner: hashing
// them would protect nothing. Large messages are rare, and the limit is there
// for them.
var knownWarnings = []string{"Plaintext passwords detected", "Maximum payloads over"}

func newLogger(to *slog.Logger) *logger {
	return &logger{to: to.With("component", "nats-server"), failed: make(chan struct{}, 1), beforeCut: func(string) error { return nil }}
}

func (l *logger) Noticef(format string, v ...any) { l.to.Info(fmt.Sprintf(format, v...)) }
func (l *logger) Debugf(format string, v ...any)  { l.to.Debug(fmt.Sprintf(format, v...)) }
func (l *logger) Tracef(format string, v ...any)  { l.to.Debug(fmt.Sprintf(format, v...)) }

func (l *logger) Warnf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	for _, known := range knownWarnings {
		if strings.HasPrefix(text, known) {
			l.to.Debug(text)
			return
		}
	}
	l.to.Warn(text)
	l.remember(text)
	if file, cuts := aboutToCut(text); cuts {
		if err := l.beforeCut(file); err != nil {
			l.to.Error("copy a damaged file of the log", "file", file, "error", err)
		}
		l.stopped("a record in " + file + " is damaged")
	}
}

// aboutToCut says which file the server ends at a damaged record after it wrote
// this to its log.
func aboutToCut(text string) (file string, cuts bool) {
	_, rest, found := strings.Cut(text, "indexCacheBuf corrupt record state in ")
	file, _, named := strings.Cut(rest, ": ")
	return file, found && named
}

// stopped keeps the first reason why the server stores no more.
func (l *logger) stopped(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures++
	if l.failure == "" {
		l.failure = strings.TrimSpace(reason)
		l.failed <- struct{}{}
	}
}

func (l *logger) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.to.Error(text)
	l.remember(text)
	if strings.Contains(text, "eafnode") || strings.Contains(text, " - lid:") { // of a connection to a hub
		l.mu.Lock()
		l.leaf = strings.TrimSpace(text)
		l.mu.Unlock()
	}
	if stopsStoring(text) {
		l.stopped(text)
	}
}

// stopsStoring says that the server, after it wrote this to its log, stores
// nothing more in a stream, or in all.
func stopsStoring(text string) bool {
	for _, part := range []string{"ritical write error", "will be DISABLED", "disabling JetStream"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// mended is called when what failed works again, with how many failures there were
// when that was begun. It returns whether there was none since.
func (l *logger) mended(failures int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failures != failures {
		return false
	}
	l.failure = ""
	return true
}

func (l *logger) failedTimes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failures
}

func (l *logger) writeFailure() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// leafFailure is why the hub was not reached the last time that it was told.
func (l *logger) leafFailure() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leaf
}

// Fatalf is called for what stops a server of its own from starting. It must
// not end this process.
func (l *logger) Fatalf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.to.Error(text)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fatals = append(l.fatals, errors.New(text))
}

func (l *logger) remember(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.started {
		l.warnings = append(l.warnings, strings.TrimSpace(text))
	}
}

func (l *logger) fatal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.fatals...)
}

// about returns the start's warnings that name a stream, and keeps no more.
func (l *logger) about(stream string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []string
	for _, w := range l.warnings {
		if strings.Contains(w, stream) {
			found = append(found, w)
		}
	}
	return strings.Join(found, "; ")
}

func (l *logger) startOver() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started, l.warnings = true, nil
}
