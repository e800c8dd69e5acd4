package history

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/writbus/writ/cmd/writ/cli/agents"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// replayFlags say which part of the log is shown.
type replayFlags struct {
	session, run, stream, eventType, since, until string
	rule, text                                    string // only what names this rule, or says this in lower case
	data                                          bool
	limit                                         int
	latest                                        bool          // the limit keeps the last ones, not the first
	speed                                         float64       // times as fast as it happened; 0 is at once
	maxPause                                      time.Duration // of a replay at a speed
}

func (a *app) replayCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay",
		Short: "Show the log, in order",
		Long: `Shows what is in the log: one stream, or all of them merged by time. Times are
RFC 3339, a date, or how long ago (15m, 24h). Of one stream or session, --from and
--to also take the sequences of records; the record at --to is the last.

With --speed it happens again, so many times as fast as it did; where nothing
happened for long it waits --max-pause and goes on.`,
		Example: `  writ replay --since 1h
  writ replay --stream sessions --from 812 --to 840
  writ replay --from 15m --speed 10
  writ replay --stream WRIT_RULES --type rule.imported
  writ replay --json > log.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.run != "" {
				return agents.ShowRun(cmd.Context(), a.Client, "replay", f.run)
			}
			return a.replay(cmd.Context(), "replay", f)
		},
	}
	flags := c.Flags()
	f.rangeFlags(flags)
	f.onlyFlags(flags)
	flags.StringVar(&f.run, "run", "", "this run of an agent, as a conversation")
	flags.IntVar(&f.limit, "limit", 0, "stop after this many events")
	return c
}

// onlyFlags say which events of a stretch are shown, and how.
func (f *replayFlags) onlyFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.stream, "stream", "", "only this stream, such as WRIT_SESSIONS or sessions")
	flags.StringVar(&f.session, "session", "", "only this session")
	flags.StringVar(&f.eventType, "type", "", "only events of this type")
	flags.StringVar(&f.rule, "rule", "", "only events that name this rule")
	flags.BoolVar(&f.data, "data", false, "show each event's data")
}

// rangeFlags say which stretch is shown, and how fast.
func (f *replayFlags) rangeFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.since, "since", "", "from this time or record on")
	flags.StringVar(&f.until, "until", "", "before this time, or up to this record")
	flags.StringVar(&f.since, "from", "", "the same as --since")
	flags.StringVar(&f.until, "to", "", "the same as --until")
	flags.Lookup("from").Hidden, flags.Lookup("to").Hidden = true, true
	flags.Float64Var(&f.speed, "speed", 0, "show it this many times as fast as it happened (0: at once)")
	flags.DurationVar(&f.maxPause, "max-pause", 5*time.Second, "longest wait between two events of --speed")
}

// stretch is which part of each stream is asked for; last is a sequence, 0 for
// none.
func (a *app) stretch(what string, f replayFlags) (base schemas.ReplayRequest, last uint64, err error) {
	base = schemas.ReplayRequest{Session: f.session, Type: f.eventType}
	if f.speed < 0 || math.IsNaN(f.speed) {
		return base, 0, client.Usage(what+": --speed must not be negative", "10 is ten times as fast as it happened.")
	}
	from, err := a.ThenOf(what, f.since)
	if err != nil {
		return base, 0, err
	}
	to, err := a.ThenOf(what, f.until)
	if err != nil {
		return base, 0, err
	}
	if (from.Seq > 0 || to.Seq > 0) && f.session == "" && f.stream == "" {
		return base, 0, client.Usage(what+": a sequence is one stream's", "Add --stream or --session, or give times.")
	}
	base.Since, base.Until = from.Time, to.Time
	if from.Seq > 0 {
		base.After = from.Seq - 1
	}
	return base, to.Seq, nil
}

func (a *app) replay(ctx context.Context, what string, f replayFlags) error {
	if f.limit < 0 {
		return client.Usage(fmt.Sprintf("%s: --limit %d is no number of events", what, f.limit), "Give a number from 1 on, or 0 for all.")
	}
	base, last, err := a.stretch(what, f)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	streams, err := streamsOf(what, f)
	if err != nil {
		return err
	}
	s, err := a.Open(ctx, client.RoleAdmin)
	if err != nil {
		return client.Explain(what, err)
	}
	defer s.Close()
	ends, err := ends(ctx, s, f, base)
	if err != nil {
		return client.Explain(what, err)
	}
	var cursors []*cursor
	for _, stream := range streams {
		c := &cursor{service: s, request: base}
		if end := ends[stream]; end > uint64(f.limit) {
			c.request.After = end - uint64(f.limit)
		}
		c.request.Stream = stream
		cursors = append(cursors, c)
	}
	said, err := asWritten(f.text)
	if err != nil {
		return err
	}
	shown, pace := 0, pacer{speed: f.speed, longest: f.maxPause}
	var kept []schemas.ReplayEvent // the latest, where only they are shown
	for {
		e, more, err := earliest(ctx, cursors)
		if err != nil {
			return client.Explain(what, err)
		}
		if !more || (f.limit > 0 && shown == f.limit) || last > 0 && e.Position.Seq > last {
			break
		}
		if !namesRule(e, f.rule) || !bytes.Contains(bytes.ToLower(e.Data), said) {
			continue
		}
		if f.latest && f.limit > 0 {
			if kept = append(kept, e); len(kept) > 2*f.limit {
				kept = append(kept[:0], kept[len(kept)-f.limit:]...)
			}
			continue
		}
		if err := pace.wait(ctx, e.Time); err != nil {
			return nil //nolint:nilerr // Ctrl-C ends a replay
		}
		shown++
		if err := a.showEvent(e, f.data); err != nil {
			return err
		}
	}
	for _, e := range kept[max(len(kept)-f.limit, 0):] {
		shown++
		if err := a.showEvent(e, f.data); err != nil {
			return err
		}
	}
	switch {
	case shown == 0 && f.text != "" && !a.JSON:
		a.Printf("No event says that.\n")
	case shown == 0 && f.session != "" && f.eventType == "" && f.text == "" && f.rule == "":
		return client.Refused(what, "the log has no events of session "+f.session, "`writ session list` shows the sessions.")
	}
	return nil
}

// asWritten is a text as it stands within a string of JSON, in lower case.
func asWritten(text string) ([]byte, error) {
	written, err := json.Marshal(strings.ToLower(text))
	if err != nil {
		return nil, err
	}
	return written[1 : len(written)-1], nil
}

// ends are the last sequences of the streams, where the latest records are all
// that is looked at.
func ends(ctx context.Context, s client.Service, f replayFlags, base schemas.ReplayRequest) (map[schemas.Stream]uint64, error) {
	if !f.latest || f.limit <= 0 || f.text != "" || f.rule != "" || base != (schemas.ReplayRequest{}) {
		return nil, nil
	}
	return lastRecords(ctx, s)
}

func streamsOf(what string, f replayFlags) ([]schemas.Stream, error) {
	if f.session != "" {
		return []schemas.Stream{schemas.StreamSessions}, nil
	}
	if f.stream == "" {
		return schemas.Streams(), nil
	}
	for _, stream := range schemas.Streams() {
		if strings.EqualFold(f.stream, string(stream)) || strings.EqualFold("WRIT_"+f.stream, string(stream)) {
			return []schemas.Stream{stream}, nil
		}
	}
	return nil, client.Usage(fmt.Sprintf("%s: there is no stream %q", what, f.stream), fmt.Sprintf("The streams are %v.", schemas.Streams()))
}

// pacer waits between events as long as they were apart, times as fast.
type pacer struct {
	speed   float64
	longest time.Duration
	before  time.Time
}

// wait returns when the event of a time is due, or the error of ctx.
func (p *pacer) wait(ctx context.Context, at time.Time) error {
	pause := p.pause(at)
	if pause <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pause is how long an event comes after the one before.
func (p *pacer) pause(at time.Time) time.Duration {
	before := p.before
	p.before = at
	if p.speed == 0 || before.IsZero() || !at.After(before) {
		return 0
	}
	return min(time.Duration(float64(at.Sub(before))/p.speed), p.longest)
}

// namesRule says whether an event is about a rule: its own, one that decided,
// or one that was shown, followed or broken.
func namesRule(e schemas.ReplayEvent, rule string) bool {
	if rule == "" || e.Aggregate.Kind == schemas.KindRule && e.Aggregate.ID == rule {
		return true
	}
	var data any
	return bytes.Contains(e.Data, []byte(rule)) && json.Unmarshal(e.Data, &data) == nil && holdsText(data, rule)
}

// holdsText looks for a value, not for a part of one: what a prompt says about
// a rule is not about it.
func holdsText(data any, text string) bool {
	switch v := data.(type) {
	case string:
		return v == text
	case []any:
		return slices.ContainsFunc(v, func(one any) bool { return holdsText(one, text) })
	case map[string]any:
		for key, one := range v {
			if key == text || holdsText(one, text) {
				return true
			}
		}
	}
	return false
}

// cursor reads one stream page by page.
type cursor struct {
	service client.Service
	request schemas.ReplayRequest
	page    []schemas.ReplayEvent
	end     bool
}

// head is the cursor's next event, nil at the end.
func (c *cursor) head(ctx context.Context) (*schemas.ReplayEvent, error) {
	for len(c.page) == 0 && !c.end {
		page, err := client.Call[schemas.ReplayPage](ctx, c.service, schemas.SvcReplay, c.request)
		if err != nil {
			return nil, err
		}
		c.page, c.end = page.Events, page.End || page.Next <= c.request.After
		c.request.After = page.Next
	}
	if len(c.page) == 0 {
		return nil, nil
	}
	return &c.page[0], nil
}

// earliest takes the event with the smallest time among the streams' next
// ones. Within a stream the log's order stands.
func earliest(ctx context.Context, cursors []*cursor) (schemas.ReplayEvent, bool, error) {
	var from *cursor
	for _, c := range cursors {
		e, err := c.head(ctx)
		if err != nil {
			return schemas.ReplayEvent{}, false, err
		}
		if e != nil && (from == nil || e.Time.Before(from.page[0].Time)) {
			from = c
		}
	}
	if from == nil {
		return schemas.ReplayEvent{}, false, nil
	}
	e := from.page[0]
	from.page = from.page[1:]
	return e, true, nil
}

// showEvent prints one event: a line for people, an object for programs.
func (a *app) showEvent(e schemas.ReplayEvent, withData bool) error {
	return a.Print(e, func() {
		st := a.Env.Style(a.Out)
		name := fmt.Sprintf("%-20s", e.Type)
		summary := summarise(e)
		switch {
		case e.Undecodable != "":
			name, summary = st.Red(name), e.Undecodable
		case strings.Contains(summary, "deny"):
			name = st.Red(name)
		case strings.HasPrefix(string(e.Type), "gate.approved"):
			name = st.Green(name)
		default:
			name = st.Cyan(name)
		}
		seq := fmt.Sprint(e.Position.Seq)
		if e.Position.Part > 0 {
			seq += fmt.Sprintf(".%d", e.Position.Part)
		}
		a.Printf("%s %s %s %s\n", st.Dim(fmt.Sprintf("%6s %s", seq, e.Time.Local().Format("01-02 15:04:05.000"))),
			name, st.Dim(fmt.Sprintf("%-6s", actorWord(e.Actor))), summary)
		if withData {
			a.Printf("       %s\n", e.Data)
		}
	})
}

// actorWord says in one word who did something: the kind of actor, or the name
// of an agent that the log gives no host of.
func actorWord(text string) string {
	actor := schemas.ParseActor(text)
	if host, _, name := actor.Agent(); host == "" && name != "" {
		return name
	}
	return string(actor.Kind())
}

// summaryFields are the fields of event data that say most, in this order.
var summaryFields = []string{
	"verdict", "rule", "tool", "gate", "to", "channel", "prompt", "reason", "source", "hook", "host", "phase",
	"trigger", "path", "verb", "text", "title",
}

// summarise is the short form of an event's data: what of it fits a line.
func summarise(e schemas.ReplayEvent) string {
	var data map[string]any
	if json.Unmarshal(e.Data, &data) != nil {
		return ""
	}
	var parts []string
	if e.Aggregate.Kind != schemas.KindSession && e.Aggregate.ID != "" {
		parts = append(parts, e.Aggregate.ID)
	}
	for _, field := range summaryFields {
		if text, ok := data[field].(string); ok && text != "" {
			parts = append(parts, client.Shorten(client.OneLine(text), 60))
		}
	}
	if rules, ok := data["rules"].([]any); ok {
		parts = append(parts, shownIDs(rules)...)
	}
	if targets, ok := data["targets"].([]any); ok {
		for _, t := range targets {
			if target, ok := t.(map[string]any); ok {
				parts = append(parts, targetName(target))
			}
		}
	}
	return client.Shorten(strings.Join(slices.Compact(parts), " · "), 160)
}

func shownIDs(rules []any) []string {
	var ids []string
	for _, r := range rules {
		if rule, ok := r.(map[string]any); ok {
			if id, ok := rule["id"].(string); ok {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

func targetName(target map[string]any) string {
	for _, key := range []string{"rel", "path"} {
		if text, ok := target[key].(string); ok && text != "" {
			return text
		}
	}
	return "?"
}

// marshal is JSON without HTML's escapes.
func marshal(value any) (json.RawMessage, error) {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimRight(buf.Bytes(), "\n"), err
}

func (a *app) sessionReplayCommand() *cobra.Command {
	f := replayFlags{}
	c := &cobra.Command{
		Use: "replay [SESSION]", Short: "Show everything that happened in a session",
		Example: "  writ session replay 5e2c…\n  writ session replay --json | jq -r .type",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := a.ResolveSession(cmd.Context(), "session replay", client.First(args))
			if err != nil {
				return err
			}
			if len(args) == 0 {
				a.Note("session %s", client.ShortSession(session))
			}
			f.session = session
			return a.replay(cmd.Context(), "session replay", f)
		},
	}
	f.rangeFlags(c.Flags())
	c.Flags().StringVar(&f.eventType, "type", "", "only events of this type")
	c.Flags().StringVar(&f.rule, "rule", "", "only events that name this rule")
	c.Flags().BoolVar(&f.data, "data", false, "show each event's data")
	return c
}
