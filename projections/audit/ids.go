package audit

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// uuidText marks an id that is stored as the 16 bytes of its UUID. Any other
// number before an id is its length.
const uuidText = 255

// appendID appends an id to a page of them: the UUIDs that Writ makes packed,
// any other as it is.
func appendID(to []byte, id string) []byte {
	if packed, is := packUUID(id); is {
		return append(append(to, uuidText), packed[:]...)
	}
	if len(id) < uuidText {
		return append(append(to, byte(len(id))), id...)
	}
	// Longer than an event's id may be: somebody else's message. Its hash
	// stands for it, its id is cut.
	return append(append(to, uuidText-1), id[:uuidText-1]...)
}

// cutID cuts the first id from a page, as it is stored.
func cutID(page []byte) (stored, rest []byte, err error) {
	if len(page) == 0 {
		return nil, nil, fmt.Errorf("%w: a page of ids is short", ErrCorrupt)
	}
	n := 1 + int(page[0])
	if page[0] == uuidText {
		n = 1 + 16
	}
	if len(page) < n {
		return nil, nil, fmt.Errorf("%w: a page of ids is cut", ErrCorrupt)
	}
	return page[:n], page[n:], nil
}

// nextID cuts the first id from a page.
func nextID(page []byte) (id string, rest []byte, err error) {
	stored, rest, err := cutID(page)
	switch {
	case err != nil:
		return "", nil, err
	case stored[0] == uuidText:
		return uuidString([16]byte(stored[1:])), rest, nil
	}
	return string(stored[1:]), rest, nil
}

// packUUID reads a UUID in its usual form, lower case only, so that it can be
// given back exactly.
func packUUID(id string) (packed [16]byte, is bool) {
	if len(id) != 36 || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' {
		return packed, false
	}
	digits := id[:8] + id[9:13] + id[14:18] + id[19:23] + id[24:]
	if _, err := hex.Decode(packed[:], []byte(digits)); err != nil {
		return packed, false
	}
	return packed, uuidString(packed) == id
}

func uuidString(packed [16]byte) string {
	digits := hex.EncodeToString(packed[:])
	return digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:]
}

// madeAt is the time in an id of version 7, milliseconds since 1970.
func madeAt(id string) (millis uint64, known bool) {
	packed, is := packUUID(id)
	if !is {
		return 0, false
	}
	return timeIn(packed)
}

// timeIn is madeAt of a packed id.
func timeIn(packed [16]byte) (millis uint64, known bool) {
	if packed[6]>>4 != 7 {
		return 0, false
	}
	return binary.BigEndian.Uint64(packed[:8]) >> 16, true
}
