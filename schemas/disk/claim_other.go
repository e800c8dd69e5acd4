//go:build !linux

package disk

// claim asks nothing where no file can be given room without being written.
func claim(string, int64) error { return nil }
