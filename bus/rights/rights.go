// Package rights is the table of who may do what on the bus: the roles of a machine,
// which the embedded server holds to it, and those of a hub that several machines
// share, for which an administrator is given the text to apply.
//
// It guarantees that what a role may publish and hear is said once. It holds nobody to
// it: a server does.
package rights

import (
	"slices"

	"github.com/writbus/writ/bus"
)

// Role is what a user may do.
type Role string

// The roles of a machine. Their names are those of the credential files; never change.
const (
	Daemon    Role = "daemon"    // everything
	Hook      Role = "hook"      // ask what hooks need; reads and writes no stream
	Dashboard Role = "dashboard" // read the streams and the daemon's status
	Admin     Role = "admin"     // ask anything of the services, and read
	Agent     Role = "agent"     // look things up and propose rules; for what runs confined
)

// The roles at a hub.
const (
	Member  Role = "member"  // bring copies and sealed memory under its own name, see what was witnessed, read sealed memory
	Witness Role = "witness" // read all copies, and say what it saw
)

// Roles lists the roles of a machine.
func Roles() []Role { return []Role{Daemon, Hook, Dashboard, Admin, Agent} }

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
	statusSubject, "writ.svc.replay", "writ.svc.session.list", "writ.svc.session.show", "writ.svc.session.waits",
	"writ.svc.rule.list", "writ.svc.rule.show", "writ.svc.rule.search", "writ.svc.rule.log", "writ.svc.rule.review", "writ.svc.rule.stats", "writ.svc.activity",
}, manyAnswers...)

// manyAnswers are the requests with more than one answer: a reader's for
// records, and discovery.
var manyAnswers = []string{"$JS.API.CONSUMER.MSG.NEXT.*.*", "$SRV.>"}

const (
	// Services are all subjects of services.
	Services      = "writ.svc.>"
	statusSubject = "writ.svc.status"
)

// Of says what a user in a role may publish, and on what it hears besides its own
// inbox; all is true for a role without limits, known false for one that does not exist.
func Of(r Role, user string) (publish, hear []string, all, known bool) {
	hear = []string{bus.InboxPrefix(user) + ".>"}
	switch r {
	case Daemon:
		return nil, nil, true, true
	case Hook:
		publish = hookSubjects
	case Dashboard:
		publish = readSubjects
	case Agent:
		publish = agentSubjects
	case Admin:
		publish = append([]string{Services}, readSubjects...)
	case Member:
		publish = memberSubjects(user)
	case Witness:
		publish = witnessSubjects
	default:
		return nil, nil, false, false
	}
	if r == Dashboard || r == Admin {
		hear = append(hear, bus.DeliveryPrefix(user)+".>")
	}
	return publish, hear, false, true
}

// Shared are the subjects of the log's account that the clients' account may ask, and
// whether one of them has more than one answer.
func Shared(yield func(subject string, many bool) bool) {
	for _, subject := range append([]string{Services}, readSubjects...) {
		if subject != statusSubject && !yield(subject, slices.Contains(manyAnswers, subject)) { // it is among the services
			return
		}
	}
}
