//go:build !unix

package project

// nonBlocking is nothing where no file system has pipes.
const nonBlocking = 0
