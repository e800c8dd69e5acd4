package embedded

import (
	"fmt"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/rights"
)

// Role is what a user may do.
type Role = rights.Role

// The roles.
const (
	RoleDaemon    = rights.Daemon
	RoleHook      = rights.Hook
	RoleDashboard = rights.Dashboard
	RoleAdmin     = rights.Admin
	RoleAgent     = rights.Agent
)

// Roles lists the roles.
func Roles() []Role { return rights.Roles() }

// User is somebody who may connect.
type User struct {
	Name, Password string
	Role           Role
}

// permissions returns nil for a role without limits. Every other one hears
// only its own inbox, and readers besides what they have pushed to them.
func permissions(r Role, user string) (*server.Permissions, error) {
	publish, hear, all, known := rights.Of(r, user)
	switch {
	case !known:
		return nil, fmt.Errorf("%w: user %q has unknown role %q", ErrStart, user, r)
	case all:
		return nil, nil
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: publish},
		Subscribe: &server.SubjectPermission{Allow: hear},
	}, nil
}

// clientsName is the account of every role but the daemon's and the agent's, which has
// one of its own, so that no number and size of its connections and questions is in the
// way of a hook's.
const (
	clientsName = "WRIT_CLIENTS"
	agentsName  = "AGENTS"

	maxAgents        = 128     // connections of agents at once
	maxAgentQuestion = 1 << 20 // bytes
)

// accounts are those of who asks: the server knows bounds of an account from its
// configuration alone.
func accounts() (clients, agents *server.Account, err error) {
	var o server.Options
	err = o.ProcessConfigString(fmt.Sprintf("accounts { %s { limits { max_connections: %d, max_payload: %d } } }", agentsName, maxAgents, maxAgentQuestion))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: account %s: %w", ErrStart, agentsName, err)
	}
	return server.NewAccount(clientsName), o.Accounts[0], nil
}

// joinAccounts lets those accounts ask the log's account, and nothing
// else. The answers come back as those of a service: wherever a client wants
// its answer sent, it arrives within the clients' own account. In one account
// with the streams, a client that may only read could have the server publish
// for it, by naming a stream's subject as the place for its answer.
func joinAccounts(ns *server.Server) error {
	for _, name := range []string{clientsName, agentsName} {
		if err := joinAccount(ns, name); err != nil {
			return fmt.Errorf("account %s: %w", name, err)
		}
	}
	return nil
}

func joinAccount(ns *server.Server, name string) error {
	clients, err := ns.LookupAccount(name)
	if err != nil {
		return err
	}
	log := ns.GlobalAccount()
	for subject, many := range rights.Shared {
		answers := server.Singleton
		if many {
			answers = server.Streamed
		}
		if err := log.AddServiceExportWithResponse(subject, answers, []*server.Account{clients}); err != nil {
			return fmt.Errorf("sharing %s: %w", subject, err)
		}
		if err := clients.AddServiceImport(log, subject, subject); err != nil {
			return fmt.Errorf("sharing %s: %w", subject, err)
		}
	}
	// What a reader has pushed to it crosses the accounts by subjects of its own,
	// which no stream takes.
	deliveries := bus.DeliveryPrefix("*") + ".>"
	if err := log.AddStreamExport(deliveries, []*server.Account{clients}); err != nil {
		return fmt.Errorf("sharing %s: %w", deliveries, err)
	}
	if err := clients.AddStreamImport(log, deliveries, ""); err != nil {
		return fmt.Errorf("sharing %s: %w", deliveries, err)
	}
	return nil
}

func serverUsers(users []User, clients, agents *server.Account) ([]*server.User, error) {
	all := make([]*server.User, 0, len(users))
	for _, u := range users {
		permissions, err := permissions(u.Role, u.Name)
		if err != nil {
			return nil, err
		}
		if u.Name == "" || u.Password == "" {
			return nil, fmt.Errorf("%w: a %s without name or password", ErrStart, u.Role)
		}
		one := &server.User{Username: u.Name, Password: u.Password, Permissions: permissions}
		switch u.Role {
		case RoleDaemon:
		case RoleAgent:
			one.Account = agents
		default:
			one.Account = clients
		}
		all = append(all, one)
	}
	return all, nil
}
