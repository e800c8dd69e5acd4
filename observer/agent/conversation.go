package agent

import (
	"context"
	"strings"
	"time"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

const (
	// unbounded is a conversation whose tokens nobody bounds.
	unbounded = -1
	// maxResponse bounds one response of a model, in bytes.
	maxResponse = 512 << 10
	// maxHistory bounds what a conversation remembers of earlier messages, in
	// bytes of text.
	maxHistory = 1 << 20
	// lastWords is how long what has to be recorded may take after a stop.
	lastWords = 10 * time.Second
)

// Watcher hears of what runs do, while they do it. It is safe for concurrent
// use and keeps nobody waiting.
type Watcher interface {
	Watch(f schemas.AgentFrame)
}

// conversation is one run. It serves one message at a time.
type conversation struct {
	engine    *Engine
	id        string
	run       dialect.Run
	file      string // of the outermost caller's constitution
	workspace string
	model     string
	watch     Watcher
	confirm   Confirm
	tokens    int // that it may still write, or unbounded

	messages  []Message
	taint     dialect.Taint
	reused    map[command]found
	images    int // of the message that is being made
	artifacts int
	panes     *panes
}

func (c *conversation) agent() string { return c.run.Constitution.Name }

// origin is that of what the agent writes to others, and to itself for later.
func (c *conversation) origin(text string) string {
	if c.taint.FromOutside() || c.taint.Dictated(text) {
		return schemas.OriginOutside
	}
	return schemas.OriginAgent
}

func (c *conversation) limits() dialect.Limits { return c.engine.o.Limits }

func (c *conversation) show(kind, text string) {
	c.showFrame(schemas.AgentFrame{Kind: kind, Text: text})
}

func (c *conversation) showFrame(f schemas.AgentFrame) {
	if c.watch == nil {
		return
	}
	f.Run, f.Agent, f.Depth = c.id, c.agent(), len(c.run.Chain)
	c.watch.Watch(f)
}

// record appends events of this run.
func (c *conversation) record(ctx context.Context, payloads ...schemas.Payload) error {
	if len(payloads) == 0 {
		return nil
	}
	return record(ctx, c.engine.o.Log, entry(schemas.AgentRun(c.id), schemas.Agent(host, "", c.agent())), payloads)
}

// recordLast appends what has to be recorded although the run is being stopped.
func (c *conversation) recordLast(ctx context.Context, payloads ...schemas.Payload) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	return c.record(ctx, payloads...)
}

// said adds what the model said to the history.
func (c *conversation) said(text string) {
	if text == "" {
		text = "(nothing)" // model servers refuse an empty message
	}
	c.messages = append(c.messages, Message{Assistant: true, Text: text})
}

// tell adds a message of the user's side. Images of earlier turns are let go:
// they were attached to those.
func (c *conversation) tell(text string, images []verbs.Image) {
	for i := range c.messages {
		c.messages[i].Images = nil
	}
	if n := len(c.messages); n > 0 && !c.messages[n-1].Assistant {
		c.messages[n-1].Text += "\n\n" + text
		c.messages[n-1].Images = images
		return
	}
	c.messages = append(c.messages, Message{Text: text, Images: images})
}

// forget bounds the history before a further message.
func (c *conversation) forget() {
	size := 0
	for i := len(c.messages) - 1; i >= 0; i-- {
		size += len(c.messages[i].Text)
		if size > maxHistory && !c.messages[i].Assistant {
			c.messages = append([]Message{{Text: "[earlier messages of this conversation were let go]"}, {Assistant: true, Text: "(noted)"}}, c.messages[i+1:]...)
			for len(c.messages) > 2 && c.messages[2].Assistant {
				c.messages = append(c.messages[:2:2], c.messages[3:]...)
			}
			return
		}
	}
}

// message asks the agent and records how it ended.
func (c *conversation) message(ctx context.Context, text string) schemas.AgentFinished {
	x := &exchange{c: c, text: text, began: c.engine.o.Now()}
	c.reused, c.panes = map[command]found{}, firstPanes(c.panes)
	c.forget()
	c.tell(joined(text, c.background(ctx, text)), nil)
	for done := false; !done; {
		done = x.step(ctx)
	}
	return x.ended(ctx)
}

func (c *conversation) background(ctx context.Context, text string) string {
	if c.engine.o.Background == nil {
		return ""
	}
	background := c.engine.o.Background(ctx, About{Run: c.id, Agent: c.agent(), Workspace: c.workspace, Message: text})
	c.taint.Add(background)
	return background
}

// recorded runs the commands of a response that was recorded.
func (c *conversation) recorded(ctx context.Context, transcript []byte) (string, schemas.AgentFinished) {
	x := &exchange{c: c, began: c.engine.o.Now()}
	c.reused, c.panes = map[command]found{}, firstPanes(c.panes)
	r := newResponse(c, 1)
	r.take(string(transcript))
	r.close()
	batch := ""
	if err := c.recordReply(ctx, r); err != nil {
		x.fail(err)
	} else {
		batch, _ = c.dispatch(ctx, r)
		x.finish("answered", strings.TrimSpace(string(r.visible)), "")
		if ctx.Err() != nil {
			x.finish("stopped", "", "it was stopped")
		}
	}
	return batch, x.ended(ctx)
}

// joined sets texts apart as paragraphs.
func joined(texts ...string) string { return excerpt.Joined("\n\n", texts...) }
