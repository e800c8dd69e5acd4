package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/filelock"
)

// stopBudget bounds waiting for a daemon to finish what it has begun.
const stopBudget = 15 * time.Second

type downReply struct {
	Stopped bool `json:"stopped"`
	PID     int  `json:"pid,omitempty"`
}

func (a *app) downCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "down",
		Short:   "Stop the daemon; it finishes what it has begun",
		Example: `  writ down`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			reply, err := a.stopDaemon(cmd.Context())
			if err != nil {
				return client.Explain("stop the daemon", err)
			}
			switch {
			case a.JSON:
				return a.PrintJSON(reply)
			case reply.Stopped:
				a.Printf("The daemon (process %d) has stopped.\n", reply.PID)
			default:
				a.Printf("No daemon runs.\n")
			}
			return nil
		},
	}
}

func (a *app) stopDaemon(ctx context.Context) (downReply, error) {
	dataDir, err := a.Env.DataDir()
	if err != nil {
		return downReply{}, err
	}
	s, at, err := started(ctx, a, dataDir)
	switch {
	case errors.Is(err, config.ErrNoDaemon):
		return downReply{}, nil
	case errors.Is(err, bus.ErrUnavailable) && launch.Alive(at.PID):
		return downReply{}, &client.Fault{
			What: "stop the daemon", Why: fmt.Sprintf("process %d holds %s and does not answer", at.PID, dataDir),
			Todo: "Ask again in a moment, or end that process yourself: nothing that it acknowledged is lost.",
		}
	case err != nil:
		return downReply{}, err
	}
	defer s.Close()
	// A daemon may be gone before its answer has left: whether it stopped is
	// asked of the process.
	if _, err := client.Call[struct{}](ctx, s, schemas.SvcStop, struct{}{}); err != nil && !errors.Is(err, bus.ErrUnavailable) {
		return downReply{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, stopBudget)
	defer cancel()
	for a.stillThere(dataDir, at) {
		select {
		case <-ctx.Done():
			return downReply{}, &client.Fault{
				What: "stop the daemon", Why: fmt.Sprintf("process %d was asked to and still runs", at.PID),
				Todo: "Its log, " + config.Layout{Root: dataDir}.DaemonLog() + ", says what it waits for.",
			}
		case <-time.After(20 * time.Millisecond):
		}
	}
	return downReply{Stopped: true, PID: at.PID}, nil
}

// started reaches the daemon, once it answers where it is just starting, and none once one that was ending has.
func started(ctx context.Context, a *app, dataDir string) (s client.Service, at config.Endpoint, err error) {
	ctx, cancel := context.WithTimeout(ctx, stopBudget)
	defer cancel()
	for {
		s, at, err = a.Reach(ctx, client.RoleAdmin)
		if !errors.Is(err, config.ErrNoDaemon) || !filelock.Held(filepath.Join(dataDir, "start.lock")) && !filelock.Held(config.Layout{Root: dataDir}.Lock()) {
			return s, at, err
		}
		select {
		case <-ctx.Done():
			return nil, at, &client.Fault{
				What: "stop the daemon", Why: "another process holds the data folder, " + dataDir + ", and does not answer here",
				Todo: "Ask again in a moment, for it may be starting or ending. Else its daemon runs in another container or on another machine: end it there.",
			}
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// stillThere says whether the daemon goes on: whether it has neither withdrawn its
// announcement nor ended. One that is this process's own child stays a process until it
// is waited for, so the announcement is asked first.
func (a *app) stillThere(dataDir string, at config.Endpoint) bool {
	now, err := config.ReadEndpoint(dataDir)
	if err == nil && now.PID == at.PID {
		return launch.Alive(at.PID)
	}
	return filelock.Held(config.Layout{Root: dataDir}.Lock()) && launch.Alive(at.PID)
}
