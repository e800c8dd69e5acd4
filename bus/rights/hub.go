package rights

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// Streams of a hub (persisted; never change): what members brought, what a witness saw of
// it, and sealed memory that members share. Of the last each subject has one message: what
// comes takes the place of what was there, so that it can be destroyed.
const (
	Copies = "WRIT_AT"
	Seen   = "WRIT_SEEN"
	Memory = "WRIT_SHARED"
)

// Accounts of a hub. Members are in one without streams, which may ask the other for
// what hubShares lists and nothing else: in one account a member could have the server
// publish for it, by naming another member's subject as the place for an answer.
const (
	HubAccount    = "WRIT_HUB"
	MemberAccount = "WRIT_MEMBERS"
)

// memberName is what a member may be called: it is one token of a subject.
var memberName = lazyregexp.New(`^[A-Za-z0-9_-]{1,48}$`)

// CheckMember says what is wrong with a member's name.
func CheckMember(name string) error {
	if !memberName.MatchString(name) {
		return fmt.Errorf("a member is called by up to 48 letters, digits, - and _, not %.80q", name)
	}
	return nil
}

// MemberUser is who a member is on its own machine's server, and whose inbox it has at
// the hub.
func MemberUser(member string) string { return "member-" + member }

// BeginSubject is where a member says that an epoch begins, and CopiesSubject where it
// brings the copies of one of its streams in it.
func BeginSubject(member string) string { return "writ.at." + member + ".begin" }

// CopiesSubject is explained at [BeginSubject].
func CopiesSubject(member string, epoch uint64, stream string) string {
	return fmt.Sprintf("writ.at.%s.%d.%s", member, epoch, stream)
}

// SeenSubject is where a witness says what it saw of a member.
func SeenSubject(member string) string { return "writ.seen." + member }

// MemorySubject is where sealed memory lies: that of a member below its name.
func MemorySubject(rest string) string { return "writ.mem." + rest }

// OfMember says whether a subject of sealed memory is a member's own.
func OfMember(subject, member string) bool {
	return strings.HasPrefix(subject, MemorySubject(member+"."))
}

// NextMemory is what to ask for the next message of [Memory].
const NextMemory = "writ.next.mem"

// LastOf is what to ask for the last message on a subject of [Copies], and LastSeen of
// [Seen].
func LastOf(subject string) string { return lastCopies + subject }

// LastSeen is explained at [LastOf].
func LastSeen(subject string) string { return lastSeen + subject }

const (
	lastCopies = "writ.last.at."
	lastSeen   = "writ.last.seen."
)

// hubShares are the subjects of the hub's account, with the names that they have in
// the members'. Through a leaf a request to JetStream's own subjects does not pass.
var hubShares = [][2]string{
	{"writ.at.>", "writ.at.>"},
	{"$JS.API.DIRECT.GET." + Copies + ".>", lastCopies + ">"},
	{"$JS.API.DIRECT.GET." + Seen + ".>", lastSeen + ">"},
	{"writ.mem.>", "writ.mem.>"},
	{"$JS.API.DIRECT.GET." + Memory, NextMemory},
}

// memberSubjects are those of the member whose [MemberUser] this is.
func memberSubjects(user string) []string {
	member := user[min(len(MemberUser("")), len(user)):]
	return []string{
		"writ.at." + member + ".>", LastOf("writ.at." + member + ".>"), LastSeen(SeenSubject(member)),
		MemorySubject(member + ".>"), NextMemory,
	}
}

// witnessSubjects are those of the witness, in the hub's account.
var witnessSubjects = []string{
	"$JS.API.INFO", "$JS.API.STREAM.INFO." + Copies, "$JS.API.STREAM.INFO." + Seen,
	"$JS.API.STREAM.MSG.GET." + Copies, "$JS.API.STREAM.MSG.GET." + Seen,
	"$JS.API.DIRECT.GET." + Copies + ".>", "$JS.API.DIRECT.GET." + Copies, "$JS.API.DIRECT.GET." + Seen + ".>", "$JS.API.DIRECT.GET." + Seen,
	"$JS.API.CONSUMER.CREATE." + Copies + ".>", "$JS.API.CONSUMER.INFO." + Copies + ".*",
	"$JS.API.CONSUMER.MSG.NEXT." + Copies + ".*", "$JS.API.CONSUMER.DELETE." + Copies + ".*",
	SeenSubject(">"),
}

// Users of a hub's account: its witness, and the one who makes its streams.
const (
	WitnessUser = "witness"
	AdminUser   = "hub-admin"
)

// Hub is a NATS of somebody else that a machine's server becomes a leaf of.
type Hub struct {
	URLs   string // of its leaf nodes' port, several separated by commas
	Member string // who this machine is there
	// Credential is read from its file at every connect, where it is one.
	Credential bus.Credential
	TLS        *tls.Config // nil trusts the system's authorities
}

// HubURLs reads the addresses of a hub.
func HubURLs(text string) ([]*url.URL, error) { return Addresses(text, "a hub", "7422") }

// Addresses reads those of a server, separated by commas: beyond this machine under TLS,
// and without a user.
func Addresses(text, of, port string) (all []*url.URL, err error) {
	for one := range strings.SplitSeq(text, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "tls" && u.Scheme != "nats" {
			return nil, fmt.Errorf("%q is no address of %s: it looks like tls://nats.example.org:%s, without a user", one, of, port)
		}
		if u.Scheme != "tls" && !Loopback(u.Hostname()) {
			return nil, fmt.Errorf("%q is beyond this machine and not under TLS: say tls://%s", one, u.Host)
		}
		if u.Port() == "" {
			u.Host += ":" + port
		}
		all = append(all, u)
	}
	return all, nil
}

// Loopback says whether a host is this machine.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
