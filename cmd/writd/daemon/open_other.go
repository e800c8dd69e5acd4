//go:build !unix

package daemon

// nonBlocking is nothing where no file system has pipes.
const nonBlocking = 0
