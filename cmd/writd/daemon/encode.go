package daemon

import (
	"bytes"
	"encoding/json"
	"sync"
)

// mostRoom is the largest reply, in bytes, whose memory is used for another.
const mostRoom = 1 << 20

// rooms hold replies that are being sent.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// encoded makes JSON of a reply, as [json.Marshal] does, in memory that release
// takes back.
func encoded(reply any) ([]byte, error) {
	room := (*rooms.Get().(*[]byte))[:0]
	if own, ok := reply.(interface {
		AppendJSON(b []byte) ([]byte, error)
	}); ok {
		return own.AppendJSON(room)
	}
	b := bytes.NewBuffer(room)
	if err := json.NewEncoder(b).Encode(reply); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

func release(reply []byte) {
	if cap(reply) <= mostRoom {
		rooms.Put(&reply)
	}
}
