//go:build !unix

package mapped

func mapFile(string) ([]byte, error) { return nil, ErrUnsupported }

func unmap([]byte) {}

func drop([]byte) {}
