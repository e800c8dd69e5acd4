package embedded

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// synced is what of the files of a log is on the disk.
type synced struct {
	mu    sync.Mutex
	sizes map[string]int64 // by path
	acked map[string]bool  // events whose append returned
}

func (s *synced) sync(f *os.File) error {
	info, err := f.Stat() // what is written from here on may not be covered
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sizes[f.Name()] = max(s.sizes[f.Name()], info.Size())
	return nil
}

// cut lays out the log as a power cut leaves it now that drops all that no sync
// covered, and returns the events that were acknowledged until then.
func (s *synced) cut(t *testing.T, dir string) (to string, acked []string) {
	t.Helper()
	to = t.TempDir()
	s.mu.Lock()
	sizes := map[string]int64{}
	for path, size := range s.sizes {
		sizes[path] = size
	}
	for id := range s.acked {
		acked = append(acked, id)
	}
	s.mu.Unlock()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil // the server goes on meanwhile
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		size := int64(1 << 40)
		switch {
		case strings.HasSuffix(path, "index.db"), d.Name() == marksName, !d.Type().IsRegular():
			return nil // written without a sync, or of another moment
		case strings.HasSuffix(path, ".blk"):
			if size = sizes[path]; size == 0 {
				return nil
			}
		}
		from, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = from.Close() }()
		out, err := os.Create(filepath.Join(to, rel))
		if err != nil {
			return err
		}
		_, err = io.Copy(out, io.LimitReader(from, size))
		return errors.Join(err, out.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
	return to, acked
}

// begun is a server whose appends share syncs, with the log's streams, and the
// daemon's connection to it.
func begun(t *testing.T, dir string) (*Server, *bus.Conn) {
	t.Helper()
	return begunWith(t, Options{Dir: dir, Durability: PowerLoss, Together: true})
}

func begunWith(t *testing.T, o Options) (*Server, *bus.Conn) {
	t.Helper()
	creds, err := LoadOrCreateCredentials(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o.Users = creds.Users()
	server, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Shutdown(context.Background()) })
	own := creds[RoleDaemon]
	conn, err := bus.Connect(t.Context(), bus.Options{Dial: server.Dial, User: own.User, Password: own.Password, Timeout: time.Minute, Synced: server.Sync})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if err := conn.EnsureStreams(t.Context(), bus.Retention{}); err != nil {
		t.Fatal(err)
	}
	return server, conn
}

// said is an event of an agent.
func said(agent, id, result string) schemas.Event {
	return schemas.Event{
		ID: id, Source: "/writ/test", Actor: schemas.ParseActor("test"), Aggregate: schemas.Aggregate{Kind: schemas.KindAgent, ID: agent},
		Data: schemas.CommandFinished{CommandID: "c", OK: true, Result: result},
	}
}

// TestEndsAreUnknownWhileNothingIsOpen: a note that streams which are being written
// anew have no records would let a lost end pass.
func TestEndsAreUnknownWhileNothingIsOpen(t *testing.T) {
	server, conn := begun(t, t.TempDir())
	if _, err := bus.Record(t.Context(), conn.Writer(bus.WriterOptions{}), said("a", "one", "result")); err != nil {
		t.Fatal(err)
	}
	asked := false
	err := Rewrite(server, []string{string(schemas.StreamAgents)}, func(_ string, _ uint64, _ string, header, body []byte) ([]byte, []byte) {
		asked = true
		if m, ok := server.ends(); ok {
			t.Errorf("the ends would be noted as %v", m)
		}
		return header, body
	})
	if err != nil || !asked {
		t.Fatalf("asked: %t, %v", asked, err)
	}
	if m, ok := server.ends(); !ok || m.Streams[string(schemas.StreamAgents)].Last != 1 {
		t.Errorf("afterwards they are %v, %t", m, ok)
	}
}

// TestAPowerCutLosesNothingAcknowledged: many append at once over several files of
// the log; whenever the power is cut, what no sync covered is gone, and every event
// that was acknowledged is there.
func TestAPowerCutLosesNothingAcknowledged(t *testing.T) {
	disk := &synced{sizes: map[string]int64{}, acked: map[string]bool{}}
	was := syncFile
	syncFile = disk.sync
	t.Cleanup(func() { syncFile = was })

	dir := t.TempDir()
	_, conn := begun(t, dir)
	writer := conn.Writer(bus.WriterOptions{})
	const writers, each = 12, 60
	var working sync.WaitGroup
	cuts := make(chan struct{}, writers*each)
	for w := range writers {
		working.Go(func() {
			for i := range each {
				id := fmt.Sprintf("event-%d-%d", w, i)
				_, err := bus.Record(t.Context(), writer, said(fmt.Sprint(w), id, strings.Repeat(rand.Text(), 2500)))
				if err != nil {
					t.Error(err)
					return
				}
				disk.mu.Lock()
				disk.acked[id] = true
				disk.mu.Unlock()
				cuts <- struct{}{}
			}
		})
	}
	type left struct {
		dir   string
		acked []string
	}
	var all []left
	for n := range writers * each {
		<-cuts
		if n%60 == 59 {
			to, acked := disk.cut(t, dir)
			all = append(all, left{to, acked})
		}
	}
	working.Wait()
	disk.mu.Lock()
	blocks := 0
	for path := range disk.sizes {
		if strings.Contains(path, string(schemas.StreamAgents)) {
			blocks++
		}
	}
	disk.mu.Unlock()
	if blocks < 3 {
		t.Errorf("the log has %d files, too few to show anything", blocks)
	}
	for _, l := range all {
		_, conn := begun(t, l.dir)
		there := map[string]bool{}
		err := conn.Follow(t.Context(), schemas.StreamAgents, 0, bus.FollowOptions{UntilEnd: true}, func(batch []schemas.Record) error {
			for _, r := range batch {
				there[r.ID()] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range l.acked {
			if !there[id] {
				t.Errorf("%s was acknowledged and is gone (%d of %d are there)", id, len(there), len(l.acked))
			}
		}
	}
}
