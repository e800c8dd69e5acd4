package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas"
)

// clockwork is an engine with schedules on a log, in the time of a bubble.
type clockwork struct {
	*bench
	*books
	schedules *Schedules
	mu        sync.Mutex
	fired     []string
	refuse    error
}

func newClockwork(t *testing.T, log *books, name string) *clockwork {
	c := &clockwork{books: log}
	c.bench = newBench(t, map[string]string{"dev": "/schedule", "lead": "*"}, nil, func(o *Options) { o.Log = log.writer() })
	c.bench.model.answer = func(Prompt) (string, Reply, error) { return "Done.", Reply{Whole: true}, nil }
	n := 0
	c.schedules = NewSchedules(ScheduleOptions{
		Log: log.writer(), Views: log, Engine: c.engine, Now: time.Now, Zone: "UTC",
		NewID: func() string { c.mu.Lock(); defer c.mu.Unlock(); n++; return fmt.Sprintf("%s-%08d", name, n) },
		Fire: func(ctx context.Context, s Start) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.refuse != nil {
				return c.refuse
			}
			if _, err := c.engine.Run(ctx, s); err != nil {
				return err
			}
			c.fired = append(c.fired, time.Now().UTC().Format("15:04 ")+s.Message)
			return nil
		},
		Problem: func(err error) { t.Log(err) },
	})
	return c
}

// schedule runs one /schedule in a conversation of dev.
func (c *clockwork) schedule(t *testing.T, args string) verbs.Result {
	t.Helper()
	return c.scheduleIn(t, c.newID(), args)
}

func (c *clockwork) scheduleIn(t *testing.T, id, args string) verbs.Result {
	t.Helper()
	asking := &conversation{engine: c.engine, id: id, file: filepath.Join(c.dir, "dev.json"), workspace: c.dir}
	c.engine.mu.Lock()
	c.engine.live[id] = asking
	c.engine.mu.Unlock()
	defer c.engine.end(asking)
	call := verbs.NewCall("schedule", args, nil)
	call.Run, call.Agent, call.Workspace = id, "dev", c.dir
	r, err := c.schedules.Handler().Handle(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (c *clockwork) fires() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.fired, "|")
}

func TestSchedulesFire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // begins at midnight of 2000-01-01 UTC
		log := newBooks(time.Now)
		c := newClockwork(t, log, "a")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go c.schedules.Run(ctx)
		if r := c.schedule(t, "in 5 minutes: look"); !strings.Contains(r.Text, "first fires at 2000-01-01 00:05 UTC") {
			t.Fatal(r.Text)
		}
		c.schedule(t, "every 2 hours: report")
		for _, bad := range []string{"in 0 minutes: x", "on 1999-01-01: x", "whenever: x", "in 5 minutes", "cancel", "pause nothing"} {
			if r := c.schedule(t, bad); !strings.HasPrefix(r.Text, "ERR:") {
				t.Errorf("%s: %s", bad, r.Text)
			}
		}
		time.Sleep(4*time.Hour + time.Minute)
		synctest.Wait()
		want := "00:05 [schedule s00000001, due 2000-01-01 00:05 UTC]\nlook|" +
			"02:00 [schedule s00000002, due 2000-01-01 02:00 UTC]\nreport|04:00 [schedule s00000002, due 2000-01-01 04:00 UTC]\nreport"
		if got := c.fires(); got != want {
			t.Errorf("fired %s\nwant %s", got, want)
		}
		if r := c.schedule(t, "list"); r.Text != "- s00000002 every 2 hours: report (next 2000-01-01 06:00 UTC)\n" {
			t.Errorf("list %q", r.Text)
		}
	})
}

// What an agent scheduled needs its workspace, and fires where that is.
func TestWhatAnotherDaemonsAgentScheduledDoesNotFireHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newBooks(time.Now)
		a, b := newClockwork(t, log, "a"), newClockwork(t, log, "b")
		a.schedules.Daemon, b.schedules.Daemon = "a", "b"
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		err := Claim(ctx, log.writer(), 0, schemas.AgentRun("r1"), schemas.Writ("test"),
			schemas.AgentStarted{Agent: "dev", Message: "m", Trigger: "cli", File: "f", Workspace: "w", Daemon: "a"})
		if err != nil {
			t.Fatal(err)
		}
		a.scheduleIn(t, "r1", "hourly: tick")
		go b.schedules.Run(ctx)
		time.Sleep(3*time.Hour + time.Minute)
		synctest.Wait()
		if b.fires() != "" {
			t.Errorf("the other daemon fired %s", b.fires())
		}
		go a.schedules.Run(ctx)
		synctest.Wait()
		if n := strings.Count(a.fires(), "tick"); n != 1 {
			t.Errorf("its own fired %d times: %s", n, a.fires())
		}
	})
}

