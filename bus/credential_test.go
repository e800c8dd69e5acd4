package bus_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// selfSigned is a certificate for 127.0.0.1, and what trusts it.
func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "writ test"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, pool
}

// outside starts a server that is somebody else's.
func outside(t *testing.T, o *server.Options) string {
	t.Helper()
	o.Host, o.Port, o.JetStream, o.StoreDir, o.NoLog, o.NoSigs = "127.0.0.1", server.RANDOM_PORT, true, t.TempDir(), true, true
	ns, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	if !ns.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not listen")
	}
	return ns.ClientURL()
}

func keyPair(t *testing.T, kind nkeys.PrefixByte) (pair nkeys.KeyPair, public string, seed []byte) {
	t.Helper()
	pair, err := nkeys.CreatePair(kind)
	if err == nil {
		public, err = pair.PublicKey()
	}
	if err == nil {
		seed, err = pair.Seed()
	}
	if err != nil {
		t.Fatal(err)
	}
	return pair, public, seed
}

// operated is a server in operator mode, and the creds file of a user there.
func operated(t *testing.T) (o *server.Options, creds []byte) {
	t.Helper()
	operator, _, _ := keyPair(t, nkeys.PrefixByteOperator)
	account, accountID, _ := keyPair(t, nkeys.PrefixByteAccount)
	_, system, _ := keyPair(t, nkeys.PrefixByteAccount)
	_, userID, userSeed := keyPair(t, nkeys.PrefixByteUser)
	encode := func(c interface {
		Encode(nkeys.KeyPair) (string, error)
	}, by nkeys.KeyPair,
	) string {
		text, err := c.Encode(by)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	operatorID, err := operator.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	claims := jwt.NewOperatorClaims(operatorID)
	trusted, err := jwt.DecodeOperatorClaims(encode(claims, operator))
	if err != nil {
		t.Fatal(err)
	}
	ofAccount := jwt.NewAccountClaims(accountID)
	ofAccount.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	resolver := &server.MemAccResolver{}
	for id, c := range map[string]*jwt.AccountClaims{accountID: ofAccount, system: jwt.NewAccountClaims(system)} {
		if err := resolver.Store(id, encode(c, operator)); err != nil {
			t.Fatal(err)
		}
	}
	creds, err = jwt.FormatUserConfig(encode(jwt.NewUserClaims(userID), account), userSeed)
	if err != nil {
		t.Fatal(err)
	}
	return &server.Options{TrustedOperators: []*jwt.OperatorClaims{trusted}, AccountResolver: resolver, SystemAccount: system}, creds
}

// TestSigningCredentials signs in with what the administrator of a NATS gives out,
// over TLS, and appends, reads in bulk and serves there.
func TestSigningCredentials(t *testing.T) {
	t.Parallel()
	certificate, trust := selfSigned(t)
	_, public, seed := keyPair(t, nkeys.PrefixByteUser)
	byJWT, creds := operated(t)
	for name, c := range map[string]struct {
		options *server.Options
		file    string
		content []byte
	}{
		"an NKey": {&server.Options{Nkeys: []*server.NkeyUser{{Nkey: public}}}, "daemon.nk", seed},
		"a JWT":   {byJWT, "daemon.creds", creds},
	} {
		t.Run(name, func(t *testing.T) {
			c.options.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
			url, dir := outside(t, c.options), t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.file), c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			own, err := bus.LoadCredential(dir, "daemon")
			if err != nil {
				t.Fatal(err)
			}
			conn, err := bus.Connect(t.Context(), bus.Options{URL: url, TLS: &tls.Config{RootCAs: trust, MinVersion: tls.VersionTLS12}, Daemon: "d1", Timeout: patient}.As(own))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.EnsureStreams(t.Context(), bus.Retention{Replicas: 1}); err != nil {
				t.Fatal(err)
			}
			for range 300 {
				e := schemas.Event{ID: bus.NewID(), Time: time.Now(), Source: "/test", Actor: schemas.ParseActor("agent"), Aggregate: schemas.Session("s1"), Data: schemas.PromptSubmitted{Prompt: "hello"}}
				if _, err := bus.Record(t.Context(), conn.Writer(bus.WriterOptions{}), e); err != nil {
					t.Fatal(err)
				}
			}
			read := 0
			err = conn.Follow(t.Context(), schemas.StreamSessions, 0, bus.FollowOptions{UntilEnd: true}, func(records []schemas.Record) error {
				read += len(records)
				return nil
			})
			if err != nil || read != 300 {
				t.Errorf("read %d of 300: %v", read, err)
			}
			stop, err := conn.Serve(t.Context(), bus.Service{Name: "test", Version: "1.0.0", Endpoints: []bus.Endpoint{
				bus.Answer("where", schemas.SvcStatus, func(context.Context, bus.None) (bus.None, error) { return bus.None{}, nil }),
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = stop(t.Context()) }()
			if _, err := conn.Request(t.Context(), bus.Request{Subject: schemas.SvcStatus}); err != nil {
				t.Error(err)
			}
			kept, err := bus.ParseCredential("\n" + string(c.content) + "\n")
			if err != nil {
				t.Fatal(err)
			}
			byText, err := bus.Connect(t.Context(), bus.Options{URL: url, TLS: &tls.Config{RootCAs: trust, MinVersion: tls.VersionTLS12}, Timeout: patient}.As(kept))
			if err != nil {
				t.Fatalf("by the text: %v", err)
			}
			byText.Close()
			wrong, err := bus.Connect(t.Context(), bus.Options{URL: url, TLS: &tls.Config{MinVersion: tls.VersionTLS12}}.As(own))
			if err == nil {
				wrong.Close()
				t.Error("a certificate that nobody trusts was taken")
			}
		})
	}
}

// TestWrongSigningCredentialsAreNamed says which file is wrong, and how.
func TestWrongSigningCredentialsAreNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, content string
		mode          os.FileMode
		want          string
	}{
		"not a creds file":   {"hook.creds", "hello", 0o600, "nsc generate creds"},
		"not a seed":         {"hook.nk", "hello", 0o600, "SU"},
		"open to others":     {"hook.creds", "hello", 0o644, "chmod 600"},
		"a seed for readers": {"hook.nk", "hello", 0o640, "chmod 600"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, c.file)
			if err := errors.Join(os.WriteFile(path, []byte(c.content), c.mode), os.Chmod(path, c.mode)); err != nil {
				t.Fatal(err)
			}
			_, err := bus.LoadCredential(dir, "hook")
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%v", err)
			}
		})
	}
	for _, text := range []string{"", "hello", "{}", `{"user":"u"}`, "-----BEGIN NATS USER JWT-----\nx\n", "SUAB"} {
		if c, err := bus.ParseCredential(text); err == nil {
			t.Errorf("%q is taken for %+v", text, c)
		}
	}
	if _, err := bus.LoadCredential(t.TempDir(), "hook"); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("of an empty folder: %v", err)
	}
}
