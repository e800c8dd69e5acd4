package embedded

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/writbus/writ/bus"
)

// Role is what a user may do.
type Role string

// The roles. Their names are those of the credential files; never change.
const (
	RoleDaemon    Role = "daemon"    // everything
	RoleHook      Role = "hook"      // ask what hooks need; reads and writes no stream
	RoleDashboard Role = "dashboard" // read the streams and the daemon's status
	RoleAdmin     Role = "admin"     // ask anything of the services, and read
	RoleAgent     Role = "agent"     // look things up and propose rules; for what runs confined
)

// Roles lists the roles.
func Roles() []Role { return []Role{RoleDaemon, RoleHook, RoleDashboard, RoleAdmin, RoleAgent} }

// User is somebody who may connect.
type User struct {
	Name, Password string
	Role           Role
}

// hookSubjects are the services hooks ask.
var hookSubjects = []string{
	"writ.svc.gate.>", "writ.svc.retrieve", "writ.svc.retrieve.>", "writ.svc.session.>",
	"writ.svc.emit", "writ.svc.rule.propose", "writ.svc.rule.feedback", "writ.svc.check", statusSubject,
	"writ.svc.rule.list", "writ.svc.rule.show", "writ.svc.rule.search", "writ.svc.rule.log", "writ.svc.rule.export",
	"writ.svc.rule.validate", "writ.svc.rule.review", "writ.svc.rule.stats",
	"writ.svc.observe", "writ.svc.recall", "writ.svc.memory.health",
	"writ.svc.artifact", "writ.svc.artifact.>",
}

// agentSubjects are the services that a program of an agent may ask, which
// cannot be told from the agent itself: it looks things up, and proposes rules,
// which a person judges. It changes no mode, reports nothing as a hook, and
// observes nothing.
var agentSubjects = []string{
	statusSubject, "writ.svc.retrieve", "writ.svc.retrieve.always_on", "writ.svc.retrieve.graph",
	"writ.svc.recall", "writ.svc.memory.health", "writ.svc.session.list", "writ.svc.session.show", "writ.svc.check",
	"writ.svc.rule.list", "writ.svc.rule.show", "writ.svc.rule.search", "writ.svc.rule.log", "writ.svc.rule.export",
	"writ.svc.rule.validate", "writ.svc.rule.review", "writ.svc.rule.stats", "writ.svc.rule.propose",
	"writ.svc.artifact", "writ.svc.artifact.context", "writ.svc.artifact.status", "writ.svc.artifact.deps", "writ.svc.artifact.explain",
}

// readSubjects are what reading takes: states, single records, and readers of
// one's own. Deleting a reader takes its name, which is random and which
// nobody may list.
var readSubjects = append([]string{
	"$JS.API.INFO", "$JS.API.STREAM.INFO.*", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.MSG.GET.*", "$JS.API.DIRECT.GET.>",
	"$JS.API.CONSUMER.CREATE.>", "$JS.API.CONSUMER.INFO.*.*", "$JS.API.CONSUMER.DELETE.*.*",
	statusSubject, "writ.svc.replay", "writ.svc.session.list", "writ.svc.session.show",
	"writ.svc.rule.list", "writ.svc.rule.show", "writ.svc.rule.search", "writ.svc.rule.log", "writ.svc.rule.review", "writ.svc.rule.stats", "writ.svc.activity",
}, manyAnswers...)

// manyAnswers are the requests with more than one answer: a reader's for
// records, and discovery.
var manyAnswers = []string{"$JS.API.CONSUMER.MSG.NEXT.*.*", "$SRV.>"}

const (
	servicesSubject = "writ.svc.>"
	statusSubject   = "writ.svc.status"
)

// MayAsk says whether a role may ask a subject.
func (r Role) MayAsk(subject string) bool {
	permissions, err := r.permissions("x")
	if err != nil {
		return false
	}
	if permissions == nil {
		return true
	}
	return slices.ContainsFunc(permissions.Publish.Allow, func(pattern string) bool { return covers(pattern, subject) })
}

// covers says whether a pattern of subjects takes one.
func covers(pattern, subject string) bool {
	want, is := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, token := range want {
		switch {
		case token == ">":
			return len(is) > i
		case i >= len(is) || token != "*" && token != is[i]:
			return false
		}
	}
	return len(want) == len(is)
}

// permissions returns nil for a role without limits. Every other one hears
// only its own inbox, and readers besides what they have pushed to them.
func (r Role) permissions(user string) (*server.Permissions, error) {
	var publish []string
	switch r {
	case RoleDaemon:
		return nil, nil
	case RoleHook:
		publish = hookSubjects
	case RoleDashboard:
		publish = readSubjects
	case RoleAgent:
		publish = agentSubjects
	case RoleAdmin:
		publish = append([]string{servicesSubject}, readSubjects...)
	default:
		return nil, fmt.Errorf("%w: user %q has unknown role %q", ErrStart, user, r)
	}
	hears := []string{bus.InboxPrefix(user) + ".>"}
	if r == RoleDashboard || r == RoleAdmin {
		hears = append(hears, bus.DeliveryPrefix(user)+".>")
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: publish},
		Subscribe: &server.SubjectPermission{Allow: hears},
	}, nil
}

// clientsName is the account of every role but the daemon's.
const clientsName = "WRIT_CLIENTS"

// joinAccounts lets the clients' account ask the log's account, and nothing
// else. The answers come back as those of a service: wherever a client wants
// its answer sent, it arrives within the clients' own account. In one account
// with the streams, a client that may only read could have the server publish
// for it, by naming a stream's subject as the place for its answer.
func joinAccounts(ns *server.Server) error {
	clients, err := ns.LookupAccount(clientsName)
	if err != nil {
		return fmt.Errorf("account %s: %w", clientsName, err)
	}
	log := ns.GlobalAccount()
	for _, subject := range append([]string{servicesSubject}, readSubjects...) {
		if subject == statusSubject {
			continue // among the services
		}
		answers := server.Singleton
		if slices.Contains(manyAnswers, subject) {
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

func serverUsers(users []User, clients *server.Account) ([]*server.User, error) {
	all := make([]*server.User, 0, len(users))
	for _, u := range users {
		permissions, err := u.Role.permissions(u.Name)
		if err != nil {
			return nil, err
		}
		if u.Name == "" || u.Password == "" {
			return nil, fmt.Errorf("%w: a %s without name or password", ErrStart, u.Role)
		}
		one := &server.User{Username: u.Name, Password: u.Password, Permissions: permissions}
		if u.Role != RoleDaemon {
			one.Account = clients
		}
		all = append(all, one)
	}
	return all, nil
}
