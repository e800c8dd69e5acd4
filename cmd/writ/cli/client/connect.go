package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/cmd/internal/reach"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/filelock"
)

// Roles a client connects in. The names are those of the credential files.
const (
	RoleHook      = "hook"
	RoleDashboard = "dashboard" // reads everything, changes nothing
	RoleAdmin     = "admin"     // approves and administers: the user's own acts
	RoleAgent     = "agent"     // looks things up: the one credential that can be read in confinement
)

// startPatience is how long a command that a person waits for waits for a daemon that
// starts and says nothing new; startTold is how often the person is told what it says.
const startPatience, startTold = 20 * time.Second, 3 * time.Second

// lastLooks and lookAgain are how often, and how far apart, it is looked whether a daemon
// that does not answer is ending.
const lastLooks, lookAgain = 20, 25 * time.Millisecond

// callBudget bounds one request of such a command.
const callBudget = 10 * time.Second

// ImportBudget bounds an import of rules: ten thousand take some ten seconds.
const ImportBudget = 5 * time.Minute

// SearchBudget bounds a full-text search of rules. The first one after they were
// imported builds its index: of ten thousand in some fifteen seconds.
const SearchBudget = 2 * time.Minute

// AuditFolder is where a data directory keeps the evidence of its audit.
func AuditFolder(dataDir string) string { return config.Layout{Root: dataDir}.Audit() }

// Service is the daemon as a client sees it.
type Service interface {
	// Request asks a service. Its errors are those of bus.Conn.Request.
	Request(ctx context.Context, r bus.Request) (bus.Reply, error)
	Close()
}

