package embedded

import (
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/writbus/writ/bus"
)

// Door is a server without a log, at loopback: there programs that run confined ask a
// daemon whose log lies on a NATS of somebody else, and are shown nothing of what that one
// is reached with.
type Door struct {
	Trusted  string // its certificate, in PEM
	ns       *server.Server
	password string // of the daemon, drawn for it
}

// OpenDoor lets the agent's credential in that is in a folder, or made there, and the
// daemon by [Door.Daemon].
func OpenDoor(folder string, logger *slog.Logger) (*Door, error) {
	credentials, err := LoadOrCreateCredentials(folder, RoleAgent)
	if err != nil {
		return nil, err
	}
	d, agent := &Door{password: rand.Text()}, credentials[RoleAgent]
	var own *tls.Config
	if own, d.Trusted, err = Identity(folder); err != nil {
		return nil, err
	}
	clients, agents, err := accounts()
	if err != nil {
		return nil, err
	}
	users, err := serverUsers([]User{{Name: string(RoleDaemon), Password: d.password, Role: RoleDaemon}, {Name: agent.User, Password: agent.Password, Role: RoleAgent}}, clients, agents)
	if err != nil {
		return nil, err
	}
	d.ns, err = server.NewServer(&server.Options{
		ServerName: "writ-door", Host: "127.0.0.1", Port: server.RANDOM_PORT, MaxPayload: DefaultMaxPayload, MaxPending: 2 * DefaultMaxPayload,
		Users: users, Accounts: []*server.Account{clients, agents}, TLSConfig: own, TLS: true, TLSTimeout: tlsTimeout.Seconds(), AllowNonTLS: true, NoSigs: true,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	d.ns.SetLoggerV2(newLogger(logger), false, false, false)
	if err := joinAccounts(d.ns); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	d.ns.Start()
	if !d.ns.ReadyForConnections(startTimeout) {
		d.Close()
		return nil, fmt.Errorf("%w: the door was not ready after %s", ErrStart, startTimeout)
	}
	return d, nil
}

// URL is where agents ask.
func (d *Door) URL() string { return strings.Replace(d.ns.ClientURL(), "tls://", "nats://", 1) }

// Daemon is how the daemon connects to answer there.
func (d *Door) Daemon() bus.Options {
	return bus.Options{Dial: func() (net.Conn, error) { return d.ns.InProcessConn() }, User: string(RoleDaemon), Password: d.password}
}

// Close ends it.
func (d *Door) Close() {
	d.ns.Shutdown()
	d.ns.WaitForShutdown()
}
