package bus

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// ErrCredentialExposed is returned by LoadCredential for a file that others
// than its owner may read.
var ErrCredentialExposed = errors.New("bus: credential file is readable by others")

// Credential is how a role signs in: with a user and a password, which a daemon with
// a NATS of its own makes, or with a file from the administrator of another.
type Credential struct {
	User     string `json:"user"`
	Password string `json:"password"`
	// Creds is a file with a JWT and its seed, as nsc writes it; Seed one with the
	// seed of an NKey.
	Creds, Seed string `json:"-"`
	// Text is what such a file holds, where it is kept elsewhere.
	Text string `json:"-"`
}

// String hides the password.
func (c Credential) String() string {
	return cmp.Or(c.User, c.Creds, c.Seed, "a credential")
}

// As puts a credential into the options.
func (o Options) As(c Credential) Options {
	o.User, o.Password, o.Creds, o.Seed, o.CredentialText = c.User, c.Password, c.Creds, c.Seed, c.Text
	return o
}

// CredentialFile is where a role's credential is kept in a folder.
func CredentialFile(dir, role string) string { return filepath.Join(dir, role+".json") }

// LoadCredential reads a role's credential: of a folder the first of ROLE.json,
// ROLE.creds and ROLE.nk. It returns ErrNotFound when there is none,
// ErrCredentialExposed, or what is wrong with the file.
func LoadCredential(dir, role string) (Credential, error) {
	path := CredentialFile(dir, role)
	raw, err := ReadSecret(path)
	if errors.Is(err, fs.ErrNotExist) {
		if c, other := signingCredential(dir, role); !errors.Is(other, fs.ErrNotExist) {
			return c, other
		}
		return Credential{}, fmt.Errorf("credential %s: %w: start the daemon once to create it", path, ErrNotFound)
	}
	if err != nil {
		return Credential{}, err
	}
	c, err := userOf(raw)
	if err != nil {
		return Credential{}, fmt.Errorf("credential %s: %w. Remove it and start the daemon to make a new one", path, err)
	}
	return c, nil
}

func userOf(raw []byte) (c Credential, err error) {
	if err := json.Unmarshal(raw, &c); err != nil {
		return Credential{}, err
	}
	if c.User == "" || c.Password == "" {
		return Credential{}, errors.New("no user or password")
	}
	return c, nil
}

// ParseCredential reads the text of a credential of any of the three kinds: a user
// and a password in JSON, a JWT with its seed as nsc writes them, or an NKey's seed.
func ParseCredential(text string) (Credential, error) {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") {
		return userOf([]byte(trimmed))
	}
	if _, err := textOption(trimmed); err != nil {
		return Credential{}, fmt.Errorf("neither a user and a password in JSON, nor what nsc writes, nor the seed of an NKey: %w", err)
	}
	return Credential{Text: trimmed}, nil
}

// textOption signs in with a text that has a JWT and a seed, or a seed alone.
func textOption(text string) (nats.Option, error) {
	if strings.HasPrefix(text, "-----BEGIN") {
		if _, err := nkeys.ParseDecoratedUserNKey([]byte(text)); err != nil {
			return nil, err
		}
		return nats.UserCredentialBytes([]byte(text)), nil
	}
	key, err := nkeys.FromSeed([]byte(text))
	if err != nil {
		return nil, err
	}
	public, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	return nats.Nkey(public, key.Sign), nil
}

// signingCredential is the one of a role that signs what the server asks, or
// fs.ErrNotExist.
func signingCredential(dir, role string) (Credential, error) {
	creds, seed := filepath.Join(dir, role+".creds"), filepath.Join(dir, role+".nk")
	raw, err := ReadSecret(creds)
	switch {
	case err == nil:
		if _, err := nkeys.ParseDecoratedUserNKey(raw); err != nil {
			return Credential{}, fmt.Errorf("credential %s: %w. It is the file that `nsc generate creds` writes", creds, err)
		}
		return Credential{Creds: creds}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return Credential{}, err
	}
	if _, err := ReadSecret(seed); err != nil {
		return Credential{}, err
	}
	if _, err := nats.NkeyOptionFromSeed(seed); err != nil {
		return Credential{}, fmt.Errorf("credential %s: %w. It holds the seed of a user's NKey, which begins with SU", seed, err)
	}
	return Credential{Seed: seed}, nil
}

// seedOption signs in with the NKey in a file.
func seedOption(file string) nats.Option {
	return func(o *nats.Options) error {
		option, err := nats.NkeyOptionFromSeed(file)
		if err != nil {
			return err
		}
		return option(o)
	}
}

// ReadSecret reads a file that is its owner's alone. It returns fs.ErrNotExist,
// ErrCredentialExposed, or what is wrong with the file.
func ReadSecret(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("credential: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("credential: %w", err)
	}
	if exposed(info.Mode()) {
		return nil, fmt.Errorf("%w: %s has mode %#o. Make it yours alone: chmod 600 %s",
			ErrCredentialExposed, path, info.Mode().Perm(), path)
	}
	raw, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("credential: %w", err)
	}
	return raw, nil
}

// TLS names what a client needs to reach the NATS of somebody else.
type TLS struct {
	CA   string `json:"ca,omitempty"`   // certificates of authorities, PEM, or a file with them; "" is the system's
	Cert string `json:"cert,omitempty"` // the client's certificate, PEM
	Key  string `json:"key,omitempty"`  // its key
}

// Config returns nil where nothing is named. Its error names the setting and the file.
func (t TLS) Config() (*tls.Config, error) {
	if t == (TLS{}) {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		raw := []byte(t.CA)
		if strings.HasPrefix(t.CA, "-----BEGIN") {
			// A daemon's own: no larger key is drawn for a connection that stays on the machine.
			c.CurvePreferences = []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384}
		} else {
			var err error
			if raw, err = os.ReadFile(t.CA); err != nil {
				return nil, fmt.Errorf("nats_ca: %w", err)
			}
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(raw) {
			return nil, fmt.Errorf("nats_ca: %s holds no certificate in PEM", t.CA)
		}
	}
	if t.Cert != "" || t.Key != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("nats_cert %q and nats_key %q: %w", t.Cert, t.Key, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// exposed looks at the mode's bits for group and others; Windows keeps rights
// elsewhere.
func exposed(mode fs.FileMode) bool {
	return runtime.GOOS != "windows" && mode.Perm()&0o077 != 0
}

// Elsewhere is the folder, in that of credentials, with those for the NATS that the log
// was moved to: those of the daemon's own server stay.
const Elsewhere = "nats"

// CredentialOf is how a role signs in, by a file in a folder of credentials; to
// somebody else's NATS by one for where the log was moved to, where there is one. It
// returns ErrNotFound where there is neither, and what is wrong with either.
func CredentialOf(credentials, role string, shared bool) (Credential, error) {
	if shared {
		if own, err := LoadCredential(filepath.Join(credentials, Elsewhere), role); !errors.Is(err, ErrNotFound) {
			return own, err
		}
	}
	return LoadCredential(credentials, role)
}
