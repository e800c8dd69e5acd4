package embedded

import (
	"fmt"

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
)

// Roles lists the roles.
func Roles() []Role { return []Role{RoleDaemon, RoleHook, RoleDashboard, RoleAdmin} }

// User is somebody who may connect.
type User struct {
	Name, Password string
	Role           Role
}

// hookSubjects are the services hooks ask.
var hookSubjects = []string{
	"writ.svc.gate.>", "writ.svc.retrieve", "writ.svc.retrieve.>", "writ.svc.session.>",
	"writ.svc.emit", "writ.svc.rule.list", "writ.svc.rule.show", "writ.svc.status",
}

// readSubjects are what reading takes: states, single records, and readers of
// one's own. Deleting a reader takes its name, which is random and which
// nobody may list.
var readSubjects = []string{
	"$JS.API.INFO", "$JS.API.STREAM.INFO.*", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.MSG.GET.*", "$JS.API.DIRECT.GET.>",
	"$JS.API.CONSUMER.CREATE.>", "$JS.API.CONSUMER.INFO.*.*", "$JS.API.CONSUMER.MSG.NEXT.*.*", "$JS.API.CONSUMER.DELETE.*.*",
	"$SRV.>", "writ.svc.status",
}

// permissions returns nil for a role without limits. Every other one hears
// only its own inbox.
func (r Role) permissions(user string) (*server.Permissions, error) {
	var publish []string
	switch r {
	case RoleDaemon:
		return nil, nil
	case RoleHook:
		publish = hookSubjects
	case RoleDashboard:
		publish = readSubjects
	case RoleAdmin:
		publish = append([]string{"writ.svc.>"}, readSubjects...)
	default:
		return nil, fmt.Errorf("%w: user %q has unknown role %q", ErrStart, user, r)
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: publish},
		Subscribe: &server.SubjectPermission{Allow: []string{bus.InboxPrefix(user) + ".>"}},
	}, nil
}

func serverUsers(users []User) ([]*server.User, error) {
	all := make([]*server.User, 0, len(users))
	for _, u := range users {
		permissions, err := u.Role.permissions(u.Name)
		if err != nil {
			return nil, err
		}
		if u.Name == "" || u.Password == "" {
			return nil, fmt.Errorf("%w: a %s without name or password", ErrStart, u.Role)
		}
		all = append(all, &server.User{Username: u.Name, Password: u.Password, Permissions: permissions})
	}
	return all, nil
}
