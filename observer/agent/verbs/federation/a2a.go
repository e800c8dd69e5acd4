package federation

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
	"github.com/a2aproject/a2a-go/a2aclient/agentcard"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas/excerpt"
)

// Peer is an agent elsewhere.
type Peer struct {
	URL     string            `yaml:"url"`     // where its card is: the base address, or the card itself
	Headers map[string]string `yaml:"headers"` // sent with every request
}

// A2A is the handler of /a2a.
type A2A struct {
	peers map[string]Peer
	now   func(d time.Duration) <-chan time.Time

	mu    sync.Mutex
	talks map[talk]string // the peer's id of the conversation
}

// talk is one conversation with one peer.
type talk struct{ run, peer string }

const maxTalks = 10_000

// NewA2A makes the handler of /a2a for peers by name.
func NewA2A(peers map[string]Peer) *A2A {
	return &A2A{peers: peers, now: time.After, talks: map[talk]string{}}
}

// Handle runs /a2a list, card and call.
func (h *A2A) Handle(ctx context.Context, c verbs.Call) (verbs.Result, error) {
	if c.Sub == "list" {
		return h.list(c), nil
	}
	name, message := cutWord(c.Rest)
	peer, known := h.peers[name]
	switch {
	case c.Sub != "card" && c.Sub != "call":
		return verbs.Err("/a2a has no "+firstWord(c.Args), "write /a2a list, /a2a card NAME or /a2a call NAME MESSAGE"), nil
	case name == "":
		return verbs.Err("/a2a "+c.Sub+" needs the name of a peer", "/a2a list shows them"), nil
	case !known:
		return verbs.Err("there is no peer "+name, "/a2a list shows those there are"), nil
	case c.Sub == "call" && message == "":
		return verbs.Err("there is no message for "+name, "write /a2a call NAME MESSAGE"), nil
	}
	card, err := resolve(ctx, peer)
	if err != nil {
		return troubled(name, err), nil
	}
	if c.Sub == "card" {
		return shownCard(name, card), nil
	}
	return h.call(ctx, c, name, peer, card, message), nil
}

// list names the peers that the agent may talk to.
func (h *A2A) list(c verbs.Call) verbs.Result {
	if strings.TrimSpace(c.Rest) != "" {
		return verbs.Err("/a2a list takes no argument", "write /a2a list alone")
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h.peers)) {
		if c.Grant.Check(dialect.Request{Verb: "a2a", Args: "call " + name, Workspace: c.Workspace}).Verdict == dialect.Allow {
			fmt.Fprintf(&out, "%s %s\n", name, h.peers[name].URL)
		}
	}
	if out.Len() == 0 {
		return verbs.OK("no peers that you may talk to")
	}
	return verbs.OK("peers:\n%s", strings.TrimRight(out.String(), "\n"))
}

// resolve gets a peer's card.
func resolve(ctx context.Context, p Peer) (*a2a.AgentCard, error) {
	base, path := p.URL, ""
	if u, err := url.Parse(p.URL); err == nil && strings.HasSuffix(u.Path, ".json") {
		path = u.Path
		u.Path, u.RawPath = "", ""
		base = u.String()
	}
	var options []agentcard.ResolveOption
	if path != "" {
		options = append(options, agentcard.WithPath(path))
	}
	return agentcard.NewResolver(bounded(withHeaders(p.Headers))).Resolve(ctx, base, options...)
}

func shownCard(name string, card *a2a.AgentCard) verbs.Result {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s %s (A2A %s)\n", name, card.Name, card.Version, card.ProtocolVersion)
	if text := excerpt.Bytes(excerpt.Line(card.Description), 2*maxDescription); text != "" {
		fmt.Fprintf(&out, "%s\n", text)
	}
	fmt.Fprintf(&out, "takes %s, gives %s\n", strings.Join(card.DefaultInputModes, ", "), strings.Join(card.DefaultOutputModes, ", "))
	for _, s := range card.Skills {
		fmt.Fprintf(&out, "- %s: %s. %s\n", s.ID, s.Name, excerpt.Bytes(excerpt.Line(s.Description), maxDescription))
	}
	return verbs.Content(verbs.TrustPeer, out.String())
}

// spoken lists the protocols that a card names; ok says that JSON-RPC is one.
func spoken(card *a2a.AgentCard) (kinds string, ok bool) {
	all := []string{string(card.PreferredTransport)}
	for _, i := range card.AdditionalInterfaces {
		all = append(all, string(i.Transport))
	}
	return strings.Join(all, ", "), slices.Contains(all, string(a2a.TransportProtocolJSONRPC))
}

func (h *A2A) call(ctx context.Context, c verbs.Call, name string, p Peer, card *a2a.AgentCard, text string) verbs.Result {
	client, err := connect(ctx, p, card)
	if err != nil {
		return troubled(name, err)
	}
	defer func() { _ = client.Destroy() }() // it holds nothing that is not through
	message := a2a.NewMessage(a2a.MessageRoleUser, a2a.TextPart{Text: text})
	where := talk{c.Run, name}
	message.ContextID = h.context(where)
	wait := true
	event, err := client.SendMessage(ctx, &a2a.MessageSendParams{Message: message, Config: &a2a.MessageSendConfig{Blocking: &wait}})
	if err != nil {
		return troubled(name, misread(err, "its answer is neither a task nor a message"))
	}
	if task, ok := event.(*a2a.Task); ok {
		if task, err = h.finish(ctx, client, task); err != nil {
			return troubled(name, err)
		}
		h.remember(where, task.ContextID)
		return ofTask(name, task)
	}
	answer, ok := event.(*a2a.Message)
	if !ok {
		return troubled(name, fmt.Errorf("it answered a %T", event))
	}
	h.remember(where, answer.ContextID)
	r := verbs.Content(verbs.TrustPeer, "")
	r.Text = ofParts(&r, name, answer.Parts)
	return r
}

