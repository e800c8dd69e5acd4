package memory

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// keys holds a key for every observation, in one file outside the log:
//
//	<16 bytes of the SHA-256 of scope and id> <32 bytes of the key>
//
// A key is durable before the observation it seals is appended; where the log
// itself is made durable at intervals, soon after. Erasing one
// overwrites it in its place, with which the observation is unreadable in the
// log, in its replicas and in the views, without a change of any of them: a
// record taken out of a stream would be a gap that every reader takes for
// damage, and streams deny it. An erased key is zeros and stays so: its
// observation is not taken in again. A backup of the data directory has to
// contain this file; older backups of it hold keys that were erased since.
type keys struct {
	mu    sync.Mutex
	file  *os.File
	later bool                    // keys are made durable by flush, as the log is at intervals
	dirty bool                    // there is something to flush
	size  int64                   // bytes that hold whole entries
	at    map[[keyName]byte]int64 // where each entry begins
}

const (
	keyName  = 16
	keyEntry = keyName + observation.KeyBytes
)

var (
	errForgotten = errors.New("memory: the observation was forgotten")
	errNoKey     = errors.New("memory: the observation's key is missing")
)

// openKeys opens the file, or makes it. An entry that a crash tore is
// dropped: nothing was sealed with it.
func openKeys(path string) (*keys, error) {
	_, missing := os.Stat(path)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the keys of observations: %w", err)
	}
	if missing != nil {
		if dir, err := os.Open(filepath.Dir(path)); err == nil {
			_ = dir.Sync() // not every system can; the file's own sync follows
			_ = dir.Close()
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the keys of observations: %w", err), f.Close())
	}
	k := &keys{file: f, at: map[[keyName]byte]int64{}}
	for ; k.size+keyEntry <= int64(len(raw)); k.size += keyEntry {
		k.at[[keyName]byte(raw[k.size:])] = k.size
	}
	return k, nil
}

func (k *keys) close() error { return errors.Join(k.flush(), k.file.Close()) }

func nameOfKey(o projections.ObservationKey) [keyName]byte {
	sum := sha256.Sum256([]byte(schemas.EncodeToken(o.Scope) + "/" + schemas.EncodeToken(o.ID)))
	return [keyName]byte(sum[:])
}

// get returns an observation's key, errForgotten or errNoKey.
func (k *keys) get(o projections.ObservationKey) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.read(nameOfKey(o))
}

func (k *keys) read(name [keyName]byte) ([]byte, error) {
	at, found := k.at[name]
	if !found {
		return nil, errNoKey
	}
	key := make([]byte, observation.KeyBytes)
	if _, err := k.file.ReadAt(key, at+keyName); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoKey, err)
	}
	if [observation.KeyBytes]byte(key) == ([observation.KeyBytes]byte{}) {
		return nil, errForgotten
	}
	return key, nil
}

// make returns a key for each observation, those that have one theirs, and
// errForgotten if one was erased. All are durable, with one sync.
func (k *keys) make(all []projections.ObservationKey) ([][]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	keys := make([][]byte, len(all))
	var fresh []byte
	news := map[[keyName]byte][]byte{}
	for i, o := range all {
		name := nameOfKey(o)
		if key := news[name]; key != nil {
			keys[i] = key
			continue
		}
		key, err := k.read(name)
		switch {
		case errors.Is(err, errForgotten):
			return nil, err
		case err != nil:
			if _, found := k.at[name]; found {
				return nil, err
			}
			key = make([]byte, observation.KeyBytes)
			_, _ = rand.Read(key) // never fails
			news[name] = key
			fresh = append(append(fresh, name[:]...), key...)
		}
		keys[i] = key
	}
	if len(fresh) == 0 {
		return keys, nil
	}
	// Written over what a failed attempt may have left behind the last entry.
	if _, err := k.file.WriteAt(fresh, k.size); err != nil {
		return nil, fmt.Errorf("keys of observations: %w", err)
	}
	if k.later {
		k.dirty = true
	} else if err := k.file.Sync(); err != nil {
		return nil, fmt.Errorf("keys of observations: %w", err)
	}
	for ; len(fresh) > 0; fresh = fresh[keyEntry:] {
		k.at[[keyName]byte(fresh)] = k.size
		k.size += keyEntry
	}
	return keys, nil
}

// flush makes the keys durable that were made since the last time.
func (k *keys) flush() error {
	k.mu.Lock()
	dirty := k.dirty
	k.dirty = false
	k.mu.Unlock()
	if !dirty {
		return nil
	}
	if err := k.file.Sync(); err != nil {
		k.mu.Lock()
		k.dirty = true
		k.mu.Unlock()
		return fmt.Errorf("keys of observations: %w", err)
	}
	return nil
}

// erase overwrites an observation's key, durably. One that never had a key
// gets an erased one, so that it is not taken in later.
func (k *keys) erase(o projections.ObservationKey) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	name := nameOfKey(o)
	entry := append(name[:], make([]byte, observation.KeyBytes)...)
	at, found := k.at[name]
	if !found {
		at = k.size
	}
	if _, err := k.file.WriteAt(entry, at); err != nil {
		return fmt.Errorf("erase the key of %s: %w", o.ID, err)
	}
	if err := k.file.Sync(); err != nil {
		return fmt.Errorf("erase the key of %s: %w", o.ID, err)
	}
	if !found {
		k.at[name] = at
		k.size += keyEntry
	}
	return nil
}
