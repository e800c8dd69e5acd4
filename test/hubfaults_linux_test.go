package test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/writbus/writ/bus/embedded/hubtest"
	"github.com/writbus/writ/bus/rights"
)

// asRoot runs a command of the system's administrator, or ends the test.
func asRoot(t *testing.T, line string) {
	t.Helper()
	if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
}

// TestAFullDiskOnOneNode fills the disk of one of three nodes while the copies of a leaf
// and the log of another daemon go there: both are answered on the nodes that are left,
// and once the disk has room the node has everything again.
func TestAFullDiskOnOneNode(t *testing.T) {
	if fromEnv(t, "WRIT_TEAM_ROUNDS", 0) == 0 {
		t.Skip("WRIT_TEAM_ROUNDS is not set; test/ci/sim.sh does in the night")
	}
	if os.Geteuid() != 0 {
		t.Skip("a small disk is mounted, which takes root")
	}
	realServers(t)
	h := hubtest.StartFor(t, rights.Manifest{Members: []string{"alice"}, Direct: []string{"bob"}, Replicas: 3})
	alice, bob := newMember(t, "alice"), newMember(t, "bob")
	t.Cleanup(func() {
		logs, _ := filepath.Glob(filepath.Join(filepath.Dir(h.CA), "*.log"))
		for _, file := range append(logs, filepath.Join(bob.data(), "log", "writd.log")) {
			if log, _ := os.ReadFile(file); t.Failed() {
				t.Logf("%s: %s", file, log[max(0, len(log)-4000):])
			}
		}
	})
	alice.join(h, h.URLs())
	bob.must("down")
	bob.must("log", "move", h.Clients(), "--replicas", "3", "--ca", h.CA, "--creds", h.Credentials("bob"))
	bob.must("up", "--detach")
	both, stop := bothWork(h, alice, bob)
	both("calls are answered", 20)

	h.Kill(0)
	store := h.Store(0)
	asRoot(t, fmt.Sprintf("cp -a %[1]s %[1]s.was && mount -t tmpfs -o size=64m none %[1]s && cp -a %[1]s.was/. %[1]s/", store))
	t.Cleanup(func() { asRoot(t, "umount -l "+store) })
	h.Run(0)
	both("calls are answered, the node being back", 20)
	filler := filepath.Join(store, "filler")
	_ = exec.Command("dd", "if=/dev/zero", "of="+filler, "bs=4k").Run() // ends where the disk does
	for _, leader := range []string{rights.DirectUser("bob", rights.Daemon), rights.AdminUser} {
		stream := map[bool]string{true: rights.Copies, false: "WRIT_SESSIONS"}[leader == rights.AdminUser]
		h.StepDownAs(leader, stream) // so that the full node may be chosen
	}
	both("calls are answered beside a full disk", 200)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	h.Kill(0)
	h.Run(0)
	both("calls are answered, the disk having room", 20)
	h.Kill(1) // what the node has now counts
	both("calls are answered by the node whose disk was full, and one more", 20)
	h.Run(1)
	stop()
	h.Eventually("each stream has a leader again", bob.readable)
	bob.compare(0)
	alice.settle(h)
	alice.compareHub(h)
	t.Logf("calls answered %d and %d, not answered %d and %d", alice.asked.Load(), bob.asked.Load(), alice.wrong.Load(), bob.wrong.Load())
	if alice.wrong.Load() > 0 {
		t.Errorf("%d calls of a leaf were not answered", alice.wrong.Load())
	}
}

// namespace is a network of its own, with one wire to this one, and a view of the disk
// in which some folders are empty.
type namespace struct{ name, wire, here, there string }

func newNamespace(t *testing.T, n int) namespace {
	t.Helper()
	subnet := fmt.Sprintf("10.231.%d", 2*(os.Getpid()%120)+n) // another run may have left its own
	s := namespace{name: fmt.Sprintf("writ-%d-%d", os.Getpid(), n), wire: fmt.Sprintf("writ%dw%d", os.Getpid()%100000, n), here: subnet + ".1", there: subnet + ".2"}
	t.Cleanup(func() { _ = exec.Command("sh", "-c", "ip link del "+s.wire+"; ip netns del "+s.name).Run() })
	for _, line := range []string{
		"ip netns add " + s.name,
		"ip link add " + s.wire + " type veth peer name eth0 netns " + s.name,
		"ip addr add " + s.here + "/30 dev " + s.wire, "ip link set " + s.wire + " up",
		"ip -n " + s.name + " addr add " + s.there + "/30 dev eth0", "ip -n " + s.name + " link set eth0 up", "ip -n " + s.name + " link set lo up",
	} {
		asRoot(t, line)
	}
	return s
}

// runs is what runs a command in it, without some folders.
func (s namespace) runs(without string) []string {
	return []string{"ip", "netns", "exec", s.name, "unshare", "--mount", "--propagation", "private", "sh", "-c", "mount -t tmpfs none " + without + ` && exec "$@"`, "sh"}
}

