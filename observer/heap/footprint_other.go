//go:build !linux

package heap

// dropFilePages leaves the program's pages to the system.
func dropFilePages() {}