// context is the peer's id of the conversation so far, "" for a new one.
func (h *A2A) context(t talk) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.talks[t]
}

func (h *A2A) remember(t talk, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.talks) >= maxTalks {
		clear(h.talks) // a peer then takes what follows for a new conversation
	}
	h.talks[t] = id
}

// Steps of asking again about a task that a peer works on.
const (
	firstPoll = 200 * time.Millisecond
	lastPoll  = 5 * time.Second
)

// finish waits until a peer is through with a task, or wants to know something.
func (h *A2A) finish(ctx context.Context, client *a2aclient.Client, task *a2a.Task) (*a2a.Task, error) {
	for pause := firstPoll; !task.Status.State.Terminal(); pause = min(2*pause, lastPoll) {
		if s := task.Status.State; s == a2a.TaskStateInputRequired || s == a2a.TaskStateAuthRequired {
			return task, nil
		}
		select {
		case <-h.now(pause):
		case <-ctx.Done():
			cancel(ctx, client, task.ID)
			return nil, ctx.Err()
		}
		next, err := client.GetTask(ctx, &a2a.TaskQueryParams{ID: task.ID})
		switch {
		case err != nil && ctx.Err() != nil:
			cancel(ctx, client, task.ID)
			return nil, ctx.Err()
		case err != nil:
			return nil, misread(err, "its answer is no task")
		case next.ID != task.ID || next.Status.State == "":
			return nil, peerErrorf("it was asked about task %q and answers about %q", task.ID, next.ID)
		}
		task = next
	}
	return task, nil
}

// misread says what an answer is not, where it came and the SDK could not read
// it.
func misread(err error, what string) error {
	if _, ok := errors.AsType[*url.Error](err); ok {
		return err
	}
	return peerErrorf("%s: %w", what, err)
}

// ofTask makes a result of a task that is through.
func ofTask(name string, task *a2a.Task) verbs.Result {
	r := verbs.Content(verbs.TrustPeer, "")
	var parts []string
	if m := task.Status.Message; m != nil {
		parts = append(parts, ofParts(&r, name, m.Parts))
	}
	for _, a := range task.Artifacts {
		parts = append(parts, ofParts(&r, name, a.Parts))
	}
	text := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
	switch state := task.Status.State; state {
	case a2a.TaskStateCompleted:
		r.Text = text
		if text == "" && len(r.Images) == 0 && len(r.Keep) == 0 {
			return verbs.OK("%s is done and says nothing", name)
		}
	case a2a.TaskStateInputRequired:
		r.Text = "WARN: " + name + " wants to know more; answer with /a2a call " + name + " MESSAGE.\n\n" + text
	default:
		r.Outcome = verbs.Failed
		r.Text = verbs.Err("peer "+name+": "+string(state), "ask otherwise, or do it yourself").Text + "\n\n" + text
	}
	return r.With("state", string(task.Status.State)).With("task", string(task.ID))
}

// ofParts is the text of some parts; files go to r.
func ofParts(r *verbs.Result, name string, parts a2a.ContentParts) string {
	var all []string
	for _, part := range parts {
		switch part := part.(type) {
		case a2a.TextPart:
			all = append(all, part.Text)
		case *a2a.TextPart:
			all = append(all, part.Text)
		case a2a.DataPart:
			all = append(all, indented(part.Data))
		case *a2a.DataPart:
			all = append(all, indented(part.Data))
		case a2a.FilePart:
			all = append(all, ofFile(r, name, part.File))
		case *a2a.FilePart:
			all = append(all, ofFile(r, name, part.File))
		default:
			all = append(all, fmt.Sprintf("[a part of an unknown kind: %T]", part))
		}
	}
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), "\n")
}

func indented(data any) string {
	raw, err := json.MarshalIndent(data, "", "  ")
	if err != nil {
		return "[data that cannot be shown: " + err.Error() + "]"
	}
	return string(raw)
}

func ofFile(r *verbs.Result, peer string, file a2a.FilePartContent) string {
	switch file := file.(type) {
	case a2a.FileURI:
		return fmt.Sprintf("[file: %s %s %s]", file.Name, file.MimeType, file.URI)
	case a2a.FileBytes:
		data, err := base64.StdEncoding.DecodeString(file.Bytes)
		if err != nil {
			return "[file: " + file.Name + ", which cannot be decoded]"
		}
		name := cmp.Or(file.Name, peer)
		return attach(r, name, file.MimeType, data)
	}
	return fmt.Sprintf("[a file of an unknown kind: %T]", file)
}

// troubled says why a peer did not answer.
func troubled(name string, err error) verbs.Result {
	var refused *rpcError
	switch {
	case errors.As(err, &refused):
		r := verbs.Err("peer "+name+" refused: "+refused.Error(), "ask otherwise; /a2a card "+name+" shows what it does")
		r.Trust = verbs.TrustPeer
		return r
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return verbs.Err("no answer from peer "+name+" in time", "ask for less, or try again later")
	}
	r := verbs.Err("peer "+name+" cannot be asked: "+causeOf(err), "try again later, or do it yourself")
	r.Trust = verbs.TrustPeer
	return r
}

// causeOf leaves away what clients put around the cause of a failure.
func causeOf(err error) string {
	if ours, ok := errors.AsType[*peerError](err); ok {
		return ours.Error()
	}
	if transport, ok := errors.AsType[*url.Error](err); ok {
		return transport.Err.Error()
	}
	return err.Error()
}
