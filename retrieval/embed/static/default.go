package static

import (
	_ "embed" // for the table
	"fmt"
	"sync"
)

//go:embed table.bin
var shipped []byte

var loaded = sync.OnceValues(func() (*Embedder, error) {
	t, err := Decode(shipped)
	if err != nil {
		return nil, fmt.Errorf("static: the table in this program: %w", err)
	}
	return New(t), nil
})

// Default returns the embedder of the table in the program, the same one each
// time. An error wraps [ErrTable] and means that the build is broken.
func Default() (*Embedder, error) { return loaded() }