// Of two daemons on one log one fires; what nobody fired is made up for once,
// and said so.
func TestEachFireOnceAcrossDaemonsAndRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newBooks(time.Now)
		a, b := newClockwork(t, log, "a"), newClockwork(t, log, "b")
		ctx, stop := context.WithCancel(t.Context())
		go a.schedules.Run(ctx)
		go b.schedules.Run(ctx)
		a.schedule(t, "hourly: tick")
		b.schedules.Wake()
		time.Sleep(3*time.Hour + time.Minute)
		synctest.Wait()
		if n := len(a.fired) + len(b.fired); n != 3 {
			t.Errorf("%d fires of 3: %s and %s", n, a.fires(), b.fires())
		}
		stop()
		synctest.Wait()
		time.Sleep(5 * time.Hour) // nobody is there
		c := newClockwork(t, log, "c")
		ctx, stop = context.WithCancel(t.Context())
		defer stop()
		go c.schedules.Run(ctx)
		synctest.Wait()
		if got := c.fires(); strings.Count(got, "tick") != 1 || !strings.Contains(got, "due 2000-01-01 08:00 UTC; 4 earlier time(s)") {
			t.Errorf("fired %s", got)
		}
	})
}

func TestPausedSchedules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClockwork(t, newBooks(time.Now), "a")
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go c.schedules.Run(ctx)
		c.schedule(t, "every 1 hour: tick")
		c.schedule(t, "in 30 minutes: once")
		for _, id := range []string{"s00000001", "s00000002"} {
			if r := c.schedule(t, "pause "+id); !strings.HasPrefix(r.Text, "OK:") {
				t.Fatal(r.Text)
			}
		}
		time.Sleep(150 * time.Minute)
		synctest.Wait()
		if got := c.fires(); got != "" {
			t.Errorf("a paused one fired: %s", got)
		}
		c.schedule(t, "resume s00000001")
		c.schedule(t, "resume s00000002")
		time.Sleep(time.Hour)
		synctest.Wait()
		want := "02:30 [schedule s00000002, due 2000-01-01 00:30 UTC, 2h0m0s late]\nonce|03:00 [schedule s00000001, due 2000-01-01 03:00 UTC]\ntick"
		if got := c.fires(); got != want {
			t.Errorf("fired %s", got)
		}
		if r := c.schedule(t, "cancel s00000001"); r.Text != "OK: s00000001 is cancelled" {
			t.Error(r.Text)
		}
		if r := c.schedule(t, "resume s00000002"); !strings.Contains(r.Text, "is over") {
			t.Error(r.Text)
		}
		time.Sleep(5 * time.Hour)
		synctest.Wait()
		if got := c.fires(); got != want {
			t.Errorf("a cancelled one fired: %s", got)
		}
	})
}

// A daemon that dies between claim and start leaves a run that another begins.
func TestAClaimIsStartedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newBooks(time.Now)
		a := newClockwork(t, log, "a")
		a.refuse = errScripted
		ctx, stop := context.WithCancel(t.Context())
		go a.schedules.Run(ctx)
		a.schedule(t, "in 5 minutes: look")
		time.Sleep(5*time.Minute + time.Second)
		stop()
		synctest.Wait()
		b := newClockwork(t, log, "b")
		b.dir = a.dir
		ctx, stop = context.WithCancel(t.Context())
		defer stop()
		go b.schedules.Run(ctx)
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		if got := b.fires(); strings.Count(got, "look") != 1 {
			t.Errorf("fired %q", got)
		}
		if n := len(recordedOf[schemas.ScheduleFired](&log.events)); n != 1 {
			t.Errorf("%d claims", n)
		}
	})
}

// What can never begin is recorded as a run that failed, and not tried again.
func TestAHopelessFireIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClockwork(t, newBooks(time.Now), "a")
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		c.refuse = fmt.Errorf("%w: it is gone", ErrNoAgent)
		go c.schedules.Run(ctx)
		c.schedule(t, "in 5 minutes: look")
		time.Sleep(time.Hour)
		synctest.Wait()
		finished := recordedOf[schemas.AgentFinished](&c.books.events)
		if len(finished) != 1 || finished[0].Outcome != Failed || !strings.Contains(finished[0].Reason, "it is gone") {
			t.Errorf("%+v", finished)
		}
	})
}

// A schedule that a child made fires with what its callers grant.
func TestAFireHasItsCallersGrant(t *testing.T) {
	b := newBench(t, map[string]string{"lead": "/agent /read", "dev": "*"}, map[string][]string{"dev": {"/read a\n/exec b\n", "Done."}})
	s := b.start("lead", "x")
	s.Chain, s.Agent, s.Trigger = []string{"lead"}, "dev", TriggerSchedule
	if _, err := b.engine.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if got := b.ran(); got != "/read a" {
		t.Errorf("ran %s", got)
	}
	s.Run, s.Agent = "r2", "lead"
	if _, err := b.engine.Run(t.Context(), s); !errors.Is(err, ErrDelegation) {
		t.Errorf("%v", err)
	}
	s.Run, s.Chain = "r3", []string{"other"}
	if _, err := b.engine.Run(t.Context(), s); !errors.Is(err, ErrNoAgent) {
		t.Errorf("%v", err)
	}
}
