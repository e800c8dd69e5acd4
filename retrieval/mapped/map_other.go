//go:build !unix

package mapped

// Keep returns [ErrUnsupported].
func Keep(string, ...[]byte) (Pages, error) { return nil, ErrUnsupported }

func mapFile(string) ([]byte, error) { return nil, ErrUnsupported }

func unmap([]byte) {}

func drop([]byte) {}
