package neo4jmirror

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// listen serves connections on a port of its own until the test ends.
func listen(t *testing.T, config *tls.Config, serve func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	if config != nil {
		l = tls.NewListener(l, config)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer func() { _ = conn.Close() }()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return address
}

// bolt answers as a server of version 4.4 of the protocol that calls itself
// agent, and hangs up after the greeting.
func bolt(agent string) func(net.Conn) {
	return func(conn net.Conn) {
		hello := make([]byte, len(greeting))
		if _, err := io.ReadFull(conn, hello); err != nil || !bytes.Equal(hello[:4], greeting[:4]) {
			return
		}
		_, _ = conn.Write([]byte{0, 0, 4, 4})
		// The first message, HELLO, in chunks that end with an empty one.
		for head := make([]byte, 2); ; {
			if _, err := io.ReadFull(conn, head); err != nil {
				return
			}
			n := int64(head[0])<<8 | int64(head[1])
			if n == 0 {
				break
			}
			if _, err := io.CopyN(io.Discard, conn, n); err != nil {
				return
			}
		}
		// SUCCESS {server: agent, connection_id: "1"}
		body := []byte{0xB1, 0x70, 0xA2, 0x86}
		body = append(body, "server"...)
		body = append(append(body, 0xD0, byte(len(agent))), agent...)
		body = append(append(body, 0x8D), "connection_id"...)
		body = append(body, 0x81, '1')
		_, _ = conn.Write(append(append([]byte{0, byte(len(body))}, body...), 0, 0))
		_, _ = io.Copy(io.Discard, conn)
	}
}

func says(text string) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := io.ReadFull(conn, make([]byte, 20)); err == nil {
			_, _ = io.WriteString(conn, text)
		}
	}
}

func certificate(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	far := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: far,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

func TestServersThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	const gone = "127.0.0.1:1"
	for name, c := range map[string]struct {
		scheme, address string
		want            error
		says            string
	}{
		"nothing listens":            {"bolt", gone, ErrUnreachable, "refused"},
		"nothing listens, routing":   {"neo4j", gone, ErrUnreachable, "refused"},
		"Neo4j 4":                    {"bolt", listen(t, nil, bolt("Neo4j/4.4.30")), ErrUnsupported, "Neo4j/4.4.30; the mirror needs Neo4j 5"},
		"another server over Bolt":   {"bolt", listen(t, nil, bolt("Neo4j/v5.11.0 compatible graph database server - Memgraph")), ErrUnsupported, "no Neo4j"},
		"the browser's port":         {"bolt", listen(t, nil, says("HTTP/1.1 400 Bad Request\r\n\r\n")), ErrUnsupported, "no Neo4j"},
		"a mail server":              {"bolt", listen(t, nil, says("220 mail ready\r\n")), ErrUnsupported, "no Neo4j"},
		"an older Bolt":              {"bolt", listen(t, nil, says("\x00\x00\x00\x00")), ErrUnsupported, "no version of Bolt"},
		"one that hangs up":          {"bolt", listen(t, nil, func(net.Conn) {}), ErrUnreachable, "does not answer as Neo4j does"},
		"one that breaks off later":  {"bolt", listen(t, nil, says("\x00\x00\x04\x05")), ErrUnreachable, "breaks off"},
		"TLS asked of a plain one":   {"bolt+s", listen(t, nil, bolt("Neo4j/5.26.0")), ErrTLS, "speaks no TLS there; begin the address with bolt://"},
		"plain asked of a TLS one":   {"bolt", listen(t, certificate(t), bolt("Neo4j/5.26.0")), ErrTLS, "wants TLS; begin the address with bolt+s://"},
		"a certificate of nobody":    {"bolt+s", listen(t, certificate(t), bolt("Neo4j/5.26.0")), ErrTLS, "bolt+ssc://"},
		"TLS, and another certainty": {"bolt+ssc", listen(t, certificate(t), bolt("Neo4j/4.4.30")), ErrUnsupported, "Neo4j/4.4.30"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := Open(t.Context(), Target{URL: c.scheme + "://" + c.address, User: "neo4j", Password: "tell-nobody"})
			if err == nil {
				_ = m.Close(t.Context())
				t.Fatal("it was taken for a Neo4j")
			}
			text := err.Error()
			if !errors.Is(err, c.want) || !strings.Contains(text, c.says) || !strings.Contains(text, c.address) {
				t.Errorf("got %v\nwant %v … %s", err, c.want, c.says)
			}
			if strings.Contains(text, "tell-nobody") || strings.Contains(text, "\n") {
				t.Errorf("the password, or a second line, is in %q", text)
			}
		})
	}
}

