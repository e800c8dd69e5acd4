package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

const (
	// MaxPayload is the largest payload, in bytes, that is judged as a host sent it:
	// the largest file a host sends whole, escaped.
	MaxPayload = 24 << 20
	// MaxRead is the largest that is read at all.
	MaxRead = 8 * MaxPayload
	// keptText is what stays of a text in a larger payload, in bytes.
	keptText = 256 << 10
)

// Shorten cuts the long texts of a payload that is larger than MaxPayload, so that a
// prompt or what came of a tool is seen all the same. A call that asks for something
// is not to be judged by what is left. It returns an error for what is no JSON, or
// is too large still.
func Shorten(payload []byte) ([]byte, error) {
	tooLarge := fmt.Errorf("the payload is larger than %d MiB", MaxPayload>>20)
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	var all any
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("%w, and no JSON: %w", tooLarge, err)
	}
	short, err := json.Marshal(shortened(all))
	if err == nil && len(short) > MaxPayload {
		err = tooLarge
	}
	return short, err
}

func shortened(value any) any {
	switch v := value.(type) {
	case string:
		if len(v) > keptText {
			return fmt.Sprintf("%s… (%d bytes left out by writ: the payload is larger than %d MiB)", strings.ToValidUTF8(v[:keptText], ""), len(v)-keptText, MaxPayload>>20)
		}
	case []any:
		for i := range v {
			v[i] = shortened(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = shortened(v[name])
		}
	}
	return value
}
