package hub_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/bus/embedded/hubtest"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/projections/hub"
	"github.com/writbus/writ/projections/hubcopies"
	"github.com/writbus/writ/schemas"
)

// answers is a server that says a line to who comes, and goes on with TLS where it has a
// certificate.
func answers(t *testing.T, line string, of *tls.Certificate) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				_, _ = io.WriteString(conn, line)
				if of != nil {
					conn = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{*of}})
				}
				_, _ = io.Copy(io.Discard, conn)
			}()
		}
	}()
	return "tls://" + l.Addr().String()
}

// certificate is one for this machine until a time, and the file with it.
func certificate(t *testing.T, until time.Time) (*tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: until.Add(-48 * time.Hour), NotAfter: until, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// plain is a nats-server that is no hub: its one account has no streams.
func plain(t *testing.T, p *server.Permissions) (address string) {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, NoSigs: true, LeafNode: server.LeafNodeOpts{Host: "127.0.0.1", Port: -1},
		Users: []*server.User{{Username: "alice", Password: hubtest.Password, Permissions: p}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("it does not start")
	}
	about, err := s.Varz(nil)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("nats://127.0.0.1:%d", about.LeafNode.Port)
}

const info = `INFO {"server_id":"H","server_name":"h","version":"%s","headers":true,"max_payload":1048576,"proto":1,"client_id":1,"tls_required":true,"leafnode_urls":["127.0.0.1:1"]}` + "\r\n"

// TestAHubThatIsWrongIsSaid joins hubs and members that are set up wrongly: joining, the
// status or the doctor say what is wrong, where, and what to do.
func TestAHubThatIsWrongIsSaid(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t, 1, "alice", "bob", "carol", "dave")
	empty := hubtest.Start(t, 1, "alice")
	drop(t, empty)
	good, trusted := certificate(t, time.Now().Add(time.Hour))
	old, expired := certificate(t, time.Now().Add(-time.Hour))
	at := func(url, ca string) schemas.TeamRequest {
		return schemas.TeamRequest{Act: schemas.TeamJoin, URL: url, Member: "alice", Credential: hubtest.Credential("alice"), CA: ca, List: hubcopies.ListDigest()}
	}
	as := func(member, credential string) schemas.TeamRequest {
		r := at(h.URLs(), h.CA)
		r.Member, r.Credential = member, credential
		return r
	}
	denied := &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{">"}}}
	type wrong struct {
		name                 string
		r                    schemas.TeamRequest
		ahead                time.Duration
		join, status, doctor string // texts that are said, "" for any
	}
	said := func(t *testing.T, c wrong) {
		t.Helper()
		m := &machine{t: t, dir: t.TempDir(), member: c.r.Member, auditor: newAuditor(t), ahead: c.ahead}
		m.start(nil)
		reply, err := m.ask(c.r)
		m.must(err)
		if said := hub.Told(schemas.TeamJoin, reply); !strings.Contains(said, c.join) {
			t.Errorf("%s: joining says %s", c.name, said)
		}
		m.end()
		m.start(h)
		m.happen(3, 1)
		for act, want := range map[string]string{schemas.TeamStatus: c.status, schemas.TeamDoctor: c.doctor} {
			hubtest.Eventually(t, c.name+": "+act+" says "+want, func() error {
				reply, err := m.ask(schemas.TeamRequest{Act: act})
				if said := hub.Told(act, reply); err == nil && !strings.Contains(said, want) {
					err = errors.New(said)
				}
				return err
			})
		}
		m.end()
	}
	t.Run("beside each other", func(t *testing.T) {
		for _, c := range []wrong{
			{"no streams", at(empty.URLs(), empty.CA), 0, "", "writ team manifest", "Its administrator applies that"},
			{"another authority", at(h.URLs(), trusted), 0, "--ca", "unknown authority", "--ca"},
			{"a certificate that ended", at(answers(t, fmt.Sprintf(info, "2.15.2"), old), expired), 0, "administrator renews it", "expired", "administrator renews it"},
			{"the port for clients", at(h.Clients(), h.CA), 0, "port for clients", "not the one for leaf nodes", "7422"},
			{"nobody", at("tls://127.0.0.1:1", h.CA), 0, "is the address right", "refused", "is the address right"},
			{"no host", at("tls://hub.invalid:7422", h.CA), 0, "is the address right", "hub.invalid", "is the address right"},
			{"a server that says nothing", at(answers(t, "", nil), h.CA), 0, "handshake_first", "writ team doctor", "no nats-server"},
			{"a web server", at(answers(t, "HTTP/1.1 400 Bad Request\r\n\r\n", nil), h.CA), 0, "no nats-server", "writ team doctor", "HTTP/1.1"},
			{"an old server", at(answers(t, fmt.Sprintf(info, "2.8.4"), good), trusted), 0, "nats-server 2.8.4", "", "installs a newer one"},
			{"no TLS", at(plain(t, nil), h.CA), 0, "offers no TLS", "writ team doctor", "a tls block"},
			{"no accounts", at(plain(t, nil), ""), 0, "", "writ team manifest", "Its administrator applies that"},
			{"no permission", at(plain(t, denied), ""), 0, "", "writ team manifest", "Its administrator applies that"},
			{"a password that is none", as("alice", `{"user":"alice","password":"x"}`), 0, "", "join again", "join again"},
			{"another's credential", as("alice", hubtest.Credential("bob")), 0, "", "not one of the member alice", "not one of the member alice"},
			{"a clock ahead", as("alice", hubtest.Credential("alice")), 24 * time.Hour, "", "connected", "one of the clocks is wrong"},
			{"a clock behind", as("dave", hubtest.Credential("dave")), -24 * time.Hour, "", "connected", "one of the clocks is wrong"},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				said(t, c)
			})
		}
	})
	fill(t, h)
	said(t, wrong{"a full stream", as("carol", hubtest.Credential("carol")), 0, "", "the hub is full", "the hub is full"})
}

// fill has the hub's stream of copies take no more, and drop deletes it.
func fill(t *testing.T, h *hubtest.Hub) {
	t.Helper()
	o := h.Stream(rights.Copies).CachedInfo()
	o.Config.MaxMsgs = int64(o.State.Msgs)
	if _, err := streams(t, h).UpdateStream(t.Context(), o.Config); err != nil {
		t.Fatal(err)
	}
}

func drop(t *testing.T, h *hubtest.Hub) {
	t.Helper()
	if err := streams(t, h).DeleteStream(t.Context(), rights.Copies); err != nil {
		t.Fatal(err)
	}
}

func streams(t *testing.T, h *hubtest.Hub) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(h.As(rights.AdminUser))
	if err != nil {
		t.Fatal(err)
	}
	return js
}