// dial connects within it, to what the endpoint of a data directory says.
func (s namespace) dial(m *member) func() (net.Conn, error) {
	return func() (conn net.Conn, err error) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // it comes back: a thread that ends takes the servers along that it started
			var ns, was *os.File
			if was, err = os.Open("/proc/thread-self/ns/net"); err != nil {
				runtime.UnlockOSThread()
				return
			}
			defer func() { _ = was.Close() }()
			defer func() {
				if unix.Setns(int(was.Fd()), unix.CLONE_NEWNET) == nil {
					runtime.UnlockOSThread()
				}
			}()
			if ns, err = os.Open("/run/netns/" + s.name); err != nil {
				return
			}
			defer func() { _ = ns.Close() }()
			if err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
				return
			}
			var at string
			if at, err = m.address(); err == nil {
				conn, err = net.DialTimeout("tcp", at, time.Second)
			}
		}()
		<-done
		return conn, err
	}
}

// address is where the daemon's own server listens.
func (m *member) address() (string, error) {
	raw, err := os.ReadFile(filepath.Join(m.data(), "run", "endpoint.json"))
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(string(raw), "nats://")
	at, _, is := strings.Cut(rest, `"`)
	if !is {
		return "", errors.New("no address is announced")
	}
	return at, nil
}

// TestMembersInNamespaces has two leaves of three nodes in networks of their own, each
// without a sight of the other's files, and takes the wire of one away, without a word to
// either end: it works as alone, and afterwards the hub has all of it once, in order.
// WRIT_TEAM_CUT says for how many seconds.
func TestMembersInNamespaces(t *testing.T) {
	seconds := fromEnv(t, "WRIT_TEAM_CUT", 0)
	if seconds == 0 {
		t.Skip("WRIT_TEAM_CUT says for how many seconds a member is cut off; test/ci/sim.sh does")
	}
	if err := exec.Command("ip", "netns", "list").Run(); err != nil || os.Geteuid() != 0 {
		t.Skipf("namespaces take root and ip(8): %v", err)
	}
	realServers(t)
	spaces := []namespace{newNamespace(t, 1), newNamespace(t, 2)}
	for _, s := range spaces {
		hubtest.Addresses = append(hubtest.Addresses, net.ParseIP(s.here))
	}
	h := hubtest.Start(t, 3, "alice", "bob")
	homes := []string{t.TempDir(), t.TempDir()}
	var members []*member
	for i, name := range []string{"alice", "bob"} {
		m := &member{name: name, killedDaemon: killedDaemon{flipWorld: flipWorld{t: t, home: homes[i], within: spaces[i].runs(homes[1-i])}}}
		m.reach = spaces[i].dial(m)
		startMember(m)
		var ways []string
		for _, n := range h.Nodes {
			ways = append(ways, "tls://"+hubtest.NewProxyAt(t, spaces[i].here, n.Leaf).Address)
		}
		m.join(h, strings.Join(ways, ","))
		members = append(members, m)
	}
	alice, bob := members[0], members[1]
	work, stop := bothWork(h, alice, bob)
	work("calls are answered", 20)
	asRoot(t, "ip link set "+spaces[1].wire+" down")
	<-time.After(time.Duration(seconds) * time.Second) // so long it is cut off
	work("calls are answered without a hub", 20)
	alone := bob.asked.Load()
	asRoot(t, "ip link set "+spaces[1].wire+" up")
	began := time.Now()
	stop()
	for bob.brought() != nil {
		if time.Since(began) > 10*time.Minute {
			doctor, _ := bob.run("", "team", "doctor")
			log, _ := os.ReadFile(filepath.Join(bob.data(), "log", "writd.log"))
			t.Fatalf("the hub lacks what bob did: %v\n%s\n%s", bob.brought(), doctor, log[max(0, len(log)-4000):])
		}
		<-time.After(100 * time.Millisecond)
	}
	t.Logf("cut off for %d s: bob was told %d by then, and the hub had all %s after it was back; not answered %d and %d",
		seconds, alone, time.Since(began).Round(100*time.Millisecond), alice.wrong.Load(), bob.wrong.Load())
	for _, m := range members {
		m.settle(h)
		m.compareHub(h)
		m.compare(0)
		if m.wrong.Load() > 0 {
			t.Errorf("%d calls of %s were not answered", m.wrong.Load(), m.name)
		}
	}
}

// bothWork has two members asked without end, until stop; more waits until each was
// answered so many times again.
func bothWork(h *hubtest.Hub, alice, bob *member) (more func(what string, n int64), stop func()) {
	ctx, cancel := context.WithCancel(alice.t.Context())
	var working sync.WaitGroup
	for _, m := range []*member{alice, bob} {
		working.Go(func() { m.work(ctx, 0) })
	}
	more = func(what string, n int64) {
		a, b := alice.asked.Load(), bob.asked.Load()
		for i := range n { // each has all the patience: how fast they are is no matter
			h.Eventually(what, func() error {
				if alice.asked.Load() <= a+i || bob.asked.Load() <= b+i {
					return fmt.Errorf("%d and %d more", alice.asked.Load()-a, bob.asked.Load()-b)
				}
				return nil
			})
		}
	}
	return more, func() {
		cancel()
		working.Wait()
	}
}
