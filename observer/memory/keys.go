package memory

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/schemas"
)

// keys holds a key for every observation, in one file outside the log, which
// begins with keyHead:
//
//	<16 bytes of the SHA-256 of scope and id> <32 bytes of the key> <8 bytes of the SHA-256 of both>
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

	damaged map[int64][keyName]byte // names of entries whose sum does not hold, by where they begin
	told    []string                // what a person has to know of the file
}

var (
	errForgotten  = errors.New("memory: the observation was forgotten")
	errNoKey      = errors.New("memory: the observation's key is missing")
	errDamagedKey = errors.New("memory: the observation's key is damaged; writ status says what to do")
)

// openKeys opens the file, or makes it, and mends what can be mended of it.
func openKeys(path string) (*keys, error) {
	// A link stays one: what is replaced is the file that it leads to.
	if linked, err := filepath.EvalSymlinks(path); err == nil {
		path = linked
	}
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the keys of observations: %w", err)
	}
	entries, told, err := mendKeys(path, raw)
	if err != nil {
		return nil, fmt.Errorf("the keys of observations: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("the keys of observations: %w", err)
	}
	k := &keys{file: f, size: int64(len(keyHead)), at: map[[keyName]byte]int64{}, damaged: map[int64][keyName]byte{}, told: told}
	for _, entry := range entries {
		k.note(entry)
	}
	return k, nil
}

// note takes in the entry that ends the file.
func (k *keys) note(entry []byte) {
	if name := [keyName]byte(entry); sumHolds(entry) {
		k.at[name] = k.size
	} else {
		k.damaged[k.size] = name
	}
	k.size += keyEntry
}

// find is where an observation's entry begins. It returns errNoKey for none, and
// errDamagedKey with a damaged one, which is that of the observation if half of
// the name is: no other name comes that close.
func (k *keys) find(name [keyName]byte) (int64, error) {
	if at, found := k.at[name]; found {
		return at, nil
	}
	for at, has := range k.damaged {
		if differing(has[:], name[:]) <= keyName/2 {
			return at, errDamagedKey
		}
	}
	return 0, errNoKey
}

func (k *keys) close() error { return errors.Join(k.flush(), k.file.Close()) }

func nameOfKey(o schemas.ObservationKey) [keyName]byte {
	sum := sha256.Sum256([]byte(schemas.EncodeToken(o.Scope) + "/" + schemas.EncodeToken(o.ID)))
	return [keyName]byte(sum[:])
}

// get returns an observation's key, errForgotten, errNoKey or errDamagedKey.
func (k *keys) get(o schemas.ObservationKey) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.read(nameOfKey(o))
}

func (k *keys) read(name [keyName]byte) ([]byte, error) {
	at, err := k.find(name)
	if err != nil {
		return nil, err
	}
	entry := make([]byte, keyEntry)
	if _, err := k.file.ReadAt(entry, at); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamagedKey, err)
	}
	if !sumHolds(entry) || [keyName]byte(entry) != name {
		return nil, errDamagedKey
	}
	key := entry[keyName:keyBare:keyBare]
	if [observation.KeyBytes]byte(key) == ([observation.KeyBytes]byte{}) {
		return nil, errForgotten
	}
	return key, nil
}

// make returns a key for each observation, those that have one theirs, and
// errForgotten if one was erased. All are durable, with one sync.
func (k *keys) make(all []schemas.ObservationKey) ([][]byte, error) {
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
		case errors.Is(err, errNoKey):
			key = make([]byte, observation.KeyBytes)
			_, _ = rand.Read(key) // never fails
			news[name] = key
			fresh = append(fresh, withSum(append(name[:], key...))...)
		case err != nil:
			return nil, err
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
		k.note(fresh[:keyEntry])
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
func (k *keys) erase(o schemas.ObservationKey) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	name := nameOfKey(o)
	entry := withSum(append(name[:], make([]byte, observation.KeyBytes)...))
	at, err := k.find(name)
	if errors.Is(err, errNoKey) {
		at = k.size
	}
	if _, err := k.file.WriteAt(entry, at); err != nil {
		return fmt.Errorf("erase the key of %s: %w", o.ID, err)
	}
	if err := k.file.Sync(); err != nil {
		return fmt.Errorf("erase the key of %s: %w", o.ID, err)
	}
	k.at[name] = at
	delete(k.damaged, at)
	if at == k.size {
		k.size += keyEntry
	}
	return nil
}
