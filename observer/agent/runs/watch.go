package runs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

const (
	// watchedBytes bounds what is kept of a run for whoever watches it; the log
	// has all of it.
	watchedBytes = 1 << 20
	// followedBytes bounds one answer to a watcher.
	followedBytes = 512 << 10
	// joinedBytes bounds a frame that pieces of prose are joined to.
	joinedBytes = 8 << 10
	// followWait is how long a follower waits for the next frame.
	followWait = 4 * time.Second
)

// liveRun is a run at work, as it is watched and steered.
type liveRun struct {
	id     string
	cancel context.CancelCauseFunc

	mu        sync.Mutex
	frames    []schemas.AgentFrame
	bytes     int
	last      uint64 // sequence of the last frame
	sent      uint64 // of the last frame that somebody fetched
	lost      int
	more      chan struct{} // closed at the next change
	done      bool
	finished  *schemas.AgentFinished
	batch     string
	questions map[string]chan bool
}

func newLiveRun(id string, cancel context.CancelCauseFunc) *liveRun {
	return &liveRun{id: id, cancel: cancel, more: make(chan struct{}), questions: map[string]chan bool{}}
}

// Watch implements agent.Watcher. Prose that nobody fetched yet is joined, so
// that a model that says a byte at a time costs no frame for each.
func (l *liveRun) Watch(f schemas.AgentFrame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.frames); n > 0 && f.Kind == schemas.FrameProse {
		before := &l.frames[n-1]
		if before.Kind == f.Kind && before.Run == f.Run && before.Seq > l.sent && len(before.Text) < joinedBytes {
			before.Text += f.Text
			l.bytes += len(f.Text)
			l.changed()
			return
		}
	}
	l.last++
	f.Seq = l.last
	l.frames = append(l.frames, f)
	l.bytes += len(f.Text)
	for l.bytes > watchedBytes && len(l.frames) > 1 {
		l.bytes -= len(l.frames[0].Text)
		if l.frames[0].Seq > l.sent {
			l.lost++
		}
		l.frames = l.frames[1:]
	}
	l.changed()
}

func (l *liveRun) changed() {
	close(l.more)
	l.more = make(chan struct{})
}

// end notes how the run ended.
func (l *liveRun) end(f schemas.AgentFinished, batch string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done, l.finished, l.batch = true, &f, batch
	l.changed()
}

// follow returns what comes after a frame, waiting for it a while.
func (l *liveRun) follow(ctx context.Context, after uint64) schemas.AgentFollowReply {
	waiting, done := context.WithTimeout(ctx, followWait)
	defer done()
	for {
		reply, more := l.after(after)
		if len(reply.Frames) > 0 || reply.Done {
			return reply
		}
		select {
		case <-more:
		case <-waiting.Done():
			return reply
		}
	}
}

func (l *liveRun) after(after uint64) (reply schemas.AgentFollowReply, more chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	size := 0
	for _, f := range l.frames {
		if f.Seq <= after {
			continue
		}
		if size += len(f.Text); size > followedBytes && len(reply.Frames) > 0 {
			break
		}
		reply.Frames = append(reply.Frames, f)
		l.sent = max(l.sent, f.Seq)
	}
	// What was fetched once is let go at the next call.
	for len(l.frames) > 0 && l.frames[0].Seq <= after {
		l.bytes -= len(l.frames[0].Text)
		l.frames = l.frames[1:]
	}
	reply.Lost, l.lost = l.lost, 0
	if l.done && (len(reply.Frames) == 0 || reply.Frames[len(reply.Frames)-1].Seq == l.last) {
		reply.Done, reply.Finished, reply.Batch = true, l.finished, l.batch
	}
	return reply, l.more
}

// confirm puts a question to whoever watches.
func (l *liveRun) confirm(ctx context.Context, question string) bool {
	id, answer := bus.NewID(), make(chan bool, 1)
	l.mu.Lock()
	l.questions[id] = answer
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.questions, id)
		l.mu.Unlock()
	}()
	l.Watch(schemas.AgentFrame{Kind: schemas.FrameConfirm, Run: l.id, ID: id, Text: question})
	waiting, done := context.WithTimeout(ctx, schemas.AgentAnswerWithin)
	defer done()
	select {
	case yes := <-answer:
		return yes
	case <-waiting.Done():
		return false
	}
}

// answer takes the answer to a question; ok is false where nobody asks it.
func (l *liveRun) answer(id string, yes bool) (ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	question := l.questions[id]
	if question == nil {
		return false
	}
	delete(l.questions, id)
	question <- yes
	return true
}

var errStoppedByUser = errors.New("the user stopped it")
