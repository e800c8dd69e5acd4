package embedded_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/bus/rights"
)

// TestALeafTriesAgainWhereverAHubGoes ends a hub's connections right after its half of the
// handshake, so that what the leaf writes next fails, and has the leaf come again.
func TestALeafTriesAgainWhereverAHubGoes(t *testing.T) {
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(web.Certificate())
	hub, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hub.Close() }()
	leaf, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir(), Hub: &rights.Hub{
		URLs: "tls://" + hub.Addr().String(), Member: "alice", Credential: bus.Credential{User: "alice", Password: "secret"}, TLS: &tls.Config{RootCAs: trusted},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = leaf.Shutdown(t.Context()) }()
	for range 2 {
		conn, err := hub.Accept() // waits for as long as tests may take where the leaf does not come
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, `INFO {"server_id":"H","server_name":"hub","version":"2.15.2","headers":true,"max_payload":1048576,`+
			`"proto":1,"client_id":1,"tls_required":true,"leafnode_urls":["127.0.0.1:1"],"compression":"s2_fast"}`+"\r\n")
		_ = tls.Server(goes{conn}, &tls.Config{Certificates: web.TLS.Certificates}).Handshake() // fails: it goes
	}
}

// goes is a connection that ends after what is written first.
type goes struct{ net.Conn }

func (g goes) Write(p []byte) (int, error) {
	n, err := g.Conn.Write(p)
	_ = g.Close()
	return n, err
}
