// Package hubtest runs hubs for tests: nats-servers in processes of their own, with TLS,
// accounts and streams as the manifest says, that a test may kill and start again.
//
// A process is the test's own program, started once more: its TestMain calls [Main].
package hubtest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/rights"
)

const childEnv = "HUBTEST_NODE"

// Password is that of every user.
const Password = "hub-secret"

// Root is a user without limits in the members' account.
const Root = "root"

// Main is what a TestMain calls first: in a process that is to be a node it never
// returns. Elsewhere six parallel tests run at least, unless -parallel says otherwise:
// most of their time they wait for servers.
func Main() {
	file := os.Getenv(childEnv)
	if file == "" {
		_ = flag.Set("test.parallel", strconv.Itoa(max(6, runtime.GOMAXPROCS(0))))
		return
	}
	go func() { // ends with the test, however that ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	o, err := server.ProcessConfigFile(file)
	if err == nil {
		o.NoSigs = true
		var s *server.Server
		if s, err = server.NewServer(o); err == nil {
			if os.Getenv(childEnv+"_LOG") != "" {
				s.ConfigureLogger()
			}
			s.Start()
			select {}
		}
	}
	fmt.Fprintln(os.Stderr, "hubtest:", err)
	os.Exit(1)
}

// Node is the process that is to be a node: the test's own program, or what a test sets.
var Node = func(config string) *exec.Cmd {
	self, _ := os.Executable() // starting it fails then
	return exec.Command(self)
}

// Addresses are those, besides that of this machine, that certificates of hubs are for.
var Addresses []net.IP

// Hub is a running hub.
type Hub struct {
	t        testing.TB
	dir      string
	Manifest rights.Manifest
	CA       string // file, PEM
	Trust    *tls.Config
	Nodes    []*Server
}

// Server is one of its nodes.
type Server struct {
	Leaf, Client string // host:port
	config       string
	mu           sync.Mutex
	process      *exec.Cmd
	stdin        io.Closer
}

// Start runs a hub of some nodes for members, and makes its streams.
func Start(t testing.TB, nodes int, names ...string) *Hub {
	t.Helper()
	return StartFor(t, rights.Manifest{Members: names, Replicas: nodes})
}

// StartFor runs a hub of as many nodes as its streams have replicas.
func StartFor(t testing.TB, m rights.Manifest) *Hub {
	t.Helper()
	h, nodes := &Hub{t: t, dir: t.TempDir(), Manifest: m}, m.Replicas
	h.must(h.Manifest.Check())
	h.certify()
	ports := freePorts(t, 3*nodes)
	var routes []string
	for i := range nodes {
		routes = append(routes, fmt.Sprintf("nats-route://127.0.0.1:%d", ports[3*i+2]))
	}
	config := h.Manifest.Config()
	members := strings.LastIndex(config, "users: [") // an administrator can let himself into any account
	config = config[:members] + "users: [ { user: " + Root + ", password: " + Password + " }\n" + config[members+len("users: ["):]
	h.must(os.WriteFile(filepath.Join(h.dir, "writ.conf"), []byte(config), 0o600))
	for i := range nodes {
		cluster := ""
		if nodes > 1 {
			cluster = fmt.Sprintf("cluster { name: hub, listen: \"127.0.0.1:%d\", routes: [%s] }\n", ports[3*i+2], strings.Join(routes, ", "))
		}
		lock := fmt.Sprintf("tls { cert_file: %q, key_file: %q }", h.CA, filepath.Join(h.dir, "key.pem"))
		n := &Server{
			Client: fmt.Sprintf("127.0.0.1:%d", ports[3*i]), Leaf: fmt.Sprintf("127.0.0.1:%d", ports[3*i+1]),
			config: filepath.Join(h.dir, fmt.Sprintf("node%d.conf", i)),
		}
		h.must(os.WriteFile(n.config, fmt.Appendf(nil, "server_name: hub%d\nlisten: %q\n%s\njetstream { store_dir: %q }\nleafnodes { listen: %q, no_advertise: true\n%s }\n%sinclude ./writ.conf\n",
			i, n.Client, lock, h.Store(i), n.Leaf, lock, cluster), 0o600))
		h.Nodes = append(h.Nodes, n)
		h.Run(i)
	}
	t.Cleanup(func() {
		for i := range h.Nodes {
			h.Kill(i)
		}
	})
	h.MakeStreams()
	return h
}

func (h *Hub) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// Run starts a node that does not run.
func (h *Hub) Run(i int) {
	h.t.Helper()
	n := h.Nodes[i]
	n.mu.Lock()
	defer n.mu.Unlock()
	var err error
	n.process = Node(n.config)
	n.process.Env = append(os.Environ(), childEnv+"="+n.config)
	for _, name := range h.Manifest.Passwords() {
		n.process.Env = append(n.process.Env, name+"="+Password)
	}
	n.process.Stderr = os.Stderr
	n.stdin, err = n.process.StdinPipe()
	h.must(err)
	h.must(n.process.Start())
}

// Kill ends a node at once.
func (h *Hub) Kill(i int) {
	n := h.Nodes[i]
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process != nil {
		_ = n.process.Process.Kill()
		_ = n.process.Wait()
		n.process = nil
	}
}

// StepDownAs has the leader of a stream in a user's account be another node.
func (h *Hub) StepDownAs(user, stream string) {
	h.t.Helper()
	h.Eventually("the leader of "+stream+" steps down", func() error {
		m, err := h.As(user).Request("$JS.API.STREAM.LEADER.STEPDOWN."+stream, nil, 2*time.Second)
		if err == nil && !bytes.Contains(m.Data, []byte(`"success":true`)) {
			err = fmt.Errorf("%s", m.Data)
		}
		return err
	})
}

// Memory is what a node has in memory, in MiB, where /proc says so.
func (h *Hub) Memory(i int) string {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.Nodes[i].process.Process.Pid))
	_, after, _ := strings.Cut(string(raw), "VmRSS:")
	line, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(line)
}

