//go:build !unix

package files

import "errors"

func seteuid(int) error { return errors.ErrUnsupported }

func mkfifo(string, uint32) error { return errors.ErrUnsupported }
