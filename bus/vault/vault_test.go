package vault

import (
	"errors"
	"testing"
)

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
	if err := Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := Remove(name); !errors.Is(err, ErrAbsent) {
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
	if err := errors.Join(Put("a", "b"), Remove("a")); !errors.Is(err, ErrNone) {
		t.Errorf("put and remove: %v", err)
	}
}
