package confine

import (
	"io/fs"
	"os"
	"path"
	"syscall"
)

// What path/filepath does, as Linux has it: see doc.go for why it is not
// imported.

func join(parts ...string) string { return path.Join(parts...) }

func base(p string) string { return path.Base(p) }

func parent(p string) string { return path.Dir(p) }

func clean(p string) string { return path.Clean(p) }

func absolute(p string) bool { return path.IsAbs(p) }

func slashed(p string) string { return p }

func lists(p string) []string { return split(p, ':') }

// maxLinks is how many links one path may lead through, as in path/filepath.
const maxLinks = 255

// withoutLinks follows the links in an absolute path that exists.
func withoutLinks(p string) (string, error) { return follow(p, nil) }

// follow is withoutLinks. It ends with errLaid at a link that lies in one of the
// folders of loose, or below one.
func follow(p string, loose []string) (string, error) {
	at, links := "/", 0
	for rest := split(clean(p), '/'); len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := join(at, name)
		var stat syscall.Stat_t
		if err := syscall.Lstat(next, &stat); err != nil {
			return "", &fs.PathError{Op: "lstat", Path: next, Err: err}
		}
		if stat.Mode&syscall.S_IFMT != syscall.S_IFLNK {
			at = next
			continue
		}
		if among(loose, at) {
			return "", errLaid
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "lstat", Path: p, Err: syscall.ELOOP}
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if path.IsAbs(target) {
			at = "/"
		}
		rest = append(split(target, '/'), rest...)
	}
	return at, nil
}
