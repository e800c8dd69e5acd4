package evidence

import (
	"encoding/binary"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/writbus/writ/schemas"
)

// leafVersion begins every leaf. Persisted; never change.
const leafVersion = "writ.leaf.v1\n"

// Hash is a node of a tree: SHA-256.
type Hash = tlog.Hash

// header is one header of a message.
type header struct{ name, value string }

// Hasher turns messages into leaf hashes and keeps room for that. It is not
// safe for concurrent use.
type Hasher struct {
	buffer  []byte
	headers []header
}

// Leaf is the hash of the leaf that stands for a message.
func (h *Hasher) Leaf(m schemas.Message) Hash {
	leaf := h.appendLeaf(append(h.buffer[:0], leafPrefix), m)
	if cap(leaf) <= keptRoom {
		h.buffer = leaf
	}
	return sum(leaf)
}

// keptRoom bounds what a Hasher keeps, in bytes: a prompt may be a thousand times
// as large as most messages.
const keptRoom = 1 << 20

// appendLeaf appends the leaf that stands for a message, as the package comment
// states it.
func (h *Hasher) appendLeaf(to []byte, m schemas.Message) []byte {
	h.headers = h.headers[:0]
	for name, value := range m.Headers() {
		// Insertion keeps values of one name in their order. There are a dozen.
		at := len(h.headers)
		h.headers = append(h.headers, header{})
		for ; at > 0 && h.headers[at-1].name > name; at-- {
			h.headers[at] = h.headers[at-1]
		}
		h.headers[at] = header{name, value}
	}
	to = append(to, leafVersion...)
	to = appendText(to, m.Subject)
	to = binary.AppendUvarint(to, uint64(len(h.headers)))
	for _, one := range h.headers {
		to = appendText(appendText(to, one.name), one.value)
	}
	return append(binary.AppendUvarint(to, uint64(len(m.Body))), m.Body...)
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}
