package confined

import "path"

// local reports whether a path stays below the folder that it is relative to.
func local(p string) bool {
	if p == "" || path.IsAbs(p) {
		return false
	}
	p = path.Clean(p)
	return p != ".." && (len(p) < 3 || p[:3] != "../")
}
