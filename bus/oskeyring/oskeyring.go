// Package oskeyring keeps small secrets in the keyring of the operating system: the
// Secret Service on Linux, the Keychain on macOS, the Credential Manager on
// Windows.
//
// It guarantees that no call waits longer than [Patience], and that a machine
// without a keyring is told at once and never an error of its own: callers keep
// their secrets in files then. It does not keep secrets from programs of the same
// user: a keyring that is open answers all of them.
package oskeyring

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas/atomicfile"
)

// Patience bounds each call: a keyring that is locked asks its user.
const Patience = 5 * time.Second

// service is what all secrets are kept under (persisted; never change).
const service = "writ"

// ErrNone is returned where there is no keyring, or it does not answer in time.
var ErrNone = errors.New("vault: no keyring")

// ErrAbsent is returned by Get for what is not kept.
var ErrAbsent = errors.New("vault: not kept in the keyring")

// Name is what a secret of a data directory is kept as.
func Name(dataDir, what string) string { return filepath.ToSlash(dataDir) + "/" + what }

// Get returns a secret, ErrAbsent or ErrNone.
func Get(name string) (secret string, err error) {
	return bounded(func() (string, error) { return keyring.Get(service, name) })
}

// Credential is how a role of a data directory signs in: by a file in its folder of
// credentials, or else, to somebody else's NATS, by what the keyring has. It returns
// bus.ErrNotFound where there is neither, and what is wrong with either.
func Credential(dataDir, credentials, role string, shared bool) (bus.Credential, error) {
	if shared {
		if own, err := bus.LoadCredential(filepath.Join(credentials, Elsewhere), role); !errors.Is(err, bus.ErrNotFound) {
			return own, err
		}
	}
	own, err := bus.LoadCredential(credentials, role)
	if !shared || !errors.Is(err, bus.ErrNotFound) {
		return own, err
	}
	text, absent := Get(Name(dataDir, role))
	if absent != nil {
		return own, err
	}
	if own, err = bus.ParseCredential(text); err != nil {
		return own, fmt.Errorf("credential of %s in the keyring: %w. `writ team credential %s FILE` replaces it", role, err, role)
	}
	return own, nil
}

// Elsewhere is the folder, in that of credentials, with those for the NATS that the log
// was moved to: those of the daemon's own server stay.
const Elsewhere = "nats"

// Put keeps a secret, in the place of an earlier one. It returns ErrNone.
func Put(name, secret string) error {
	_, err := bounded(func() (string, error) { return "", keyring.Set(service, name, secret) })
	return err
}

// Secrets are those of a data directory: in the keyring, or where there is none in
// files of the folder of credentials that their owner alone reads.
type Secrets struct{ DataDir, Credentials string }

// Keep keeps a secret under a name, in a file of another name where there is no
// keyring, and says where.
func (s Secrets) Keep(name, file, secret string) (place string, err error) {
	path := filepath.Join(s.Credentials, file)
	if Put(Name(s.DataDir, name), secret) == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err // it would go on to count
		}
		return keyringPlace, nil
	}
	if err := os.MkdirAll(s.Credentials, 0o700); err != nil {
		return "", err
	}
	return path, atomicfile.Write(path, []byte(secret), 0o600)
}

const keyringPlace = "the keyring"

// Roles are whose credentials may be kept. That of agents stays a file, which
// confined commands can be shown.
var Roles = []string{"daemon", "hook", "dashboard", "admin"}

// KeepCredential keeps what a role signs in with. Its text is as
// [bus.ParseCredential] takes it, or an error says that it is not. A file that has
// one already would go on to count, and may be that of the daemon's own NATS: it is
// left as it is, and the error names it.
func (s Secrets) KeepCredential(role, text string) (place string, err error) {
	if !slices.Contains(Roles, role) {
		return "", fmt.Errorf("there is no role %q: the roles are %s", role, strings.Join(Roles, ", "))
	}
	own, err := bus.ParseCredential(text)
	if err != nil {
		return "", err
	}
	for _, kind := range []string{".json", ".creds", ".nk"} {
		path := filepath.Join(s.Credentials, role+kind)
		if _, err := os.Lstat(path); err == nil {
			return "", fmt.Errorf("%s has one already, and counts first; where nats_url is set, remove it and try again", path)
		}
	}
	file := role + ".json"
	switch {
	case strings.HasPrefix(own.Text, "-----BEGIN"):
		file = role + ".creds"
	case own.Text != "":
		file = role + ".nk"
	}
	return s.Keep(role, file, strings.TrimSpace(text)+"\n")
}

// Names of a person's key (persisted; never change).
const (
	person     = "person"
	personFile = "person.key"
)

// Person is the key that signs a person's acts, and where it is; "" for none.
func (s Secrets) Person() (key, place string, err error) {
	path := filepath.Join(s.Credentials, personFile)
	raw, err := bus.ReadSecret(path)
	if errors.Is(err, fs.ErrNotExist) {
		if key, err = Get(Name(s.DataDir, person)); err != nil {
			return "", "", nil //nolint:nilerr // without a key nothing is signed
		}
		return key, keyringPlace, nil
	}
	return string(raw), path, err
}

// KeepPerson keeps a person's key, in the place of an earlier one.
func (s Secrets) KeepPerson(key string) (place string, err error) {
	return s.Keep(person, personFile, key)
}

// there tells whether it is worth asking: without a session bus the library would
// start one.
var there = func() bool {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	_, err := os.Stat(filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "bus"))
	return err == nil
}

func bounded(ask func() (string, error)) (string, error) {
	if !there() {
		return "", ErrNone
	}
	type answer struct {
		secret string
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		secret, err := ask()
		done <- answer{secret, err}
	}()
	select {
	case a := <-done:
		switch {
		case errors.Is(a.err, keyring.ErrNotFound):
			return "", ErrAbsent
		case a.err != nil:
			return "", fmt.Errorf("%w: %w", ErrNone, a.err)
		}
		return a.secret, nil
	case <-time.After(Patience):
		return "", fmt.Errorf("%w: it did not answer within %s; it may be locked", ErrNone, Patience)
	}
}

// Fake puts a keyring in memory in the place of the system's, for tests of this
// process.
func Fake() {
	keyring.MockInit()
	there = func() bool { return true }
}