// connectBus reaches a daemon over the bus, with the credential of a role.
func connectBus(ctx context.Context, at config.Endpoint, dataDir, role string) (Service, error) {
	conn, err := reach.Connect(ctx, at, dataDir, role, bus.Options{Name: "writ " + role, Timeout: callBudget})
	if errors.Is(err, fs.ErrPermission) && role != RoleAgent {
		confined, lesserErr := connectConfined(ctx, at, dataDir)
		if !errors.Is(lesserErr, fs.ErrPermission) && !errors.Is(lesserErr, bus.ErrBadCredentials) {
			return confined, lesserErr
		}
	}
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// connectConfined connects a program that runs confined: the kernel keeps every
// credential from it but the agent's.
func connectConfined(ctx context.Context, at config.Endpoint, dataDir string) (Service, error) {
	conn, err := reach.Connect(ctx, at, dataDir, RoleAgent, bus.Options{Name: "writ " + RoleAgent, Timeout: callBudget})
	if err != nil {
		return nil, err
	}
	return confinedService{conn}, nil
}

// confinedService says why it refuses what its role may not ask.
type confinedService struct{ Service }

func (s confinedService) Request(ctx context.Context, r bus.Request) (bus.Reply, error) {
	reply, err := s.Service.Request(ctx, r)
	if errors.Is(err, bus.ErrDenied) {
		err = fmt.Errorf("%w: %s", errConfined, r.Subject)
	}
	return reply, err
}

// errConfined is returned in confinement for what a confined program may not
// ask of the daemon.
var errConfined = errors.New("a confined command may look things up and propose rules, and no more")

// Connect reaches the daemon at an endpoint, in a role.
func (a *Client) Connect(ctx context.Context, at config.Endpoint, dataDir, role string) (Service, error) {
	if a.Env.Connect != nil {
		return a.Env.Connect(ctx, at, dataDir, role)
	}
	return connectBus(ctx, at, dataDir, role)
}

// LaunchOptions say how the daemon of a data directory is started. The probe is
// a connection in a role, which is handed to keep.
func (a *Client) LaunchOptions(dataDir, role string, keep func(Service)) launch.Options {
	return launch.Options{
		DataDir: dataDir, Executable: a.Env.Executable, Vars: a.Env.Vars,
		Stop: func(ctx context.Context, at config.Endpoint) error { return reach.Stop(ctx, at, dataDir) },
		Probe: func(ctx context.Context, at config.Endpoint) error {
			s, err := a.Connect(ctx, at, dataDir, role)
			if err == nil {
				keep(s)
			}
			return err
		},
	}
}

// start makes sure that a daemon runs.
func (a *Client) start(ctx context.Context, dataDir string) (config.Endpoint, error) {
	at, s, err := a.launch(ctx, dataDir, RoleHook)
	if s != nil {
		s.Close()
	}
	return at, err
}

// Starting is what the daemon of a data directory says that it does before it serves, ""
// where none starts or it does not say.
func Starting(dataDir string) string {
	path := config.Layout{Root: dataDir}.Lock()
	said, err := os.ReadFile(path)
	if err != nil || len(said) == 0 || !filelock.Held(path) {
		return ""
	}
	return OneLine(string(said))
}

// Follow returns a context that ends once a daemon that starts has said nothing new for a
// while. The person is told what it says.
func (a *Client) Follow(ctx context.Context, dataDir string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	tick := time.NewTicker(startPatience / 80)
	go func() {
		defer tick.Stop()
		last, since, told := "", time.Now(), time.Now()
		for time.Since(since) < startPatience {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			said := Starting(dataDir)
			if said == "" || said == last {
				continue
			}
			last, since = said, time.Now()
			if time.Since(told) >= startTold {
				told = since
				a.Note("The daemon starts: %s", said)
			}
		}
		cancel(context.DeadlineExceeded)
	}()
	return ctx, func() { cancel(nil) }
}

// StartConnected makes sure that a daemon runs, and returns the connection that
// showed it.
func (a *Client) StartConnected(ctx context.Context, dataDir, role string) (Service, error) {
	at, s, err := a.launch(ctx, dataDir, role)
	if err != nil || s != nil {
		return s, err
	}
	return a.Connect(ctx, at, dataDir, role)
}

func (a *Client) launch(ctx context.Context, dataDir, role string) (at config.Endpoint, kept Service, err error) {
	start := a.Env.Start
	if start == nil {
		start = launch.Start
	}
	at, err = start(ctx, a.LaunchOptions(dataDir, role, func(s Service) { kept = s }))
	if err != nil && kept != nil {
		kept.Close()
		kept = nil
	}
	return at, kept, err
}

// Reach connects to a running daemon, without starting one.
func (a *Client) Reach(ctx context.Context, role string) (Service, config.Endpoint, error) {
	dataDir, err := a.Env.DataDir()
	if err != nil {
		return nil, config.Endpoint{}, err
	}
	at, err := config.ReadEndpoint(dataDir)
	if err != nil {
		return nil, at, err
	}
	ctx, cancel := context.WithTimeout(ctx, callBudget)
	defer cancel()
	s, err := a.Connect(ctx, at, dataDir, role)
	if !errors.Is(err, bus.ErrUnavailable) {
		return s, at, err
	}
	held := true
	for range lastLooks { // one that was killed lets go of its lock after its connections
		if held = filelock.Held(config.Layout{Root: dataDir}.Lock()); !held || !launch.Alive(at.PID) {
			break
		}
		time.Sleep(lookAgain)
	}
	switch {
	case !held:
		err = config.NoDaemon(dataDir, fmt.Sprintf("process %d, announced in %s, is gone", at.PID, dataDir))
	case !launch.Alive(at.PID):
		err = fmt.Errorf("%w: %w", launch.ErrElsewhere, err)
	}
	return s, at, err
}

// Open connects to the daemon, starting it where it does not run.
func (a *Client) Open(ctx context.Context, role string) (Service, error) {
	s, at, err := a.Reach(ctx, role)
	if err == nil && !at.Older(config.Version, config.Protocol) || errors.Is(err, config.ErrNewerDaemon) || errors.Is(err, bus.ErrBusy) {
		return s, err
	}
	if err == nil {
		s.Close() // a newer one takes its place
	}
	dataDir, dirErr := a.Env.DataDir()
	if dirErr != nil {
		return nil, dirErr
	}
	a, err = a.WithDaemon(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := a.Follow(ctx, dataDir)
	defer cancel()
	return a.StartConnected(ctx, dataDir, role)
}

// Ask makes one request in a role and decodes its answer, starting the daemon
// where it does not run. What names the attempt in an error.
func Ask[T any](ctx context.Context, a *Client, role, what, subject string, request any) (T, error) {
	return AskWithin[T](ctx, a, role, what, callBudget, subject, request)
}

// AskWithin is Ask for what may take longer than most.
func AskWithin[T any](ctx context.Context, a *Client, role, what string, budget time.Duration, subject string, request any) (reply T, err error) {
	err = a.ask(ctx, role, what, budget, subject, request, &reply)
	return reply, err
}

func (a *Client) ask(ctx context.Context, role, what string, budget time.Duration, subject string, request, reply any) error {
	s, err := a.Open(ctx, role)
	if err != nil {
		return Explain(what, err)
	}
	defer s.Close()
	// The daemon waits by itself before it says that the rules are not there yet: on a
	// machine under load they take longer.
	for range notReadyTries {
		if err = call(ctx, s, budget, subject, request, reply); !notReady(err) {
			break
		}
	}
	return Explain(what, meant(ctx, s, subject, request, err))
}

const notReadyTries = 5

func notReady(err error) bool {
	var service *bus.ServiceError
	return errors.As(err, &service) && service.Code == schemas.CodeNotReady
}

// Call makes one request on an open connection.
func Call[T any](ctx context.Context, s Service, subject string, request any) (T, error) {
	return CallWithin[T](ctx, s, callBudget, subject, request)
}

// CallWithin is Call for what may take longer than most.
func CallWithin[T any](ctx context.Context, s Service, budget time.Duration, subject string, request any) (reply T, err error) {
	err = call(ctx, s, budget, subject, request, &reply)
	return reply, err
}

func call(ctx context.Context, s Service, budget time.Duration, subject string, request, reply any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	answer, err := s.Request(ctx, bus.Request{Subject: subject, Header: schemas.Header{}, Body: body})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer.Body, reply); err != nil {
		return fmt.Errorf("the daemon's answer to %s cannot be read: %w", subject, err)
	}
	return nil
}
