package hub_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus/embedded/hubtest"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/projections/audit/verify"
	"github.com/writbus/writ/projections/hub"
	"github.com/writbus/writ/projections/hubcopies"
	"github.com/writbus/writ/schemas"
)

const sessions = "WRIT_SESSIONS"

func witnessOf(h *hubtest.Hub) hub.Access {
	return hub.Access{URL: h.Clients(), Credential: hubtest.Credential(rights.WitnessUser), CA: h.CA}
}

// watch has a witness look at all that is at a hub, and returns what it says of alice.
func watch(t *testing.T, h *hubtest.Hub, folder string) hub.Seen {
	t.Helper()
	all, err := hub.Watch(t.Context(), hub.WitnessOptions{
		Access: witnessOf(h), Folder: folder, Once: true, Now: time.Now, Out: t.Output(),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Member == "alice" {
			return s
		}
	}
	return hub.Seen{}
}

// sealed waits until the newest checkpoint over a machine's sessions is at the hub.
func (m *machine) sealed(h *hubtest.Hub) {
	m.t.Helper()
	compare(m.t, h, m)
	h.Eventually("the newest checkpoint is at the hub", func() error {
		last := h.Messages(rights.Copies)
		for i := len(last) - 1; i >= 0; i-- {
			if strings.HasPrefix(last[i].Subject, "writ.at."+m.member+".") && strings.HasSuffix(last[i].Subject, "."+sessions) {
				if bytes.Contains(last[i].Data, fmt.Appendf(nil, `"sealed":%d`, len(m.told))) {
					return nil
				}
				return fmt.Errorf("the last is %.300s", last[i].Data)
			}
		}
		return errors.New("none")
	})
}

func (m *machine) status() schemas.TeamReply {
	m.t.Helper()
	reply, err := m.ask(schemas.TeamRequest{Act: schemas.TeamStatus})
	m.must(err)
	return reply
}

// TestWitnessShowsForksAndRollbacks has a witness look at an honest log, at one that was
// put back and went on in another way, at one that left and joined, at something brought
// twice, and at a hub that was put back.
func TestWitnessShowsForksAndRollbacks(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t, 1, "alice")
	folder := t.TempDir()
	alice := newMachine(t, h, "alice", h.URLs())
	alice.happen(20, 2)
	alice.sealed(h)
	honest := watch(t, h, folder)
	if len(honest.Findings) != 0 || honest.Streams[sessions].Copies != 20 || honest.Streams[sessions].Records != 20 {
		t.Fatalf("of an honest log: %+v", honest)
	}
	if s := alice.status(); s.Witness != honest.Key || len(s.Findings) != 0 || cosigned(s) != 20 {
		t.Errorf("the member says %+v", s)
	}
	if second := verify.NewSecond(alice.status()); second.Missing != "" || len(second.Problems(false)) != 0 {
		t.Errorf("the second place is %+v", second)
	}
	kept, err := os.ReadFile(filepath.Join(folder, "alice", "1", sessions+evidence.CheckpointsFile))
	if all, rest := evidence.SplitCheckpoints(kept); err != nil || len(all) == 0 || rest != "" {
		t.Errorf("it kept %q, %v", kept, err)
	}

	alice.end()
	streams, backup := filepath.Join(alice.dir, "streams"), t.TempDir()
	alice.must(os.CopyFS(backup, os.DirFS(streams)))
	told := len(alice.told)
	alice.start(h)
	alice.happen(10, 2)
	alice.sealed(h)
	if s := watch(t, h, folder); len(s.Findings) != 0 || s.Streams[sessions].Records != 30 {
		t.Fatalf("of a log that grew: %+v", s)
	}
	for round, grows := range []int{5, 40} { // shorter than it was, and longer
		alice.end()
		alice.must(os.RemoveAll(streams))
		alice.must(os.CopyFS(streams, os.DirFS(backup)))
		alice.told = alice.told[:told]
		alice.start(nil) // so that it has grown before the hub is asked
		alice.happen(grows, 2)
		alice.end()
		alice.start(h)
		alice.sealed(h)
		s := watch(t, h, folder)
		if f := s.Findings; len(f) != round+1 || f[round].Kind != schemas.TeamRollback || f[round].Stream != sessions || f[round].Epoch != uint64(round+2) {
			t.Fatalf("of a log that was put back: %v", f)
		}
		if s := alice.status(); len(verify.NewSecond(s).Problems(false)) != 1 || len(verify.NewSecond(s).Problems(true)) != 0 || cosigned(s) != int64(told+grows) {
			t.Errorf("the member says %+v", s)
		}
	}

	_, err = alice.ask(schemas.TeamRequest{Act: schemas.TeamLeave})
	alice.must(err)
	_, err = alice.ask(schemas.TeamRequest{Act: schemas.TeamJoin, URL: h.URLs(), Credential: hubtest.Credential("alice"), CA: h.CA, List: hubcopies.ListDigest()})
	alice.must(err)
	alice.end()
	alice.start(h)
	alice.happen(3, 1)
	alice.sealed(h)
	if s := watch(t, h, folder); s.Epoch != 4 || len(s.Findings) != 2 || s.Streams[sessions].Records != 63 {
		t.Errorf("of a log that left and joined: %+v", s)
	}

	// A hub that is put back loses what was brought since; it is brought again, once.
	alice.end()
	h.Kill(0)
	hub := t.TempDir()
	alice.must(os.CopyFS(hub, os.DirFS(h.Store(0))))
	h.Run(0)
	alice.start(h)
	alice.happen(7, 1)
	alice.sealed(h)
	watch(t, h, folder)
	h.Kill(0)
	alice.must(os.RemoveAll(h.Store(0)))
	alice.must(os.CopyFS(h.Store(0), os.DirFS(hub)))
	h.Run(0)
	alice.happen(2, 1)
	alice.sealed(h)
	s := watch(t, h, folder)
	if f := s.Findings; len(f) != 3 || f[2].Kind != "" || !strings.Contains(f[2].What, "the hub had") || s.Streams[sessions].Records != 72 {
		t.Errorf("of a hub that was put back: %+v", s)
	}

	// What was brought once is brought again by somebody with the credential.
	for _, m := range h.Messages(rights.Copies) {
		if m.Subject == fmt.Sprintf("writ.at.alice.%d.%s", s.Epoch, sessions) {
			alice.must(h.As("alice").Publish(m.Subject, m.Data))
			break
		}
	}
	h.Eventually("the witness names the fork", func() error {
		if f := watch(t, h, folder).Findings; f[len(f)-2].Kind != schemas.TeamFork { // behind it is the hub's
			return fmt.Errorf("%v", f)
		}
		return nil
	})
	if cosigned(alice.status()) != 72 {
		t.Errorf("behind a fork the member says %+v", alice.status())
	}
}

