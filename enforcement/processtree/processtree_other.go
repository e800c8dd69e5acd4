//go:build !unix && !windows

package processtree

import "os"

func parents() (int, lookup) {
	return os.Getppid(), func(int) (Process, int, bool) { return Process{}, 0, false }
}
