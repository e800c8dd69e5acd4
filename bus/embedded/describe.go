package embedded

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/minio/highwayhash"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/writbus/writ/schemas/atomicfile"
)

// The server describes each stream in a file, with a checksum in another, and
// leaves out a stream whose two do not agree. Both are a few hundred bytes that
// the server syncs only where it syncs every append.
const (
	describedIn = server.JetStreamMetaFile
	summedIn    = server.JetStreamMetaFileSum
)

// mendDescriptions writes anew what describes a stream, before the server looks
// at it, where it is damaged and Options.Streams knows the stream. The damaged
// file is kept beside it.
func (s *Server) mendDescriptions(stored []string) error {
	for _, name := range stored {
		config, known := s.options.Streams[name]
		if !known {
			continue
		}
		dir := filepath.Join(streamsDir(s.options.Dir), name)
		damage := descriptionDamage(dir, name)
		if damage == "" {
			continue
		}
		if err := describe(dir, name, config); err != nil {
			return fmt.Errorf("%w: describing the stream %s anew: %w", ErrStart, name, err)
		}
		s.options.Logger.Warn("a stream's description was damaged and is written anew; its records are untouched", "stream", name, "damage", damage)
	}
	return nil
}

// descriptionDamage says what is wrong with a stream's description, "" for
// nothing.
func descriptionDamage(dir, name string) string {
	described, err := os.ReadFile(filepath.Join(dir, describedIn))
	if err != nil {
		return describedIn + " cannot be read: " + err.Error()
	}
	sum, err := os.ReadFile(filepath.Join(dir, summedIn))
	if err != nil {
		return summedIn + " cannot be read: " + err.Error()
	}
	want, err := checksum(name, described)
	if err != nil {
		return err.Error()
	}
	if !bytes.Equal(sum, want) {
		return describedIn + " and " + summedIn + " do not agree"
	}
	return ""
}

// checksum is the server's of a stream's description: HighwayHash-64 in
// hexadecimal, its key the SHA-256 of the stream's name.
func checksum(name string, described []byte) ([]byte, error) {
	key := sha256.Sum256([]byte(name))
	h, err := highwayhash.New64(key[:])
	if err != nil {
		return nil, err
	}
	_, _ = h.Write(described)
	return fmt.Appendf(nil, "%x", h.Sum(nil)), nil
}

func describe(dir, name string, config []byte) error {
	described := server.FileStreamInfo{Created: time.Now().UTC()}
	if err := json.Unmarshal(config, &described.StreamConfig); err != nil {
		return err
	}
	if described.Name != name {
		return fmt.Errorf("the configuration is of %q", described.Name)
	}
	body, err := json.Marshal(described)
	if err != nil {
		return err
	}
	sum, err := checksum(name, body)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, describedIn)
	damaged, err := os.ReadFile(path)
	if err == nil {
		err = atomicfile.Write(path+".damaged", damaged, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(
		atomicfile.Write(path, body, 0o600),
		atomicfile.Write(filepath.Join(dir, summedIn), sum, 0o600),
	)
}

// SyncStreams writes to the disk what describes the streams, and the folders
// they lie in, whatever the durability: a power cut then takes no stream as a
// whole. It is to be called after streams were made or changed.
func (s *Server) SyncStreams() error {
	for _, name := range storedStreams(s.options.Dir) {
		dir := filepath.Join(streamsDir(s.options.Dir), name)
		for _, path := range []string{filepath.Join(dir, describedIn), filepath.Join(dir, summedIn), filepath.Join(dir, "msgs"), dir} {
			if err := atomicfile.Sync(path); err != nil {
				return fmt.Errorf("embedded: sync the stream %s: %w", name, err)
			}
		}
	}
	for dir := streamsDir(s.options.Dir); ; dir = filepath.Dir(dir) {
		if err := atomicfile.Sync(dir); err != nil {
			return fmt.Errorf("embedded: sync the folder of the streams: %w", err)
		}
		if dir == filepath.Clean(s.options.Dir) {
			return atomicfile.Sync(filepath.Dir(dir))
		}
	}
}
