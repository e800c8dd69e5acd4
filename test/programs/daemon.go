package programs

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/writbus/writ/schemas/filelock"
)

// Daemon is a running daemon as its data directory announces it.
type Daemon struct {
	URL string `json:"url"` // of its NATS server
	PID int    `json:"pid"`
}

// Announced reads the announcement in a data directory. Where there is none the
// error is fs.ErrNotExist.
func Announced(data string) (d Daemon, err error) {
	raw, err := os.ReadFile(filepath.Join(data, "run", "endpoint.json"))
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(raw, &d)
}

// Kill ends the daemon of a data directory as a power cut would, and returns
// when the kernel has taken back what it held.
func (d Daemon) Kill(data string) error {
	process, err := os.FindProcess(d.PID)
	if err != nil {
		return err
	}
	if err := process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	for filelock.Held(filepath.Join(data, "daemon.lock")) || filelock.Held(filepath.Join(data, "streams", "store.lock")) {
		time.Sleep(time.Millisecond)
	}
	return nil
}
