package rights

import (
	"fmt"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// Accounts of a daemon whose log lies on a NATS of somebody else: one with the streams,
// which the daemon alone is in, and one for the other roles, which asks the first. No
// other daemon's roles are in either.
func logAccount(name string) string     { return "WRIT_LOG_" + name }
func clientsAccount(name string) string { return "WRIT_CLIENTS_" + name }

// DirectUser is who a role of such a daemon is there.
func DirectUser(name string, r Role) string { return name + "-" + string(r) }

// direct writes both accounts of a daemon.
func direct(b *strings.Builder, name string) {
	deliveries := bus.DeliveryPrefix("*") + ".>"
	fmt.Fprintf(b, "  %s {\n    jetstream: enabled\n    exports: [\n", logAccount(name))
	for subject, many := range Shared {
		fmt.Fprintf(b, "      { service: %q, response_type: %s, accounts: [%s] }\n", subject, map[bool]string{false: "Singleton", true: "Stream"}[many], clientsAccount(name))
	}
	fmt.Fprintf(b, "      { stream: %q, accounts: [%s] }\n    ]\n    users: [ { user: %q, password: $%s } ]\n  }\n  %s {\n    imports: [\n",
		deliveries, clientsAccount(name), DirectUser(name, Daemon), password(DirectUser(name, Daemon)), clientsAccount(name))
	for subject := range Shared {
		fmt.Fprintf(b, "      { service: { account: %s, subject: %q } }\n", logAccount(name), subject)
	}
	fmt.Fprintf(b, "      { stream: { account: %s, subject: %q } }\n    ]\n    users: [\n", logAccount(name), deliveries)
	for _, r := range Roles() {
		if r != Daemon {
			user(b, DirectUser(name, r), DirectUser(name, r), r, ofDaemon)
		}
	}
	b.WriteString("    ]\n  }\n")
}

// ofDaemon is a subject as it is asked where a daemon's id stands in those of services.
func ofDaemon(subject string) string { return schemas.ServiceAt("*", subject) }
