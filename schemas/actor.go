package schemas

import "strings"

// ActorKind says what kind of actor did something. Persisted; never rename one.
type ActorKind string

// The kinds of actors.
const (
	ActorPerson ActorKind = "person"
	ActorAgent  ActorKind = "agent"
	ActorWrit   ActorKind = "writ"
	ActorImport ActorKind = "import"
)

// Actor says who did something: a person, an agent, a part of Writ, or an
// import. The zero Actor is nobody. Actors are equal (==) when they are written
// alike.
//
// An actor is written as its kind and its parts, "person/terminal" or
// "agent/claude/s-1/worker". A part is encoded as in a subject, and empty parts
// at the end are left out. Logs that are older than this form hold one word,
// such as "user" or the name of an agent: the word is kept as it is, so that an
// event is written back as it was read, and is understood as the nearest kind.
type Actor struct{ text string }

// Person is a person who acts through a channel, such as the terminal. The
// assurance says how sure it is that a person acted; it is written where it is
// another word than the channel.
func Person(channel, assurance string) Actor {
	if assurance == channel {
		assurance = ""
	}
	return actorOf(ActorPerson, channel, assurance)
}

// Agent is an agent of a host, in a session, or a sub-agent of that. The parts
// that the event's aggregate tells may be left empty. The host of the agents
// that Writ itself runs is "writ", their session the run, and their name stands
// for the sub-agent's.
func Agent(host, session, subagent string) Actor {
	return actorOf(ActorAgent, host, session, subagent)
}

// Writ is a part of Writ that acts by itself, such as its pruning.
func Writ(part string) Actor { return actorOf(ActorWrit, part) }

// Import is what came in with data that others recorded; from says with which.
func Import(from string) Actor { return actorOf(ActorImport, from) }

func actorOf(kind ActorKind, parts ...string) Actor {
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	if len(parts) == 0 {
		return Actor{string(kind)}
	}
	var b strings.Builder
	b.WriteString(string(kind))
	for _, p := range parts {
		b.WriteByte('/')
		b.WriteString(EncodeToken(p))
	}
	return Actor{b.String()}
}

// ParseActor reads an actor as it is written. Every text is one: what is not in
// the form of an actor is an older word.
func ParseActor(text string) Actor { return Actor{text} }

// String is the actor as it is written.
func (a Actor) String() string { return a.text }

// olderActors are the words of older logs that are no names of agents.
var olderActors = map[string]Actor{
	"user": {"person"}, "run": {"person"}, "dispatch": {"person"},
	"host": {"agent"}, "client": {"agent"}, "parallel": {"agent"}, "pane": {"agent"},
	"schedule": {"writ/schedule"}, "reflection": {"writ/reflection"},
}

// read splits an actor into its kind and its parts.
func (a Actor) read() (kind ActorKind, parts [3]string) {
	if a.text == "" {
		return "", parts
	}
	if kind, parts, ok := a.split(); ok {
		return kind, parts
	}
	if as, known := olderActors[a.text]; known {
		kind, parts, _ = as.split()
		return kind, parts
	}
	return ActorAgent, [3]string{2: a.text}
}

// split reads the form that actorOf writes; ok is false for any other text.
func (a Actor) split() (kind ActorKind, parts [3]string, ok bool) {
	word, rest, more := strings.Cut(a.text, "/")
	most := 1
	switch ActorKind(word) {
	case ActorPerson:
		most = 2
	case ActorAgent:
		most = 3
	case ActorWrit, ActorImport:
	default:
		return "", parts, false
	}
	n := 0
	for ; more && n < most; n++ {
		var token string
		token, rest, more = strings.Cut(rest, "/")
		part, err := DecodeToken(token)
		if err != nil {
			return "", parts, false
		}
		parts[n] = part
	}
	return ActorKind(word), parts, !more && (n == 0 || parts[n-1] != "")
}

// Kind is the kind of the actor, "" for nobody.
func (a Actor) Kind() ActorKind {
	kind, _ := a.read()
	return kind
}

// Person returns how a person acted; both are "" for others and where it is not
// known.
func (a Actor) Person() (channel, assurance string) {
	kind, parts := a.read()
	if kind != ActorPerson {
		return "", ""
	}
	if parts[1] == "" {
		parts[1] = parts[0]
	}
	return parts[0], parts[1]
}

// Agent returns which agent acted; what is not known, and all for others, is "".
func (a Actor) Agent() (host, session, subagent string) {
	kind, parts := a.read()
	if kind != ActorAgent {
		return "", "", ""
	}
	return parts[0], parts[1], parts[2]
}

// Part is the part of Writ that acted, "" for others and where it is not known.
func (a Actor) Part() string { return a.only(ActorWrit) }

// From says what an import came with, "" for others and where it is not known.
func (a Actor) From() string { return a.only(ActorImport) }

func (a Actor) only(kind ActorKind) string {
	if is, parts := a.read(); is == kind {
		return parts[0]
	}
	return ""
}
