package workspace

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/writbus/writ/observer/agent/verbs"
)

const (
	// lingering is how long what a command left may go on by itself: a shell does
	// not wait for the end of ">(tee log)".
	lingering = 200 * time.Millisecond
	// killed is the exit status of what never began: that of what was killed.
	killed = 137
)

// grace is what a command gets to end after its time is up, and what its output
// gets to arrive after all ended. Tests, whose machine may be slow, grant more.
var grace = 2 * time.Second

// quietly are variables for programs whose output nobody looks at while it
// comes, and whose questions nobody answers.
var quietly = []string{"TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "NO_COLOR=1"}

// exec is /exec COMMAND.
func (w *handlers) exec(ctx context.Context, c verbs.Call) (verbs.Result, error) {
	command := strings.TrimSpace(c.Args)
	if strings.ContainsRune(command, 0) {
		return verbs.Err("the command holds a NUL", "write it as plain text"), nil
	}
	f, err := openFolder(c)
	if err != nil {
		return told(err)
	}
	defer f.close()
	act := Act{Command: command}
	d, err := w.Gate.Ask(ctx, c, act)
	if err != nil {
		return verbs.Result{}, err
	}
	if r, refused := d.refused(c); refused {
		return r, nil
	}
	l := limits(c)
	started := time.Now()
	ran := run(ctx, f.path, command, d, l.Exec, l.Output)
	report := Report{Failed: ran.exit != 0 || ran.err != nil, Millis: time.Since(started).Milliseconds()}
	if report.Failed {
		report.Error = ran.ending(l.Exec)
	}
	more, err := w.Gate.Done(context.WithoutCancel(ctx), c, act, d.Ticket, report)
	return ran.result(l.Exec, min(l.Body, l.Output), join(d.Context, more)), err
}

// ran is a command that was run.
type ran struct {
	out    *output
	exit   int
	late   bool  // its time was up
	ended  bool  // its conversation ended before it
	behind bool  // something that it started was still at work, and was ended
	err    error // it could not be started
}

// run runs a command and everything it starts to their end.
func run(ctx context.Context, dir, command string, d Decision, limit time.Duration, most int) ran {
	argv := d.Argv
	if len(argv) == 0 {
		argv = []string{"/bin/sh", "-c", command}
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r := ran{out: &output{most: most}}
	from, to, err := os.Pipe()
	if err != nil {
		r.err = err
		return r
	}
	defer func() { _ = from.Close() }() // all that is wanted was read
	cmd := exec.CommandContext(timed, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, to, to
	cmd.Env = append(append(verbs.Environment(os.Environ()), quietly...), d.Env...)
	cmd.WaitDelay = grace
	group(cmd, d.Supervised)
	err = cmd.Start()
	_ = to.Close()                        // the command has its own
	if err != nil && timed.Err() != nil { // it had no time to begin
		r.late, r.ended, r.exit = ctx.Err() == nil, ctx.Err() != nil, killed
		return r
	}
	if err != nil {
		r.err = err
		return r
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(r.out, from) // ends with the pipe, or when it is closed
	}()
	err = cmd.Wait()
	within(read, lingering)
	r.behind = endGroup(cmd)
	if !within(read, grace) {
		r.behind = true
		_ = from.Close()
		<-read
	}
	r.exit = status(cmd.ProcessState)
	if timed.Err() != nil && err != nil {
		r.late, r.ended = ctx.Err() == nil, ctx.Err() != nil
	}
	return r
}

// within reports whether something happens in time.
func within(done <-chan struct{}, limit time.Duration) bool {
	select {
	case <-done:
		return true
	case <-time.After(limit):
		return false
	}
}

// ending says how a command ended, "" where it ended by itself and well.
func (r ran) ending(limit time.Duration) string {
	switch {
	case r.err != nil:
		return "cannot be started: " + r.err.Error()
	case r.late:
		return fmt.Sprintf("stopped after %s", limit)
	case r.ended:
		return "stopped with its conversation"
	case r.exit != 0:
		return fmt.Sprintf("exit %d", r.exit)
	}
	return ""
}

// result makes a result of at most limit bytes whose last line is the status.
func (r ran) result(limit time.Duration, most int, more string) verbs.Result {
	if r.err != nil {
		return verbs.Err("the command "+r.ending(limit), "check that its program is there")
	}
	var tail strings.Builder
	if r.behind && !r.late && !r.ended {
		tail.WriteString("WARN: what the command left running in the background was ended.\n")
	}
	if more != "" {
		tail.WriteString(more + "\n")
	}
	if r.late || r.ended {
		fmt.Fprintf(&tail, "ERR: %s, with everything it had started. Adapt: run something shorter, or a part of it.\n", r.ending(limit))
	}
	fmt.Fprintf(&tail, "[exit %d]\n", r.exit)
	const note = 200 // bytes of what is said about a cut, and about where the whole is kept
	text, cut := r.out.text(max(most-tail.Len()-note, 0))
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	result := verbs.Content(verbs.TrustShell, text+tail.String()).With("exit", strconv.Itoa(r.exit)).With("bytes", strconv.FormatInt(r.out.total, 10))
	result.End = tail.Len()
	if r.late || r.ended {
		result.Outcome = verbs.Failed
	}
	if cut {
		whole, _ := r.out.text(r.out.most)
		result.Keep = []verbs.Artifact{{Name: "output", MIME: "text/plain; charset=utf-8", Data: []byte(whole), Size: len(whole)}}
	}
	return result
}
