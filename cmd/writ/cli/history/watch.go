package history

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/observer/replay"
	"github.com/writbus/writ/schemas"
)

// follower is a connection that reads streams as they grow.
type follower interface {
	Follow(ctx context.Context, s schemas.Stream, after uint64, o bus.FollowOptions, fn func([]schemas.Record) error) error
}

func (a *app) watchCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "watch",
		Short: "Show events as they happen, until Ctrl-C",
		Example: `  writ watch
  writ watch --session 5e2c… --data
  writ watch --rule ENF-GATE-PLAN
  writ watch --json --type tool.decided`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return a.watch(ctx, f)
		},
	}
	f.onlyFlags(c.Flags())
	return c
}

func (a *app) watch(ctx context.Context, f replayFlags) error {
	streams, err := streamsOf("watch", f)
	if err != nil {
		return err
	}
	s, err := a.Open(ctx, client.RoleDashboard)
	if err != nil {
		return client.Explain("watch", err)
	}
	defer s.Close()
	from, err := lastRecords(ctx, s)
	if err != nil {
		return client.Explain("watch", err)
	}
	reader, ok := s.(follower)
	if !ok {
		return client.Refused("watch", "this connection cannot follow the log", "")
	}
	if !a.JSON {
		a.Note("Watching; Ctrl-C ends.")
	}
	return a.followAll(ctx, reader, streams, from, f)
}

// lastRecords are the sequences of the streams' last records.
func lastRecords(ctx context.Context, s client.Service) (map[schemas.Stream]uint64, error) {
	status, err := client.Call[schemas.Status](ctx, s, schemas.SvcStatus, struct{}{})
	last := map[schemas.Stream]uint64{}
	for _, stream := range status.Streams {
		last[stream.Name] = stream.Last
	}
	return last, err
}

// followAll prints the records of several streams as they come, one at a time.
func (a *app) followAll(ctx context.Context, reader follower, streams []schemas.Stream, from map[schemas.Stream]uint64, f replayFlags) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var output sync.Mutex
	var all sync.WaitGroup
	for _, stream := range streams {
		all.Go(func() {
			err := reader.Follow(ctx, stream, from[stream], bus.FollowOptions{}, func(records []schemas.Record) error {
				output.Lock()
				defer output.Unlock()
				for _, r := range records {
					if err := a.showRecord(r, f); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil && ctx.Err() == nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return client.Explain("watch", err)
	}
	return nil
}

func (a *app) showRecord(r schemas.Record, f replayFlags) error {
	for _, e := range replay.Show(r) {
		switch {
		case e.Undecodable != "":
			e.Time = a.Env.Now()
		case f.session != "" && e.Aggregate.ID != f.session, f.eventType != "" && string(e.Type) != f.eventType, !replay.NamesRule(e, f.rule):
			continue
		}
		if err := a.showEvent(e, f.data); err != nil {
			return err
		}
	}
	return nil
}
