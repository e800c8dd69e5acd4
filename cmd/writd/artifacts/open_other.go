//go:build !unix

package artifacts

// nonBlocking is not needed where a folder holds no pipes.
const nonBlocking = 0
