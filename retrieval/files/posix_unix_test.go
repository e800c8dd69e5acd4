//go:build unix

package files

import "syscall"

func seteuid(id int) error { return syscall.Seteuid(id) }

func mkfifo(path string, mode uint32) error { return syscall.Mkfifo(path, mode) }
