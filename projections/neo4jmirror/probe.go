package neo4jmirror

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"
)

// greeting is Bolt's: the magic number, then four ranges of versions – 5.0 to
// 5.8, 4.4, 4.1, 3. https://neo4j.com/docs/bolt/current/bolt/handshake/
var greeting = []byte{
	0x60, 0x60, 0xB0, 0x17,
	0, 8, 8, 5, 0, 0, 4, 4, 0, 0, 1, 4, 0, 0, 0, 3,
}

// probeBudget bounds one attempt.
const probeBudget = 3 * time.Second

// reply is what a server answered to the greeting.
type reply int

const (
	replyNone    reply = iota // closed, or nothing in time
	replyBolt                 // a version of ours
	replyRefused              // Bolt, and none of our versions
	replyTLS                  // a TLS alert
	replyOther
)

// probe looks at what listens at an address, and says what of it keeps a
// driver from working there; nil for nothing.
func probe(ctx context.Context, u *url.URL) (detail string, kind error) {
	plain, err := greet(ctx, u, nil)
	if err != nil {
		return shortCause(err), ErrUnreachable
	}
	scheme, option, secure := strings.Cut(u.Scheme, "+")
	if !secure {
		return plainly(ctx, u, scheme, plain)
	}
	config := &tls.Config{ServerName: u.Hostname(), InsecureSkipVerify: option == "ssc"} // +ssc asks for it
	encrypted, err := greet(ctx, u, config)
	var unknown *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	switch {
	case errors.As(err, &unknown):
		return fmt.Sprintf("the server's certificate is not trusted (%s); install its authority on this machine, or begin the address with %s+ssc:// to take any certificate", certificateTrouble(unknown), scheme), ErrTLS
	case plain == replyBolt, errors.As(err, &notTLS):
		return fmt.Sprintf("the server speaks no TLS there; begin the address with %s://, or turn TLS on at the server", scheme), ErrTLS
	case err != nil:
		return shortCause(err), ErrTLS
	}
	return judge(encrypted)
}

func plainly(ctx context.Context, u *url.URL, scheme string, plain reply) (string, error) {
	if plain == replyBolt {
		return "", nil
	}
	// A server that wants TLS may answer with an alert or hang up.
	if encrypted, err := greet(ctx, u, &tls.Config{InsecureSkipVerify: true}); err == nil && encrypted == replyBolt { // nothing secret is sent
		return fmt.Sprintf("the server wants TLS; begin the address with %s+s://", scheme), ErrTLS
	}
	return judge(plain)
}

func judge(r reply) (string, error) {
	switch r {
	case replyTLS, replyOther:
	case replyBolt:
		return "", nil
	case replyRefused:
		return fmt.Sprintf("the server speaks no version of Bolt that Neo4j %d or newer does", oldest), ErrUnsupported
	case replyNone:
		return "something listens there, and does not answer as Neo4j does", ErrUnreachable
	}
	return "what listens there is no Neo4j", ErrUnsupported
}

// greet sends the greeting. Its error is of connecting, or of TLS.
func greet(ctx context.Context, u *url.URL, secure *tls.Config) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, probeBudget)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return replyNone, err
	}
	defer func() { _ = conn.Close() }() // nothing is left to be sent
	if deadline, has := ctx.Deadline(); has {
		_ = conn.SetDeadline(deadline) // a connection without one ends with the server's patience
	}
	if secure != nil {
		over := tls.Client(conn, secure)
		if err := over.HandshakeContext(ctx); err != nil {
			return replyNone, err
		}
		conn = over
	}
	if _, err := conn.Write(greeting); err != nil {
		return replyNone, nil
	}
	answer := make([]byte, 4)
	if n, err := io.ReadFull(conn, answer); err != nil && n == 0 {
		return replyNone, nil
	}
	switch {
	case answer[0] == 0x15 && answer[1] == 3: // TLS record: alert, version 3.x
		return replyTLS, nil
	case answer[0] == 0 && answer[3] >= 3 && answer[3] <= 5:
		return replyBolt, nil
	case [4]byte(answer) == [4]byte{}:
		return replyRefused, nil
	}
	return replyOther, nil
}

// certificateTrouble is the reason without the chain of packages before it.
func certificateTrouble(err *tls.CertificateVerificationError) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "signed by an unknown authority"
	}
	return shortCause(err.Err)
}
