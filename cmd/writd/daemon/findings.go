package daemon

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/writbus/writ/bus/embedded"
)

// findingsFile keeps what was ever found wrong with the log: the server tells
// each thing once.
const findingsFile = "damage.txt"

// noteFindings warns of what is wrong with the log, now or from an earlier
// start, and keeps it.
func (d *Daemon) noteFindings(found []embedded.Finding) error {
	path := filepath.Join(d.layout.Root, findingsFile)
	if len(found) > 0 {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("daemon: note damage of the log: %w", err)
		}
		for _, finding := range found {
			_, err = fmt.Fprintf(f, "%s %s\n", d.now().Format(time.RFC3339), finding)
			if err != nil {
				break
			}
		}
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			return fmt.Errorf("daemon: note damage of the log: %w", err)
		}
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("daemon: earlier damage of the log: %w", err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		d.warn("the log was damaged: " + lines.Text() + ". Restore a backup of the data directory if you have one; delete " + path + " once you know")
	}
	return nil
}
