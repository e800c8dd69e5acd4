package top

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

const (
	// refresh is how often the daemon is asked; events come by themselves.
	refresh = time.Second
	// askBudget bounds one question.
	askBudget = 5 * time.Second
	// backlog is how many records of the past begin the list.
	backlog = 300
	// listedSessions are asked for.
	listedSessions = 50
)

// Daemon is the connection that is read from.
type Daemon interface {
	Request(ctx context.Context, r bus.Request) (bus.Reply, error)
	Follow(ctx context.Context, s schemas.Stream, after uint64, o bus.FollowOptions, fn func([]schemas.Record) error) error
}

// Options are the world of a run.
type Options struct {
	In      io.Reader // a terminal
	Out     io.Writer // a terminal
	Environ []string
	Now     func() time.Time
	// Writ is the path of the client, which alone approves and declines: it asks
	// whether a person is at the terminal, and shows what waits.
	Writ string
}

// Run shows the live view until the person quits or ctx ends.
func Run(ctx context.Context, d Daemon, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first, err := ask(ctx, d, o.Now)
	if err != nil {
		return err
	}
	program := tea.NewProgram(model{snapshot: first, ready: true, now: o.Now, open: o.open(ctx)},
		tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Environ))
	go poll(ctx, d, o.Now, program.Send)
	go follow(ctx, d, first, program.Send)
	_, err = program.Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil || errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	return err
}

// open hands the terminal to a command of the client.
func (o Options) open(ctx context.Context) func(args ...string) tea.Cmd {
	return func(args ...string) tea.Cmd {
		c := exec.CommandContext(ctx, o.Writ, args...)
		c.Env = o.Environ
		return tea.Exec(&shown{Cmd: c}, func(err error) tea.Msg {
			if exit := (*exec.ExitError)(nil); err == nil || errors.As(err, &exit) {
				return nil // it said itself what it did not do
			}
			return troubleMsg{err}
		})
	}
}

// shown is a command whose last words stay until the person has read them.
type shown struct{ *exec.Cmd }

func (s *shown) SetStdin(r io.Reader)  { s.Stdin = r }
func (s *shown) SetStdout(w io.Writer) { s.Stdout = w }
func (s *shown) SetStderr(w io.Writer) { s.Stderr = w }

// Run implements tea.ExecCommand.
func (s *shown) Run() error {
	err := s.Cmd.Run()
	if _, failed := fmt.Fprint(s.Stdout, "\nEnter goes back to writ top. "); failed != nil {
		return errors.Join(err, failed)
	}
	for key := make([]byte, 1); ; {
		if n, end := s.Stdin.Read(key); end != nil || n > 0 && key[0] == '\n' {
			return err
		}
	}
}

// poll asks again and again. A daemon that does not answer is said, and asked
// again.
func poll(ctx context.Context, d Daemon, now func() time.Time, send func(tea.Msg)) {
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s, err := ask(ctx, d, now)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			send(troubleMsg{err})
		default:
			send(snapshotMsg(s))
		}
	}
}

// follow hands over events as they come, with some of the past before.
func follow(ctx context.Context, d Daemon, s Snapshot, send func(tea.Msg)) {
	err := d.Follow(ctx, schemas.StreamSessions, after(s), bus.FollowOptions{}, func(records []schemas.Record) error {
		send(linesMsg(linesOf(records)))
		return nil
	})
	if err != nil && ctx.Err() == nil {
		send(troubleMsg{err})
	}
}

func after(s Snapshot) uint64 {
	for _, stream := range s.Status.Streams {
		if stream.Name == schemas.StreamSessions && stream.Last > backlog {
			return stream.Last - backlog
		}
	}
	return 0
}

func linesOf(records []schemas.Record) (lines []Line) {
	for _, r := range records {
		events, err := r.Events()
		if err != nil {
			continue // it is in the quarantine
		}
		for _, e := range events {
			if strings.HasPrefix(e.Aggregate.ID, schemas.ProbeSession) {
				continue // writ doctor's
			}
			if l, listed := LineOf(e); listed {
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// ask makes a snapshot.
func ask(ctx context.Context, d Daemon, now func() time.Time) (s Snapshot, err error) {
	ctx, cancel := context.WithTimeout(ctx, askBudget)
	defer cancel()
	s.At = now()
	var list schemas.SessionList
	for _, q := range []struct {
		subject       string
		request, into any
	}{
		{schemas.SvcStatus, struct{}{}, &s.Status},
		{schemas.SvcSessions, schemas.SessionQuery{Limit: listedSessions}, &list},
		{schemas.SvcWaits, struct{}{}, &s.Waits},
		{schemas.SvcActivity, schemas.ActivityRequest{Hours: 1}, &s.Activity},
	} {
		body, err := json.Marshal(q.request)
		if err != nil {
			return s, err
		}
		reply, err := d.Request(ctx, bus.Request{Subject: q.subject, Body: body})
		if err != nil {
			return s, err
		}
		if err := json.Unmarshal(reply.Body, q.into); err != nil {
			return s, fmt.Errorf("the daemon's answer to %s: %w", q.subject, err)
		}
	}
	s.Sessions = list.Sessions
	return s, nil
}

// Once writes what the live view would show now, without a terminal: as text of at
// most width cells a line, or as JSON.
func Once(ctx context.Context, d Daemon, out io.Writer, now func() time.Time, width int, asJSON bool) error {
	s, err := ask(ctx, d, now)
	if err != nil {
		return err
	}
	var lines []Line
	err = d.Follow(ctx, schemas.StreamSessions, after(s), bus.FollowOptions{UntilEnd: true}, func(records []schemas.Record) error {
		lines = append(lines, linesOf(records)...)
		return nil
	})
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(out).Encode(struct {
			Snapshot
			Events []Line `json:"events"`
		}{s, lines})
	}
	const height = 40
	m := model{width: width, height: height, snapshot: s, ready: true, now: now, selected: -1}
	m.take(lines)
	var body []string
	body = append(body, m.head()...)
	if waiting := m.waiting(); len(waiting) > 0 {
		body = append(append(body, waiting...), "")
	}
	body = append(body, m.sessions(len(s.Sessions)+2)...)
	body = append(body, m.events(height/2)...)
	for _, line := range body {
		if _, err := fmt.Fprintln(out, ansi.Strip(fit(line, width))); err != nil {
			return err
		}
	}
	return nil
}
