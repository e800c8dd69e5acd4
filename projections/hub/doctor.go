package hub

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/semver"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/projections/hubcopies"
	"github.com/writbus/writ/schemas"
)

// lookTime bounds each look of the doctor at something beyond this machine; who asked
// waits ten seconds.
const lookTime = 1500 * time.Millisecond

// skew is how far the clocks of a hub and a member may be apart.
const skew = time.Minute

// oldest is the first nats-server from which members can read a stream as they do.
const oldest = "v2.9.0"

// examine looks at what it takes to bring something to the hub, in the order in which
// one needs the other, and stores nothing there.
func (m *Member) examine(ctx context.Context, status schemas.TeamReply) (all []schemas.TeamCheck) {
	is := m.membership()
	if is.URL == "" {
		return []schemas.TeamCheck{{What: "a hub is joined", Says: "join one: writ team join URL --creds FILE"}}
	}
	check := func(what string, err error) bool {
		one := schemas.TeamCheck{What: what, OK: err == nil}
		if err != nil {
			one.Says = err.Error()
		}
		all = append(all, one)
		return err == nil
	}
	_, err := Hub(m.Folder, m.Credentials)
	check("the credential can be read", err)
	trust, err := bus.TLS{CA: is.CA}.Config()
	if check("the authorities can be read", err) {
		errs := knockAt(ctx, is.URL, trust)
		for i, one := range strings.Split(is.URL, ",") {
			check("a hub answers at "+one, errs[i])
		}
	}
	check("the list of what leaves is the one that was accepted", map[bool]error{false: errList}[is.List == hubcopies.ListDigest()])
	if !check("the hub lets this machine in", m.Reached()) {
		return all
	}
	ctx, cancel := context.WithTimeout(ctx, 3*lookTime)
	defer cancel()
	subject := rights.BeginSubject(is.Member)
	_, err = bus.LastOn(ctx, m.hub, rights.LastOf(subject))
	if errors.Is(err, bus.ErrNotFound) {
		err = nil
	}
	check("it may ask for the last that it brought", m.refused(err))
	check("the hub's clock and this one agree", m.clock(ctx))
	err = m.mayBring(ctx, subject)
	check("it may bring copies, and the stream "+rights.Copies+" takes them", m.refused(err))
	other := m.mayBring(ctx, rights.BeginSubject(is.Member+"-other"))
	check("it may not bring copies under another name", map[bool]error{true: errors.New("the hub would take them: its administrator gave rights that writ team manifest does not")}[other == nil])
	record, err := bus.LastOn(ctx, m.hub, rights.LastSeen(rights.SeenSubject(is.Member)))
	if errors.Is(err, bus.ErrNotFound) {
		err = errors.New("none has spoken yet: the hub's administrator runs writ team witness")
	}
	if check("a witness looks at what is brought", m.refused(err)) {
		s, err := openSeen(record.Message.Body, is.Witness)
		if err == nil && s.Time.Sub(m.Now()) > skew {
			err = fmt.Errorf("it spoke at %s, and here it is %s: one of the clocks is wrong", s.Time.Format(time.RFC3339), m.Now().Format(time.RFC3339))
		}
		check("the witness is the one that was pinned, and no clock is ahead", err)
		check("the witness cosigns what is brought", m.silent(status))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	check("what leaves is brought", map[bool]error{true: errors.New(m.problem)}[m.problem != ""])
	return all
}

// mayBring asks to store what cannot be stored, since nothing has that sequence.
func (m *Member) mayBring(ctx context.Context, subject string) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	_, err := bus.DeliverAfter(ctx, m.hub, subject, []byte("{}"), math.MaxInt64)
	if errors.Is(err, bus.ErrConflict) {
		return nil
	}
	if err == nil {
		err = errors.New("the hub took what it should have refused")
	}
	return err
}

// refused says what to do where a hub that lets this machine in takes or gives nothing.
func (m *Member) refused(err error) error {
	switch {
	case errors.Is(err, bus.ErrDiskFull):
		return fmt.Errorf("the hub is full: its administrator gives its streams more room, and what was missed is brought then (%w)", err)
	case errors.Is(err, bus.ErrUnavailable) && m.Reached() == nil:
		return fmt.Errorf("nobody answers. Where that lasts, the credential is not one of the member %s, or the hub lacks the rights or the streams that writ team manifest says. Its administrator applies that (%w)", m.membership().Member, err)
	}
	return err
}

// clock holds when a batch was signed here against when the hub stored it.
func (m *Member) clock(ctx context.Context) error {
	record, at, err := bus.LastAt(ctx, m.hub, rights.LastOf(m.subject(schemas.StreamSessions)))
	if err != nil {
		return nil //nolint:nilerr // what can be asked for is looked at before
	}
	b, err := decodeBatch(record.Message.Body)
	if err != nil {
		return err
	}
	h, err := openHead(b.Head, m.verify)
	if err == nil && at.Sub(h.Time).Abs() > skew {
		err = fmt.Errorf("what left at %s came there at %s: one of the clocks is wrong. Look at the one here first", h.Time.Format(time.RFC3339), at.Format(time.RFC3339))
	}
	return err
}

// knockAt knocks at each of some addresses, at the same time.
func knockAt(ctx context.Context, urls string, trust *tls.Config) []error {
	addresses := strings.Split(urls, ",")
	errs := make([]error, len(addresses))
	var looking sync.WaitGroup
	for i, one := range addresses {
		looking.Go(func() { errs[i] = knock(ctx, one, trust) })
	}
	looking.Wait()
	return errs
}

// knock reaches a port for leaf nodes and goes as far as TLS.
func knock(ctx context.Context, address string, trust *tls.Config) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	urls, err := rights.HubURLs(address)
	if err != nil {
		return err
	}
	u := urls[0]
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return fmt.Errorf("%w. Is the hub there, and its port for leaf nodes, and is the address right?", err)
	}
	defer func() { _ = conn.Close() }()
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline) // the read says so
	line, err := bufio.NewReader(conn).ReadString('\n')
	var info struct {
		Version       string
		TLS           bool     `json:"tls_required"`
		LeafNodeURLs  []string `json:"leafnode_urls"`
		InfoOnConnect bool     `json:"info_on_connect"`
	}
	text, is := strings.CutPrefix(line, "INFO ")
	switch {
	case err != nil || !is || json.Unmarshal([]byte(text), &info) != nil:
		return fmt.Errorf("what answers is no nats-server, or one that begins with TLS (its administrator takes handshake_first out): it said %.60q. Join again with the address of the hub's port for leaf nodes", line)
	case info.LeafNodeURLs == nil && !info.InfoOnConnect:
		return errors.New("this is a nats-server's port for clients. Join again with the one for leaf nodes, which is often 7422")
	case semver.Compare("v"+info.Version, oldest) < 0:
		return fmt.Errorf("it is nats-server %s, and a hub needs %s: its administrator installs a newer one", info.Version, oldest)
	case !info.TLS && (u.Scheme == "tls" || trust != nil):
		return errors.New("it offers no TLS: its administrator gives leafnodes a tls block")
	case !info.TLS:
		return nil
	}
	if trust == nil {
		trust = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	trust = trust.Clone()
	trust.ServerName = u.Hostname()
	if err := tls.Client(conn, trust).HandshakeContext(ctx); err != nil {
		if _, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
			return fmt.Errorf("%w. The hub's administrator renews it, unless the clock here is wrong", err)
		}
		return fmt.Errorf("%w. Join again, and name the authorities of its certificate with --ca", err)
	}
	return nil
}
