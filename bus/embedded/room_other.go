//go:build !linux && !darwin && !freebsd && !windows

package embedded

func diskOf(string) (disk, bool) { return disk{}, false }

func mountOf(dir string) string { return dir }