func TestBadAddresses(t *testing.T) {
	t.Parallel()
	for url, says := range map[string]string{
		"":                              "must look like bolt://",
		"localhost:7687":                "must look like bolt://",
		"http://localhost:7474":         "bolt://localhost:7687",
		"postgres://localhost":          "bolt+ssc",
		"bolt://neo4j:secret@localhost": "do not belong",
		"bolt://":                       "must look like",
		"bolt://%zz":                    "must look like",
	} {
		_, err := Open(t.Context(), Target{URL: url})
		if !errors.Is(err, ErrBadTarget) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestAnAnswerThatNeverComesIsGivenUp(t *testing.T) {
	t.Parallel()
	address := listen(t, nil, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if _, err := Open(ctx, Target{URL: "bolt://" + address}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRefusedByARealServer(t *testing.T) {
	m := server(t)
	good, _ := serverTarget()
	if good.Password != "" {
		wrong := good
		wrong.Password = "not-it"
		if _, err := Open(t.Context(), wrong); !errors.Is(err, ErrAuth) || strings.Contains(err.Error(), "not-it") {
			t.Errorf("wrong password: %v", err)
		}
		wrong.Password = ""
		if _, err := Open(t.Context(), wrong); !errors.Is(err, ErrAuth) || !strings.Contains(err.Error(), "no password was given") {
			t.Errorf("no password: %v", err)
		}
	}
	wrong := good
	wrong.Database = "nosuch"
	if _, err := Open(t.Context(), wrong); !errors.Is(err, ErrNoDatabase) || !strings.Contains(err.Error(), `"nosuch"`) {
		t.Errorf("missing database: %v", err)
	}
	wrong = good
	wrong.URL = strings.Replace(good.URL, "bolt://", "bolt+s://", 1)
	if _, err := Open(t.Context(), wrong); !errors.Is(err, ErrTLS) {
		t.Errorf("TLS asked of a plain server: %v", err)
	}
	if left := held(t, m); len(left) > 0 {
		t.Errorf("something was written: %v", left)
	}
}

// proxy stands before the real server and cuts every connection once a number
// of bytes went to the server.
type proxy struct {
	address string
	left    atomic.Int64
}

func newProxy(t *testing.T, to string, allow int64) *proxy {
	p := &proxy{}
	p.left.Store(allow)
	p.address = listen(t, nil, func(conn net.Conn) {
		up, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		defer func() { _ = up.Close() }()
		go func() { _, _ = io.Copy(conn, up); _ = conn.Close() }()
		buf := make([]byte, 256)
		for {
			n, err := conn.Read(buf)
			if err != nil || p.left.Add(int64(-n)) < 0 {
				return
			}
			if _, err := up.Write(buf[:n]); err != nil {
				return
			}
		}
	})
	return p
}

func TestServerGoneInTheMiddle(t *testing.T) {
	m := server(t)
	good, _ := serverTarget()
	s := generate("log", 21, 200)
	cut := 0
	for _, allow := range []int64{3_000, 60_000, 160_000} {
		p := newProxy(t, strings.TrimPrefix(good.URL, "bolt://"), allow)
		through := good
		through.URL = "bolt://" + p.address
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		gone, err := Open(ctx, through)
		if err == nil {
			gone.batch = crashBatches
			_, err = gone.Push(ctx, s, PushOptions{})
			_ = gone.Close(ctx)
		}
		cancel()
		if err == nil {
			continue
		}
		cut++
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), p.address) || strings.Contains(err.Error(), "\n") {
			t.Errorf("after %d bytes: %v", allow, err)
		}
	}
	if cut < 2 {
		t.Errorf("the connection was cut %d times only", cut)
	}
	pushed(t, m, s)
	mirrors(t, m, s.all())
}
