// Package webtest has the addresses that tests of the web's commands use.
package webtest

import (
	"net"
	"testing"
)

// Public is a loopback address that tests have the guard take for a public one.
const Public = "127.0.0.2"

// Nobody is an address of Public at which nobody listens, nor begins to: until
// the test ends a connection has it.
func Nobody(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp4", Public+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(Public)}}
	connection, err := from.DialContext(t.Context(), "tcp4", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return connection.LocalAddr().String()
}
