package test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/processor"
	"github.com/writbus/writ/test/programs"
)

const (
	largeTurn    = 10 // events of a record: a turn of an agent
	largeSession = 20 // turns of a session
)

// BenchmarkLargeLog fills a log with as many events as WRIT_BENCH_EVENTS says, in turns of
// ten and through the server that a daemon has, and tells what they cost a daemon that
// comes to it: to build all views, to hold, to verify, and to start with after a stop and
// after a kill. It is run once (-benchtime 1x).
func BenchmarkLargeLog(b *testing.B) {
	events := benchEvents(b)
	sessions := events / largeTurn / largeSession
	w := newBenchWith(b, "interval", "memory: {reflect_after: 0}\nshipped_rules: false\n")
	l := &largeLog{bench: w}
	w.run("", "down")
	l.step("append", func() { l.filled(sessions) })
	b.Logf("start without views: %s", w.startDaemon())
	l.step("build", func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			l.followed()
		}()
		l.hooksUntil(done, sessions)
	})
	l.step("hooks", func() { l.hooks(200, sessions) })
	l.step("seal", func() { w.run("", "audit", "checkpoint") })
	l.step("verify", func() { w.run("", "audit", "verify") })
	for _, end := range []string{"stop", "kill", "stop", "kill"} {
		if end == "stop" {
			w.run("", "down")
		} else if err := killDaemon(w.data); err != nil {
			b.Fatal(err)
		}
		b.Logf("start after a %s: %s", end, w.startDaemon())
		l.step("hook after it", func() { l.hooks(1, sessions) })
		l.step("views after it", l.followed)
	}
	for b.Loop() {
	}
}

// filled appends the sessions to the log, through a server in this process.
func (l *largeLog) filled(sessions int) {
	credentials, err := embedded.LoadOrCreateCredentials(filepath.Join(l.data, "credentials"))
	if err != nil {
		l.b.Fatal(err)
	}
	server, err := embedded.Start(l.b.Context(), embedded.Options{Dir: filepath.Join(l.data, "streams"), Durability: embedded.Interval, Users: credentials.Users()})
	if err != nil {
		l.b.Fatal(err)
	}
	defer func() { _ = server.Shutdown(context.Background()) }()
	own := credentials[embedded.RoleDaemon]
	conn, err := bus.Connect(l.b.Context(), bus.Options{Dial: server.Dial, User: own.User, Password: own.Password})
	if err != nil {
		l.b.Fatal(err)
	}
	defer conn.Close()
	daemon := conn.Writer(bus.WriterOptions{Source: "/writ/bench"})
	if _, err := together(64, sessions, func(i int) error { return l.session(daemon, i) }); err != nil {
		l.b.Fatal(err)
	}
}

type largeLog struct{ *bench }

// step does something and tells what it took and what the daemon then holds.
func (l *largeLog) step(name string, do func()) {
	l.b.Helper()
	daemon, err := programs.Announced(l.data)
	if err != nil { // nobody serves the log
		began, before := time.Now(), processor.Time()
		do()
		l.b.Logf("%s: %s, %s of the processors; on disk %s", name, time.Since(began).Round(time.Millisecond), processor.Time()-before, l.onDisk())
		return
	}
	began, before := time.Now(), l.processorTime()
	do()
	took := time.Since(began).Round(time.Millisecond)
	process := filepath.Join("/proc", strconv.Itoa(daemon.PID))
	l.b.Logf("%s: %s, %s of the daemon's processors; %.0f MiB in memory, %.0f of its own, %.0f at most so far; on disk %s", name, took, l.processorTime()-before,
		statusMiB(l.b, process, "VmRSS"), statusMiB(l.b, process, "RssAnon"), statusMiB(l.b, process, "VmHWM"), l.onDisk())
}

// onDisk is what each folder of the data folder occupies.
func (l *largeLog) onDisk() string {
	var said strings.Builder
	entries, err := os.ReadDir(l.data)
	if err != nil {
		l.b.Fatal(err)
	}
	for _, entry := range entries {
		var bytes int64
		_ = filepath.WalkDir(filepath.Join(l.data, entry.Name()), func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return nil //nolint:nilerr // files come and go
			}
			if info, err := e.Info(); err == nil {
				bytes += info.Size()
			}
			return nil
		})
		if bytes > 1<<20 {
			fmt.Fprintf(&said, "%s %d MiB ", entry.Name(), bytes>>20)
		}
	}
	return said.String()
}

// session appends the turns of a session, and an observation with each fifth.
func (l *largeLog) session(to *bus.Writer, i int) error {
	at := time.Now().Add(-time.Duration(i) * time.Second)
	for turn := range largeSession {
		var record []schemas.Payload
		for n := range largeTurn {
			record = append(record, largeEvent(turn*largeTurn+n, l.project))
		}
		_, err := bus.Record(l.b.Context(), to, schemas.Event{
			Time: at, Actor: schemas.ParseActor("agent"), Aggregate: schemas.Session("s-" + strconv.Itoa(i)), Data: record[0],
		}, record[1:]...)
		if err != nil {
			return err
		}
	}
	_, err := bus.Record(l.b.Context(), to, schemas.Event{
		Time: at, Actor: schemas.ParseActor("bench"), Aggregate: schemas.Memory("scope-" + strconv.Itoa(i%100)),
		Data: schemas.ObservationRecorded{
			ObservationID: "o" + strconv.Itoa(i), Original: []byte("the build needs Go 1.26"), Text: "the build needs Go 1.26",
			Verdict: "allow", Confidence: 0.8, Reason: "classified", GateVersion: "v1",
		},
	})
	if i%20000 == 0 {
		l.b.Logf("%s: session %d", time.Now().Format(time.TimeOnly), i)
	}
	return err
}

// largeEvent is the nth event of a session.
func largeEvent(n int, project string) schemas.Payload {
	if n == largeTurn*largeSession-1 {
		return schemas.SessionEnded{Reason: "exit", Written: n / 2}
	}
	return bustest.Work(n, project)
}

// followed returns once every view is at the end of the log.
func (l *largeLog) followed() {
	for lagging := true; lagging; {
		<-time.After(time.Second)
		var s schemas.Status
		raw, err := l.command("", "status", "--json").Output() // a busy daemon may be asked again
		if lagging = err != nil || json.Unmarshal(raw, &s) != nil; lagging {
			continue
		}
		for _, v := range s.Views {
			lagging = lagging || v.Lag > 0 || v.State != "live"
		}
	}
}

// hooks asks for decisions in sessions of the log, one after the other.
func (l *largeLog) hooks(n, sessions int) {
	conn := l.connect("hook")
	defer conn.Close()
	var took durations
	for i := range n {
		began := time.Now()
		if _, err := conn.Request(l.b.Context(), l.request("s-"+strconv.Itoa(i*7919%sessions))); err != nil {
			l.b.Error(err)
		}
		took = append(took, time.Since(began))
	}
	l.b.Logf("%d hooks: p50 %s, p95 %s", n, took.at(.5), took.at(.95))
}

// hooksUntil asks for some decisions a second until something is done.
func (l *largeLog) hooksUntil(done <-chan struct{}, sessions int) {
	for next := time.NewTicker(20 * time.Second); ; {
		select {
		case <-done:
			next.Stop()
			return
		case <-next.C:
			l.hooks(50, sessions)
		}
	}
}
