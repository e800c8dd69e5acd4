package evidence

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/writbus/writ/schemas"
)

// storedMessage is a record of common size, as it comes from the log.
func storedMessage(i int) schemas.Message {
	id := fmt.Sprintf("01a1ff6d-93a2-76fc-8175-%012x", i)
	return schemas.Message{Subject: "writ.session.s1.tool.decided", Body: bytes.Repeat([]byte("x"), 400), Block: []byte("NATS/1.0\r\nce-id: " + id + "\r\nce-type: tool.decided\r\nce-source: /writ/daemon\r\nce-time: 2026-11-21T18:45:33.730547952Z\r\nce-subject: s1\r\nce-specversion: 1.0\r\nce-writversion: 1\r\nce-actor: agent\r\ncontent-type: application/json\r\nNats-Msg-Id: " + id + "\r\n\r\n")}
}

func BenchmarkLeaf(b *testing.B) {
	m := storedMessage(1)
	var h Hasher
	for b.Loop() {
		h.Leaf(m)
	}
}

// BenchmarkCheck is one record of writ audit verify, without reading it.
func BenchmarkCheck(b *testing.B) {
	m := storedMessage(1)
	var h Hasher
	hash := h.Leaf(m)
	var lines []byte
	for i := range b.N + 1 {
		lines = AppendLeafLine(lines, Leaf{Seq: uint64(i + 1), Hash: hash, ID: "01a1ff6d-93a2-76fc-8175-2ec0d216f7bb"})
	}
	c := NewCheck(schemas.StreamSessions, nil, NewLeafReader(bytes.NewReader(lines)))
	b.ResetTimer()
	for i := range b.N {
		c.Record(schemas.Record{Stream: schemas.StreamSessions, Seq: uint64(i + 1), Message: m}, h.Leaf(m))
	}
	if len(c.was) > 0 {
		b.Fatal("they differ")
	}
}
