package projections

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"

	"github.com/writbus/writ/schemas"
)

// The store's keys. Persisted; never change.
//
//	m<view>/active                       manifest of the generation in use
//	m<view>/building                     manifest of the one being built beside it
//	d<view>/<generation>                 how far it has read each stream
//	d<view>/<generation><key>            what the projector wrote
//
// A generation is eight bytes, big endian. A view's name holds no "/". The
// checkpoints are the first key of the range of their data, so that neither can
// be deleted or left behind without the other.
const (
	metaSpace = 'm'
	dataSpace = 'd'
)

var viewName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`) })

func activeKey(view string) []byte   { return []byte(string(metaSpace) + view + "/active") }
func buildingKey(view string) []byte { return []byte(string(metaSpace) + view + "/building") }

// viewPrefix begins the keys of all generations of a view.
func viewPrefix(view string) []byte { return []byte(string(dataSpace) + view + "/") }

// dataPrefix begins the keys of a generation, and is the key of its checkpoints.
func dataPrefix(view string, generation uint64) []byte {
	return binary.BigEndian.AppendUint64(viewPrefix(view), generation)
}

// manifest describes a generation of a view.
type manifest struct {
	Generation uint64 `json:"generation"`
	Version    int    `json:"version"`
	Types      string `json:"types"`      // digest of what the projector reads
	Vocabulary string `json:"vocabulary"` // digest of what the build could decode
	Reason     string `json:"reason,omitempty"`
}

// checkpoints are those of a generation, one a stream. A generation has them,
// if empty, from its beginning on.
type checkpoints map[schemas.Stream]checkpoint

// checkpoint says how far a generation has read a stream.
type checkpoint struct {
	Seq         uint64 `json:"seq"`
	ID          string `json:"id"`                    // of the record at Seq
	Quarantined uint64 `json:"quarantined,omitempty"` // records passed over, not decodable
}

func getJSON(get func([]byte) ([]byte, bool, error), key []byte, into any) (bool, error) {
	value, found, err := get(key)
	if err != nil || !found {
		return false, err
	}
	if err := json.Unmarshal(value, into); err != nil {
		return false, fmt.Errorf("%w: key %q: %w", ErrCorruptStore, key, err)
	}
	return true, nil
}

func setJSON(set func(key, value []byte) error, key []byte, from any) error {
	value, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return set(key, value)
}

func digest(parts []string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = io.WriteString(h, p) // a hash takes every write
		_, _ = h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// typesDigest changes when a projector reads other types than before. Reading
// all is one value: a type that is new to the build was not in the log.
func typesDigest(types []schemas.Type) string {
	if len(types) == 0 {
		return "all"
	}
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	slices.Sort(names)
	return digest(slices.Compact(names))
}

// vocabulary changes when the build learns a type or a version: then records
// that were passed over may be readable.
var vocabulary = sync.OnceValue(func() string {
	var names []string
	for _, t := range schemas.Types() {
		names = append(names, fmt.Sprintf("%s/%d", t, t.Version()))
	}
	return digest(names)
})