func cosigned(r schemas.TeamReply) int64 {
	for _, s := range r.Streams {
		if s.Stream == sessions && s.Cosigned == s.Sealed {
			return s.Sealed
		}
	}
	return -1
}

// TestAWitnessGoesOn: one that runs on says what comes, and pins its key.
func TestAWitnessGoesOn(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t, 1, "alice")
	alice := newMachine(t, h, "alice", h.URLs())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := hub.Watch(ctx, hub.WitnessOptions{Access: witnessOf(h), Folder: t.TempDir(), Now: time.Now, Out: t.Output()})
		done <- err
	}()
	for n := range 3 {
		alice.happen(4, 1)
		h.Eventually("the witness cosigns", func() error {
			if got := cosigned(alice.status()); got != int64(4*n+4) {
				return fmt.Errorf("%d", got)
			}
			return nil
		})
	}
	cancel()
	alice.must(<-done)
	// Another one does not speak unasked, and in its place is not believed.
	other := hub.WitnessOptions{Access: witnessOf(h), Folder: t.TempDir(), Now: time.Now, Out: t.Output(), Once: true}
	if _, err := hub.Watch(t.Context(), other); err == nil || !strings.Contains(err.Error(), "another witness") {
		t.Errorf("a second one began: %v", err)
	}
	if s := alice.status(); len(s.Findings) != 0 {
		t.Errorf("beside a second one: %+v", s)
	}
	other.Replace = true
	_, err := hub.Watch(t.Context(), other)
	alice.must(err)
	if s := alice.status(); len(s.Findings) != 1 || !strings.Contains(s.Findings[0].What, "another witness") || cosigned(s) > 0 {
		t.Errorf("of another witness: %+v", s)
	}
}
