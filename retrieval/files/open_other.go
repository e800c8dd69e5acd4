//go:build !unix

package files

// nonBlocking is not needed where a folder holds no pipes.
const nonBlocking = 0
