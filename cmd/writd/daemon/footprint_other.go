//go:build !linux

package daemon

// dropFilePages leaves the program's pages to the system.
func dropFilePages() {}
