package relocate_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded/hubtest"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/projections/relocate"
	"github.com/writbus/writ/schemas"
)

// with are the options of a move to a place, with the credentials of a folder.
func (f *folder) with(to relocate.NATS, creds string) relocate.Options {
	o := f.options(to)
	o.Creds = creds
	return o
}

// TestAMoveThatReachesNothingChangesNothing: where the new place cannot be had, a daemon
// goes on at the old one at once, with what it signs in with there.
func TestAMoveThatReachesNothingChangesNothing(t *testing.T) {
	t.Parallel()
	h := hubtest.StartFor(t, rights.Manifest{Direct: []string{"alice", "bob", "carol"}, Replicas: 1})
	at := func(url string) relocate.NATS { return relocate.NATS{URL: url, CA: h.CA, Replicas: 1} }
	other := newFolder(t)
	_, err := relocate.Run(t.Context(), other.with(at(h.Clients()), h.Credentials("bob")))
	other.must(err)
	empty := t.TempDir()
	wrong := h.Credentials("alice")
	for _, r := range rights.Roles() {
		other.must(os.WriteFile(bus.CredentialFile(wrong, string(r)), []byte(`{"user":"alice-daemon","password":"guess"}`), 0o600))
	}
	f := newFolder(t)
	for _, from := range []string{"here", "a NATS"} {
		if from != "here" {
			_, err := relocate.Run(t.Context(), f.with(at(h.Clients()), h.Credentials("alice")))
			f.must(err)
		}
		was, err := relocate.Load(f.dir)
		f.must(err)
		for name, o := range map[string]func() relocate.Options{
			"nobody is there": func() relocate.Options { return f.with(at("tls://127.0.0.1:1"), h.Credentials("carol")) },
			"a wrong password": func() relocate.Options {
				return f.with(at("tls://localhost"+strings.TrimPrefix(h.Clients(), "tls://127.0.0.1")), wrong)
			},
			"another's log": func() relocate.Options {
				return f.with(at("tls://localhost"+strings.TrimPrefix(h.Clients(), "tls://127.0.0.1")), h.Credentials("bob"))
			},
			"a folder without any": func() relocate.Options { return f.with(at("tls://127.0.0.1:1"), empty) },
			"a CA that is none": func() relocate.Options {
				n := at("tls://127.0.0.1:1")
				n.CA = "none.pem"
				return f.with(n, h.Credentials("carol"))
			},
		} {
			t.Run("from "+from+": "+name, func(t *testing.T) {
				f := &folder{t: t, dir: f.dir, n: f.n + 1000}
				_, err := relocate.Run(t.Context(), o())
				if err == nil || !strings.Contains(err.Error(), "Nothing has changed") {
					t.Errorf("it says %v", err)
				}
				if is, err := relocate.Load(f.dir); err != nil || !reflect.DeepEqual(was, is) {
					t.Errorf("the log lies at %+v, %v; it was %+v", is, err, was)
				}
				if _, err := os.Stat(filepath.Join(f.credentials(), "moving")); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the credentials for the new place stay: %v", err)
				}
				if p, err := relocate.Settle(f.dir, f.credentials(), relocate.NATS{}, true); err != nil {
					t.Errorf("no daemon starts: %v", err)
				} else if p.URL != "" {
					c, _ := f.take(p)
					f.append(c, 5)
					c.Close()
				}
			})
		}
	}
}

// TestMoveToAnotherAccount goes from one NATS to another with other credentials, cut off
// before each step: those of the place where the log lies are always those that count.
func TestMoveToAnotherAccount(t *testing.T) {
	t.Parallel()
	h := hubtest.StartFor(t, rights.Manifest{Direct: []string{"alice", "bob"}, Replicas: 1})
	f := newFolder(t)
	first := relocate.NATS{URL: h.Clients(), CA: h.CA, Replicas: 1}
	second := first
	second.URL = "tls://localhost" + strings.TrimPrefix(h.Clients(), "tls://127.0.0.1")
	_, err := relocate.Run(t.Context(), f.with(first, h.Credentials("alice")))
	f.must(err)
	creds := h.Credentials("bob")
	for cut := 1; ; cut++ {
		o := f.with(second, creds)
		n := 0
		ctx, cancel := context.WithCancelCause(t.Context())
		o.Step = func(name string) {
			if n++; n == cut {
				cancel(errors.New("cut off before " + name))
			}
		}
		_, err := relocate.Run(ctx, o)
		cancel(nil)
		p, loadErr := relocate.Load(f.dir)
		f.must(loadErr)
		if p.Moving != nil {
			c := f.connect(p) // with what counts there
			if _, err := bus.Stored(t.Context(), c, schemas.StreamSessions); err != nil {
				t.Errorf("cut off %d times: %v", cut, err)
			}
			c.Close()
		}
		if err == nil || p.URL == second.URL {
			break
		}
		if cut > 20 {
			t.Fatal(err)
		}
	}
	p, err := relocate.Settle(f.dir, f.credentials(), relocate.NATS{}, true)
	f.must(err)
	c, _ := f.take(p)
	f.append(c, 5)
	c.Close()
}
