package evidence

import (
	"cmp"
	"encoding/binary"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/writbus/writ/schemas"
)

// leafVersion begins every leaf. Persisted; never change.
const leafVersion = "writ.leaf.v1\n"

// Hash is a node of a tree: SHA-256.
type Hash = tlog.Hash

// header is one header of a message.
type header struct{ name, value string }

// AppendLeaf appends the leaf that stands for a message, as the package comment
// states it.
func AppendLeaf(to []byte, m schemas.Message) []byte {
	var room [24]header
	headers := room[:0]
	for name, value := range m.Headers() {
		headers = append(headers, header{name, value})
	}
	slices.SortStableFunc(headers, func(a, b header) int { return cmp.Compare(a.name, b.name) })
	to = append(to, leafVersion...)
	to = appendText(to, m.Subject)
	to = binary.AppendUvarint(to, uint64(len(headers)))
	for _, h := range headers {
		to = appendText(appendText(to, h.name), h.value)
	}
	return append(binary.AppendUvarint(to, uint64(len(m.Body))), m.Body...)
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// Hasher turns messages into leaf hashes and keeps room for that. It is not
// safe for concurrent use.
type Hasher struct{ room []byte }

// Leaf is the hash of the leaf that stands for a message.
func (h *Hasher) Leaf(m schemas.Message) Hash {
	h.room = AppendLeaf(append(h.room[:0], leafPrefix), m)
	return sum(h.room)
}
