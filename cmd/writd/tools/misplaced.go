package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Misplaced names the first file that lies where the data directory has a folder, or the
// other way round, and a folder of it that is out of reach or cannot be written: what is
// made there fails later, and says less.
func Misplaced(dataDir string) error {
	for _, name := range []string{
		"streams/", "streams/jetstream/", "views/", "audit/", "archive/", "credentials/", "run/", "FORMAT", "memory.keys", "daemon.lock",
	} {
		path, folder := filepath.Join(dataDir, name), strings.HasSuffix(name, "/")
		info, err := os.Stat(path)
		switch _, linkErr := os.Lstat(path); {
		case err != nil && linkErr == nil:
			return fmt.Errorf("%s cannot be reached: %w. Make what it leads to reachable; or move %s away, put back what a backup has under that name, if anything, and start again", path, errors.Unwrap(err), path)
		case err != nil:
			continue
		case info.IsDir() != folder:
			return fmt.Errorf("%s is %s. Move %s away, put back what a backup has under that name, if anything, and start again", path, map[bool]string{true: "no folder", false: "no file"}[folder], path)
		case !folder || name == "streams/jetstream/": // where each folder is an account's
			continue
		}
		probe, err := os.MkdirTemp(path, ".probe-*")
		if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%s cannot be written: %w. Make it writable for the user that runs Writ (chmod u+rwx, or chown)", path, errors.Unwrap(err))
		}
		if err == nil {
			_ = os.Remove(probe)
		}
	}
	return nil
}
