package hook

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/enforcement/testrun"
	"github.com/writbus/writ/schemas"
)

// behindEvent stands in the place of a host's event for the process that runs the
// tests of a turn: it outlives the hook where they take longer than that waits.
const behindEvent = "--behind"

// taken is what the hook answers where it has read the result: then the process
// need not report it.
const taken = "taken\n"

// job is what the process is handed.
type job struct {
	Run     schemas.TestRun
	Call    hookCall
	Payload []byte
	Root    string
}

// tested runs the tests that have to come before a turn ends, and makes the call
// again with their result. What takes longer than the turn waits goes on.
func (h *hook) tested(ctx context.Context, event string, run schemas.TestRun) schemas.HookReply {
	first := h.call.Load()
	if first == nil {
		return h.failing(hookCall{Event: event}, errInternal)
	}
	result, err := h.inProcess(ctx, job{Run: run, Call: *first, Payload: first.payload, Root: *h.project.Load()})
	if err != nil { // no process can be made: they run here, as long as they take
		result = h.run(ctx, run)
	}
	if err := h.takeResult(result); err != nil {
		return h.failing(*first, err)
	}
	return h.within(ctx, func(ctx context.Context, call *hookCall) schemas.HookReply {
		*call = *first
		reply, err := h.ask(ctx, *call, *h.project.Load())
		if err != nil {
			return h.failing(*call, err)
		}
		reply.Tests = nil
		return reply
	}, event)
}

func (h *hook) run(ctx context.Context, run schemas.TestRun) schemas.TestResult {
	vars := h.app.Env.Vars
	if dir, err := h.app.Env.DataDir(); err == nil {
		vars = append(vars[:len(vars):len(vars)], "WRIT_HOME="+dir)
	}
	return testrun.Run(ctx, run, testrun.World{Writ: h.app.Env.Executable, Vars: vars})
}

// takeResult is what the next call reports.
func (h *hook) takeResult(result schemas.TestResult) error {
	raw, err := json.Marshal(result)
	h.result = base64.StdEncoding.EncodeToString(raw)
	return err
}

// inProcess has a process of its own run the tests, and waits for its result as
// long as the turn may be held.
func (h *hook) inProcess(ctx context.Context, j job) (schemas.TestResult, error) {
	var result schemas.TestResult
	raw, err := json.Marshal(j)
	if err != nil {
		return result, err
	}
	child := exec.Command(h.app.Env.Executable, "hook", h.agent, behindEvent)
	child.Dir, child.Env = h.app.Env.Dir, h.app.Env.Vars
	launch.Detach(child)
	in, err := child.StdinPipe()
	if err != nil {
		return result, err
	}
	out, err := child.StdoutPipe()
	if err != nil {
		return result, err
	}
	if err := child.Start(); err != nil {
		return result, err
	}
	// in stays open until this process ends: then the other knows that the daemon has
	// been told of it, and reports by itself.
	if _, err := in.Write(append(raw, '\n')); err != nil {
		return result, err
	}
	line := make(chan []byte, 1)
	go func() {
		defer close(line)
		if raw, err := bufio.NewReader(out).ReadBytes('\n'); err == nil {
			line <- raw
		}
	}()
	wait := time.NewTimer(time.Duration(j.Run.WaitMillis)*time.Millisecond - time.Since(h.began))
	defer wait.Stop()
	select {
	case raw := <-line:
		if err := json.Unmarshal(raw, &result); err != nil {
			return result, err // it ended without a result
		}
		_, _ = io.WriteString(in, taken) // one that is gone reports nothing either
		return result, nil
	case <-wait.C:
	case <-ctx.Done():
	}
	return schemas.TestResult{ID: j.Run.ID, Behind: true}, nil
}

// behind is the process that runs tests. It hands the result to the hook, or
// reports it where that has gone.
func (h *hook) behind(ctx context.Context) int {
	in := bufio.NewReader(h.app.In)
	raw, err := in.ReadBytes('\n')
	var j job
	if err != nil || json.Unmarshal(raw, &j) != nil {
		return 2
	}
	signal.Ignore(syscall.SIGPIPE) // whoever would read the result may be gone
	result := h.run(ctx, j.Run)
	raw, err = json.Marshal(result)
	if err != nil {
		return 2
	}
	if _, err := h.app.Out.Write(append(raw, '\n')); err == nil {
		if said, _ := in.ReadString('\n'); said == taken {
			return 0
		}
	}
	if err := h.takeResult(result); err != nil {
		return 2
	}
	j.Call.payload = j.Payload
	if _, err := h.ask(ctx, j.Call, j.Root); err != nil {
		return 2
	}
	return 0
}
