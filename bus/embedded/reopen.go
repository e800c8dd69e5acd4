package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/blockfile"
	"github.com/writbus/writ/schemas/disk"
)

const (
	reopenEvery = 250 * time.Millisecond // looks for room while the log is closed
	probeSize   = 64 << 10               // bytes that the disk has to take before the log is opened again
)

// Room is disk.Room in the errors of the bus.
func Room(dir string, need int64) error {
	err := disk.Room(dir, need)
	if errors.Is(err, disk.ErrReadOnly) {
		return fmt.Errorf("%w: %w", bus.ErrStorage, err)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", bus.ErrDiskFull, err)
	}
	return nil
}

// Health returns nil where an append can be stored, else bus.ErrDiskFull or
// bus.ErrStorage with the disk and what to do about it. It asks the disk each
// time, which takes microseconds.
func (s *Server) Health() error {
	if err := Room(s.options.Dir, 0); err != nil {
		return err
	}
	if reason := s.log.writeFailure(); reason != "" {
		return fmt.Errorf("%w: the disk %s, with %s on it, failed: %s. Repair it, or make room; Writ then goes on by itself",
			bus.ErrStorage, disk.Mount(s.options.Dir), s.StoreDir(), reason)
	}
	return nil
}

// Inform names connections of this process that are interrupted when the server
// stops storing, and when it stores again: nobody else tells them that their
// calls get no answer, and their readers that they are forgotten.
func (s *Server) Inform(conns ...*bus.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inform = conns
}

func (s *Server) interrupt(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.inform {
		c.Interrupt(err)
	}
}

// keepOpen opens the log again after it could not be written. The server stores
// nothing more in a stream after the first failure, for the end of its file may
// be torn; opening it cuts that off.
func (s *Server) keepOpen() {
	defer s.tending.Done()
	for {
		select {
		case <-s.stopping:
			return
		case <-s.log.failed:
		}
		s.interrupt(errors.New(s.log.writeFailure()))
		if !s.untilOpen() {
			return
		}
		s.options.Logger.Warn("the log is written again")
	}
}

// untilOpen returns whether the log was opened before the server stops.
func (s *Server) untilOpen() bool {
	tick := time.NewTicker(reopenEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.stopping:
			return false
		case <-tick.C:
		}
		if Room(s.options.Dir, 0) != nil || s.probe() != nil {
			continue
		}
		failures := s.log.failedTimes()
		if err := s.reopen(nil); err != nil {
			s.options.Logger.Error("open the log again", "error", err)
			continue
		}
		if s.ended.some() {
			continue // another one, while the log was opened
		}
		if !s.log.mended(failures) {
			continue // the disk failed again
		}
		s.interrupt(errors.New("the log was opened again"))
		return true
	}
}

// probe writes to the disk and takes it back.
func (s *Server) probe() error {
	file, err := os.CreateTemp(s.options.Dir, probePattern)
	if err != nil {
		return err
	}
	_, err = file.Write(bytes.Repeat([]byte{1}, probeSize))
	return errors.Join(err, file.Sync(), file.Close(), os.Remove(file.Name()))
}

// ErasedName is the name, in Options.Dir, of the note of how many records lost their
// texts. Whoever puts older records back removes it. Persisted; never change.
const ErasedName = "erased"

// Rewrite lets change say what the headers and the bodies of some streams' records
// are from now on, and removes the copies of damaged files, which hold them as they
// were. Nobody appends or reads meanwhile. Cut off, it is repeated.
func Rewrite(s *Server, streams []string, change func(stream string, seq uint64, subject string, header, body []byte) (h, b []byte)) error {
	return s.reopen(func() error {
		for _, name := range streams {
			err := blockfile.Rewrite(filepath.Join(streamsDir(s.options.Dir), name), name, func(seq uint64, subject string, header, body []byte) ([]byte, []byte) {
				return change(name, seq, subject, header, body)
			})
			if err != nil {
				return err
			}
		}
		return os.RemoveAll(filepath.Join(s.options.Dir, keptDir))
	})
}

// reopen has the server close the streams and recover them from the disk, as
// after a start. Clients stay connected. meanwhile is called while nothing is open.
func (s *Server) reopen(meanwhile func() error) error {
	if err := s.ns.ShutdownJetStream(); err != nil {
		return err
	}
	if err := s.noted.each((*syncs).again); err != nil {
		return err
	}
	if meanwhile != nil {
		if err := meanwhile(); err != nil {
			return err
		}
	}
	if err := errors.Join(s.ended.putBack(), s.protect(storedStreams(s.options.Dir))); err != nil {
		return err
	}
	o, err := s.serverOptions()
	if err != nil {
		return err
	}
	if err := s.ns.EnableJetStream(&server.JetStreamConfig{
		StoreDir: o.StoreDir, SyncAlways: o.SyncAlways, SyncInterval: o.SyncInterval,
		MaxMemory: o.JetStreamMaxMemory, MaxStore: o.JetStreamMaxStore, Strict: !o.NoJetStreamStrict,
	}); err != nil {
		return err
	}
	if err := s.openLog(); err != nil {
		return err
	}
	return s.examine(storedStreams(s.options.Dir))
}
