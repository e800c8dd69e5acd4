//go:build !linux

package confined

import "path/filepath"

func local(p string) bool { return filepath.IsLocal(p) }
