package client

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/writbus/writ/enforcement/host"
)

// MaxPayload bounds what is read of a hook's call or of an event: the largest
// file a host sends whole, twice over, with room for JSON's escapes.
const MaxPayload = host.MaxPayload

// ErrPayloadTooLarge is returned for more than MaxPayload.
var ErrPayloadTooLarge = fmt.Errorf("the payload is larger than %d MiB", MaxPayload>>20)

// ReadBounded reads a file of at most so many bytes.
func ReadBounded(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	var pathErr *os.PathError
	switch {
	case errors.As(err, &pathErr):
		return nil, pathErr.Err
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a folder")
	case info.Size() > most:
		return nil, fmt.Errorf("it has %d bytes, at most %d are read", info.Size(), most)
	}
	return os.ReadFile(path)
}

// ReadBoundedStream reads standard input, at most so many bytes.
func (a *Client) ReadBoundedStream(what string, most int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(a.In, most+1))
	switch {
	case err != nil:
		return nil, Refused(what, err.Error(), "")
	case int64(len(raw)) > most:
		return nil, Refused(what, fmt.Sprintf("standard input has more than %d MiB", most>>20), "Give less at once.")
	}
	return raw, nil
}
