//go:build !unix

package project

import "io/fs"

// nonBlocking is nothing where no file system has pipes.
const nonBlocking = 0

// Names is how many names a file has, as far as the system tells.
func Names(fs.FileInfo) int { return 1 }