// Store is where a node keeps its streams.
func (h *Hub) Store(i int) string { return filepath.Join(h.dir, fmt.Sprint("store", i)) }

// URLs are those of the nodes' ports for leaf nodes.
func (h *Hub) URLs() string {
	var all []string
	for _, n := range h.Nodes {
		all = append(all, "tls://"+n.Leaf)
	}
	return strings.Join(all, ",")
}

// Clients are those of the nodes' ports for clients.
func (h *Hub) Clients() string {
	var all []string
	for _, n := range h.Nodes {
		all = append(all, "tls://"+n.Client)
	}
	return strings.Join(all, ",")
}

// Credential is what a user signs in with, as it is given out.
func Credential(user string) string {
	raw, _ := json.Marshal(bus.Credential{User: user, Password: Password}) // of texts alone
	return string(raw)
}

// Credentials writes the credentials of a daemon whose log lies there into a folder.
func (h *Hub) Credentials(name string) (folder string) {
	h.t.Helper()
	folder = h.t.TempDir()
	for _, r := range rights.Roles() {
		h.must(os.WriteFile(bus.CredentialFile(folder, string(r)), []byte(Credential(rights.DirectUser(name, r))), 0o600))
	}
	return folder
}

// As connects to the hub itself as one of its users.
func (h *Hub) As(user string, o ...nats.Option) *nats.Conn {
	h.t.Helper()
	o = append([]nats.Option{
		nats.UserInfo(user, Password), nats.Secure(h.Trust), nats.MaxReconnects(-1), nats.ReconnectWait(50 * time.Millisecond),
		nats.RetryOnFailedConnect(true), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}, o...)
	nc, err := nats.Connect(h.Clients(), o...)
	h.must(err)
	h.t.Cleanup(nc.Close)
	return nc
}

// Stream reads a stream of the hub as its administrator.
func (h *Hub) Stream(name string) jetstream.Stream {
	h.t.Helper()
	js, err := jetstream.New(h.As(rights.AdminUser))
	h.must(err)
	var s jetstream.Stream
	h.Eventually("the stream "+name+" has a leader", func() (err error) {
		ctx, cancel := context.WithTimeout(h.t.Context(), 2*time.Second)
		defer cancel()
		s, err = js.Stream(ctx, name)
		return err
	})
	return s
}

// Messages are those of a stream, in their order, by asking for each.
func (h *Hub) Messages(name string) (all []*jetstream.RawStreamMsg) {
	h.t.Helper()
	s := h.Stream(name)
	for seq := uint64(1); ; seq++ {
		var one *jetstream.RawStreamMsg
		missing := false
		h.Eventually("the hub answers", func() (err error) {
			one, err = s.GetMsg(h.t.Context(), seq)
			if missing = errors.Is(err, jetstream.ErrMsgNotFound); missing {
				return nil
			}
			return err
		})
		if missing {
			return all
		}
		all = append(all, one)
	}
}

