package history

import (
	"context"
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
	"github.com/writbus/writ/observer/replay"
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
	var requests []schemas.ReplayRequest
	for _, stream := range streams {
		r := base
		if end := ends[stream]; end > uint64(f.limit) {
			if r.After, err = latestAfter(ctx, s, stream, end, uint64(f.limit)); err != nil {
				return client.Explain(what, err)
			}
		}
		r.Stream = stream
		requests = append(requests, r)
	}
	says := replay.Says(f.text)
	shown, pace := 0, replay.Pacer{Speed: f.speed, Longest: f.maxPause}
	var kept []schemas.ReplayEvent // the latest, where only they are shown
	for e, err := range replay.Merged(ctx, pagesOf(s), requests...) {
		if err != nil {
			return client.Explain(what, err)
		}
		if (f.limit > 0 && shown == f.limit) || last > 0 && e.Position.Seq > last {
			break
		}
		if !replay.NamesRule(e, f.rule) || !says(e) {
			continue
		}
		if f.latest && f.limit > 0 {
			if kept = append(kept, e); len(kept) > 2*f.limit {
				kept = append(kept[:0], kept[len(kept)-f.limit:]...)
			}
			continue
		}
		if err := wait(ctx, pace.Pause(e.Time)); err != nil {
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

// ends are the last sequences of the streams, where the latest records are all
// that is looked at.
func ends(ctx context.Context, s client.Service, f replayFlags, base schemas.ReplayRequest) (map[schemas.Stream]uint64, error) {
	if !f.latest || f.limit <= 0 || f.text != "" || f.rule != "" || base != (schemas.ReplayRequest{}) {
		return nil, nil
	}
	return lastRecords(ctx, s)
}

// latestAfter is the record behind which a stream has so many events: one record may
// hold thousands.
func latestAfter(ctx context.Context, s client.Service, stream schemas.Stream, end, events uint64) (uint64, error) {
	for back := uint64(1); back < events; back *= 8 {
		page, err := pagesOf(s)(ctx, schemas.ReplayRequest{Stream: stream, After: end - back, Limit: int(min(events, 500))})
		if err != nil || uint64(len(page.Events)) >= events {
			return end - back, err
		}
	}
	return end - events, nil
}

func streamsOf(what string, f replayFlags) ([]schemas.Stream, error) {
	if f.eventType != "" && !slices.Contains(schemas.Types(), schemas.Type(f.eventType)) {
		return nil, client.Usage(fmt.Sprintf("%s: there is no event %q%s", what, f.eventType, client.Meant(f.eventType, schemas.Types())), "`writ help reference` has all of them.")
	}
	if f.session != "" {
		return []schemas.Stream{schemas.StreamSessions}, nil
	}
	if f.stream == "" {
		return schemas.Streams(), nil
	}
	if stream, ok := replay.Stream(f.stream); ok {
		return []schemas.Stream{stream}, nil
	}
	return nil, client.Usage(fmt.Sprintf("%s: there is no stream %q", what, f.stream), fmt.Sprintf("The streams are %v.", schemas.Streams()))
}

// wait returns after a pause, or the error of ctx.
func wait(ctx context.Context, pause time.Duration) error {
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

// pagesOf asks the daemon for pages of the log.
func pagesOf(s client.Service) replay.Pages {
	return func(ctx context.Context, r schemas.ReplayRequest) (schemas.ReplayPage, error) {
		return client.Call[schemas.ReplayPage](ctx, s, schemas.SvcReplay, r)
	}
}

// showEvent prints one event: a line for people, an object for programs.
func (a *app) showEvent(e schemas.ReplayEvent, withData bool) error {
	return a.Print(e, func() {
		st := a.Env.Style(a.Out)
		name := fmt.Sprintf("%-20s", e.Type)
		summary := replay.Summary(e)
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
			name, st.Dim(fmt.Sprintf("%-6s", replay.Actor(e.Actor))), summary)
		if withData {
			a.Printf("       %s\n", e.Data)
		}
	})
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
