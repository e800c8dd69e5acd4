package projections_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// spoiled returns messages that cannot be decoded, one for each way.
func spoiled(t *testing.T) map[string]schemas.Message {
	t.Helper()
	bad := map[string]schemas.Message{}
	for _, way := range []string{"body", "type", "version"} {
		m, err := schemas.Encode(prompt("s", 0))
		if err != nil {
			t.Fatal(err)
		}
		switch way {
		case "body":
			m.Body = []byte("{")
		case "type":
			m.Subject = schemas.Session("s").Subject("prompt.dreamt")
			m.Header[schemas.HeaderType] = []string{"prompt.dreamt"}
		case "version":
			m.Header[schemas.HeaderWritVersion] = []string{"7"}
		}
		bad[way] = m
	}
	return bad
}

func TestUndecodableIsQuarantinedOnce(t *testing.T) {
	for way, m := range spoiled(t) {
		t.Run(way, func(t *testing.T) {
			l, fs := newMemoryLog(), vfs.NewMem()
			prompts(l, 2)
			l.append(schemas.StreamSessions, m)
			prompts(l, 2)
			for range 3 {
				s := openStore(t, fs)
				r := start(t, l, s, projections.Options{}, tally{types: []schemas.Type{"prompt.submitted"}}, projections.NewSessions(nil))
				r.caughtUp()
				r.want("all", 4)
				for _, st := range r.Status() {
					if st.Quarantined != 1 || st.State != projections.Live {
						t.Errorf("status %+v", st)
					}
				}
				r.stop()
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if err := fs.RemoveAll("views"); err != nil {
					t.Fatal(err)
				}
			}
			if want := []string{"WRIT_SESSIONS/3"}; !slices.Equal(l.quarantined, want) {
				t.Errorf("quarantined %v, want %v", l.quarantined, want)
			}
		})
	}
}

// A record that takes the place of a quarantined one is another record.
func TestReplacedRecordIsQuarantinedToo(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	bad := spoiled(t)
	l.append(schemas.StreamSessions, bad["body"])
	r := start(t, l, s, projections.Options{}, projections.NewSessions(nil))
	r.caughtUp()
	r.stop()
	l.truncate(schemas.StreamSessions, 0)
	l.append(schemas.StreamSessions, bad["type"])
	r = start(t, l, s, projections.Options{}, bumpedSessions(1))
	r.caughtUp()
	if len(l.quarantined) != 2 {
		t.Errorf("quarantined %v", l.quarantined)
	}
}

var regexpVocabulary = regexp.MustCompile(`"vocabulary":"[^"]*"`)

func bumpedSessions(by int) projections.Projector { return raised(projections.NewSessions(nil), by) }

// What cannot be put into the quarantine is not passed over.
func TestNothingIsDroppedWithoutQuarantine(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	prompts(l, 1)
	l.append(schemas.StreamSessions, spoiled(t)["body"])
	refused, open := make(chan struct{}, 1), make(chan struct{})
	l.fail = func(op string) error {
		if op != "quarantine" {
			return nil
		}
		select {
		case refused <- struct{}{}:
			return errors.New("disk full")
		default:
		}
		<-open
		return nil
	}
	r := start(t, l, s, projections.Options{MaxBatch: 1}, tally{types: []schemas.Type{"prompt.submitted"}})
	prompts(l, 1)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.WaitFor(ended, "tally", sessions(2)); err == nil {
		t.Error("passed over")
	}
	close(open)
	r.caughtUp()
	r.want("all", 2)
	if len(l.quarantined) != 1 {
		t.Errorf("quarantined %v", l.quarantined)
	}
}

// The quarantine does not feed itself.
func TestQuarantineKeepsItsOwn(t *testing.T) {
	l, s := newMemoryLog(), openStore(t, vfs.NewMem())
	defer s.Close()
	l.append(schemas.StreamQuarantine, schemas.Message{Subject: "writ.quarantine.x.thing.happened", Body: []byte("?")})
	r := start(t, l, s, projections.Options{}, tally{})
	r.caughtUp()
	if len(l.quarantined) != 0 || r.Status()[0].Quarantined != 1 {
		t.Errorf("quarantined %v, status %+v", l.quarantined, r.Status()[0])
	}
}

// A build that knows other types reads again what an older one passed over.
func TestNewVocabularyRebuilds(t *testing.T) {
	for _, spoil := range []bool{true, false} {
		l, s := newMemoryLog(), openStore(t, vfs.NewMem())
		prompts(l, 2)
		if spoil {
			l.append(schemas.StreamSessions, spoiled(t)["type"])
		}
		r := start(t, l, s, projections.Options{}, tally{types: []schemas.Type{"prompt.submitted"}})
		r.caughtUp()
		r.stop()
		key := []byte("mtally/active")
		manifest, _, err := s.Get(key)
		if err != nil {
			t.Fatal(err)
		}
		older := regexpVocabulary.ReplaceAll(manifest, []byte(`"vocabulary":"older"`))
		if err := s.Commit(func(b projections.Batch) error { return b.Set(key, older) }); err != nil {
			t.Fatal(err)
		}
		r = start(t, l, s, projections.Options{}, tally{types: []schemas.Type{"prompt.submitted"}})
		r.caughtUp()
		if rebuilt := r.Status()[0].Reason != ""; rebuilt != spoil {
			t.Errorf("rebuilt %v with a passed over record %v", rebuilt, spoil)
		}
		r.stop()
		now, _, err := s.Get(key)
		if err != nil {
			t.Fatal(err)
		}
		if string(regexpVocabulary.Find(now)) != string(regexpVocabulary.Find(manifest)) {
			t.Errorf("manifest %s", now)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
