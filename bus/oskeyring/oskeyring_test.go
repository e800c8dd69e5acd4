package oskeyring

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/writbus/writ/bus"
)

// remove forgets a secret.
func remove(name string) error {
	_, err := bounded(func() (string, error) { return "", keyring.Delete(service, name) })
	return err
}

func TestWhatIsKeptComesBack(t *testing.T) {
	was := there
	t.Cleanup(func() { there = was })
	Fake()
	name := Name("/data", "daemon")
	if _, err := Get(name); !errors.Is(err, ErrAbsent) {
		t.Errorf("before: %v", err)
	}
	if err := Put(name, "one\ntwo"); err != nil {
		t.Fatal(err)
	}
	if secret, err := Get(name); err != nil || secret != "one\ntwo" {
		t.Errorf("%q, %v", secret, err)
	}
	if _, err := Get(Name("/other", "daemon")); !errors.Is(err, ErrAbsent) {
		t.Errorf("another data directory's: %v", err)
	}
	if err := remove(name); err != nil {
		t.Fatal(err)
	}
	if err := remove(name); !errors.Is(err, ErrAbsent) {
		t.Errorf("removed twice: %v", err)
	}
}

// TestNoKeyringIsToldAtOnce: nothing is started to have one.
func TestNoKeyringIsToldAtOnce(t *testing.T) {
	was := there
	t.Cleanup(func() { there = was })
	there = func() bool { return false }
	if _, err := Get("a"); !errors.Is(err, ErrNone) {
		t.Errorf("get: %v", err)
	}
	if err := errors.Join(Put("a", "b"), remove("a")); !errors.Is(err, ErrNone) {
		t.Errorf("put and remove: %v", err)
	}
}

// TestCredentialsReplaceNoFile: that of the daemon's own NATS stays.
func TestCredentialsReplaceNoFile(t *testing.T) {
	was := there
	t.Cleanup(func() { there = was })
	there = func() bool { return false }
	dir := t.TempDir()
	s := Secrets{DataDir: dir, Credentials: filepath.Join(dir, "credentials")}
	if _, err := s.KeepCredential("hook", "hello"); err == nil {
		t.Error("no credential was kept")
	}
	const user = `{"user":"writ","password":"secret"}`
	place, err := s.KeepCredential("hook", user)
	if err != nil || place != filepath.Join(s.Credentials, "hook.json") {
		t.Fatalf("%s, %v", place, err)
	}
	if info, err := os.Stat(place); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if own, err := Credential(dir, s.Credentials, "hook", true); err != nil || own.User != "writ" {
		t.Errorf("%+v, %v", own, err)
	}
	there = func() bool { return true } // nor does the keyring hide behind it
	if _, err := s.KeepCredential("hook", user); err == nil || !strings.Contains(err.Error(), place) {
		t.Errorf("a second one: %v", err)
	}
}

// TestTheKeyringIsAskedForOthersNATSAlone: a daemon's own makes its credentials.
func TestTheKeyringIsAskedForOthersNATSAlone(t *testing.T) {
	was := there
	t.Cleanup(func() { there = was })
	Fake()
	dir := t.TempDir()
	s := Secrets{DataDir: dir, Credentials: filepath.Join(dir, "credentials")}
	if place, err := s.KeepCredential("admin", `{"user":"writ","password":"secret"}`); err != nil || place != keyringPlace {
		t.Fatalf("%s, %v", place, err)
	}
	if own, err := Credential(dir, s.Credentials, "admin", true); err != nil || own.Password != "secret" {
		t.Errorf("%+v, %v", own, err)
	}
	if _, err := Credential(dir, s.Credentials, "admin", false); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("of the daemon's own: %v", err)
	}
}

func TestAPersonsKeyIsReplaced(t *testing.T) {
	was := there
	t.Cleanup(func() { there = was })
	there = func() bool { return false }
	dir := t.TempDir()
	s := Secrets{DataDir: dir, Credentials: filepath.Join(dir, "credentials")}
	if key, place, err := s.Person(); key != "" || place != "" || err != nil {
		t.Errorf("before: %q in %q, %v", key, place, err)
	}
	if _, err := s.KeepPerson("one"); err != nil {
		t.Fatal(err)
	}
	Fake()
	if _, err := s.KeepPerson("two"); err != nil {
		t.Fatal(err)
	}
	if key, place, err := s.Person(); key != "two" || place != keyringPlace || err != nil {
		t.Errorf("%q in %q, %v", key, place, err)
	}
}
