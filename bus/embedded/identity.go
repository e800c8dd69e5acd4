package embedded

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"path/filepath"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas/atomicfile"
)

// Identity is how a server shows its clients that it is the one they look for: another
// program that listens at its port has no such certificate, so it is neither told a
// password nor believed. It reads identity.pem in the folder of the credentials, and
// makes it where there is none or a damaged one. Trusted is the certificate alone, in PEM.
func Identity(dir string) (own *tls.Config, trusted string, err error) {
	path := filepath.Join(dir, "identity.pem")
	lock, err := takeCredentials(dir)
	if err != nil {
		return nil, "", err
	}
	defer lock.Release()
	raw, err := bus.ReadSecret(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("identity: %w", err)
	}
	pair, err := readIdentity(raw)
	if err != nil { // none, or damaged: each start announces what it shows
		if raw, err = drawIdentity(); err == nil {
			err = atomicfile.Write(path, raw, 0o600)
		}
		if err != nil {
			return nil, "", fmt.Errorf("%w: identity: %w", ErrDir, err)
		}
		if pair, err = readIdentity(raw); err != nil {
			return nil, "", fmt.Errorf("identity: %w", err)
		}
	}
	trusted = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}))
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, CurvePreferences: []tls.CurveID{tls.X25519}}, trusted, nil
}

// readIdentity reads what drawIdentity made, whole.
func readIdentity(raw []byte) (tls.Certificate, error) {
	pair, err := tls.X509KeyPair(raw, raw)
	if err == nil {
		err = pair.Leaf.CheckSignature(pair.Leaf.SignatureAlgorithm, pair.Leaf.RawTBSCertificate, pair.Leaf.Signature)
	}
	return pair, err
}

// drawIdentity makes a key and a certificate for this machine's own address, which
// does not end (RFC 5280, 4.1.2.5): it is trusted as long as it is announced.
func drawIdentity() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	return append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...), nil
}
