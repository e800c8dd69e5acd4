package relocate

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/schemas/atomicfile"
)

// Check says what is wrong with an address; "" is that of the daemon's own server.
func (n NATS) Check() error {
	switch {
	case n == NATS{}:
		return nil
	case n.URL == "":
		return errors.New("replicas, certificates and credentials are those of a NATS")
	case n.Replicas < 0 || n.Replicas > 5:
		return fmt.Errorf("%d replicas: a NATS keeps 1 to 5", n.Replicas)
	}
	_, err := rights.Addresses(n.URL, "a NATS", "4222")
	return err
}

// TLS are the files that a place names, in the data directory where they are no absolute
// paths.
func (n NATS) TLS(dir string) bus.TLS {
	in := func(name string) string {
		if name == "" || filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(dir, name)
	}
	return bus.TLS{CA: in(n.CA), Cert: in(n.Cert), Key: in(n.Key)}
}

// Options are how the daemon of a data directory connects to a place, with a credential
// where there is none of its own.
func (n NATS) Options(dir, credentials string, other bus.Credential) (o bus.Options, err error) {
	own, err := bus.CredentialOf(credentials, string(rights.Daemon), true)
	switch {
	case errors.Is(err, bus.ErrNotFound):
		own = other
	case err != nil:
		return o, err
	}
	trust, err := n.TLS(dir).Config()
	return bus.Options{URL: n.URL, TLS: trust}.As(own), err
}

// KeepCredentials copies the credentials of a NATS from a folder to where they are looked
// for first: those of daemon, hook, dashboard and admin. Agents come in by a door of their
// own.
func KeepCredentials(credentials, from string) error {
	files := map[string][]byte{}
	for _, role := range rights.Roles() {
		if role == rights.Agent {
			continue
		}
		c, err := bus.LoadCredential(from, string(role))
		if err != nil {
			return err
		}
		path := bus.CredentialFile(from, string(role))
		if c.Creds != "" || c.Seed != "" {
			path = c.Creds + c.Seed
		}
		if files[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			return err
		}
	}
	folder := filepath.Join(credentials, bus.Elsewhere)
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for name, raw := range files {
		if err := atomicfile.Write(filepath.Join(folder, name), raw, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Original is the data directory that dir was copied from, "" where that is no
// longer there, or dir is none: a moved directory is its own. It goes by the path
// that the first start notes in a file that is in no backup.
func Original(dir string) (string, error) {
	note := filepath.Join("run", "path")
	here, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	noted, err := os.ReadFile(filepath.Join(dir, note))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	original := string(noted)
	if original == here {
		return "", nil
	}
	if filepath.IsAbs(original) {
		found := make(chan bool, 1)
		go func() { found <- holdsTheSame(here, original, note, filepath.Join("audit", "key.pub")) }()
		select {
		case is := <-found:
			if is {
				return original, nil
			}
		case <-time.After(answerWithin):
			return "", fmt.Errorf("%s, where it lay, does not answer, as of a network or a disk that is gone", original)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "run"), 0o700); err != nil {
		return "", err
	}
	return "", atomicfile.Write(filepath.Join(dir, note), []byte(here), 0o600)
}

// answerWithin bounds a look at a folder that may lie on a network. A variable for tests.
var answerWithin = 2 * time.Second

// holdsTheSame says whether another folder is there that holds the same files.
func holdsTheSame(dir, other string, files ...string) bool {
	for _, of := range files {
		a, _ := os.ReadFile(filepath.Join(dir, of)) // what cannot be read is not the same
		b, err := os.ReadFile(filepath.Join(other, of))
		if err != nil || !bytes.Equal(a, b) {
			return false
		}
	}
	a, err := os.Stat(dir)
	b, there := os.Stat(other)
	return errors.Join(err, there) == nil && !os.SameFile(a, b)
}

// DaemonID names the daemon of a data directory among others on one NATS, in 16
// hexadecimal digits that are drawn once. A copy of the directory in another place
// gets its own: the file is in no backup.
func DaemonID(dir string) (string, error) {
	path := filepath.Join(dir, "run", "daemon-id")
	raw, err := os.ReadFile(path)
	if id := strings.TrimSpace(string(raw)); err == nil && wellFormedID.MatchString(id) {
		return id, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the daemon's id: %w", err)
	}
	drawn := make([]byte, 8)
	_, _ = rand.Read(drawn) // never fails
	id := hex.EncodeToString(drawn)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("the daemon's id: %w", err)
	}
	if err := atomicfile.Write(path, []byte(id+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("the daemon's id: %w", err)
	}
	return id, nil
}

var wellFormedID = regexp.MustCompile(`^[0-9a-f]{16}$`)