// MakeStreams makes the streams of the manifest that are not there.
func (h *Hub) MakeStreams() {
	h.t.Helper()
	var c *bus.Conn
	h.Eventually("the hub answers", func() (err error) {
		c, err = bus.Connect(h.t.Context(), bus.Options{URL: h.Clients(), TLS: h.Trust, User: rights.AdminUser, Password: Password, Timeout: 2 * time.Second})
		return err
	})
	defer c.Close()
	for name, definition := range h.Manifest.Streams() {
		h.Eventually("the hub makes the stream "+name, func() error { return bus.EnsureStream(h.t.Context(), c, definition) })
	}
}

// Eventually is the function of that name, in the hub's own test.
func (h *Hub) Eventually(what string, try func() error) {
	h.t.Helper()
	Eventually(h.t, what, try)
}

// Eventually tries until there is no error, for at most three minutes.
func Eventually(t testing.TB, what string, try func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = try(); err == nil {
			return
		}
	}
	t.Fatalf("%s: %v", what, err)
}

// certify makes an authority that is the nodes' certificate as well.
func (h *Hub) certify() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	h.must(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hub"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), // longer than a member is cut off
		IPAddresses: append([]net.IP{net.IPv4(127, 0, 0, 1)}, Addresses...), DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	h.must(err)
	secret, err := x509.MarshalECPrivateKey(key)
	h.must(err)
	h.CA = filepath.Join(h.dir, "ca.pem")
	h.must(os.WriteFile(h.CA, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	h.must(os.WriteFile(filepath.Join(h.dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), 0o600))
	h.Trust, err = bus.TLS{CA: h.CA}.Config()
	h.must(err)
}

// The ports of tests lie below those that systems give by themselves, to listeners and
// connections. Each process that runs tests has a range of them as long as it lives: its
// first port, which it listens at, says so to the others.
const (
	firstPort, lastPort = 10_000, 30_000
	portsOfOne          = 400
)

// ours are those of this process, and which was given last.
var ours struct {
	sync.Mutex
	held net.Listener
	last int
}

func listenAt(port int) (net.Listener, error) {
	return net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
}

// freePorts are ports that nobody else is given: a node that a test stops for a while has
// its own again.
func freePorts(t testing.TB, n int) (free []int) {
	t.Helper()
	ours.Lock()
	defer ours.Unlock()
	for port := firstPort; ours.held == nil; port += portsOfOne {
		if port >= lastPort {
			t.Fatal("other processes have all ports of tests")
		}
		if l, err := listenAt(port); err == nil {
			ours.held = l
		}
	}
	first := ours.held.Addr().(*net.TCPAddr).Port
	for tries := 0; len(free) < n; tries++ {
		if tries == portsOfOne {
			t.Fatal("tests of this process have all of its ports")
		}
		ours.last = ours.last%(portsOfOne-1) + 1
		if l, err := listenAt(first + ours.last); err == nil {
			defer func() { _ = l.Close() }()
			free = append(free, first+ours.last)
		}
	}
	return free
}

// Proxy is a way to a node that can be cut.
type Proxy struct {
	Address string // host:port
	l       net.Listener
	to      string
	mu      sync.Mutex
	cut     bool
	open    map[net.Conn]bool
}

// NewProxy leads to an address.
func NewProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	return NewProxyAt(t, "127.0.0.1", to)
}

// NewProxyAt leads from an address of this machine to another one.
func NewProxyAt(t testing.TB, at, to string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", at+":0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Address: l.Addr().String(), l: l, to: to, open: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = l.Close(); p.Cut(true) })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go p.pass(in)
		}
	}()
	return p
}

// Cut cuts what passes and lets nothing through, or lets it through again.
func (p *Proxy) Cut(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
	for c := range p.open {
		if cut {
			_ = c.Close()
		}
	}
}

func (p *Proxy) pass(in net.Conn) {
	out, err := net.Dial("tcp", p.to)
	p.mu.Lock()
	if err != nil || p.cut {
		p.mu.Unlock()
		_ = in.Close()
		if err == nil {
			_ = out.Close()
		}
		return
	}
	p.open[in], p.open[out] = true, true
	p.mu.Unlock()
	var both sync.WaitGroup
	for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
		both.Go(func() {
			_, _ = io.Copy(pair[0], pair[1])
			_ = in.Close()
			_ = out.Close()
		})
	}
	both.Wait()
	p.mu.Lock()
	delete(p.open, in)
	delete(p.open, out)
	p.mu.Unlock()
}
