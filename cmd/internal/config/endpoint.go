package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas/atomicfile"
)

// ErrNoDaemon is returned by ReadEndpoint when no daemon has announced itself
// in the data directory.
var ErrNoDaemon = errors.New("config: no daemon is announced")

// Endpoint is how a client reaches the daemon of a data directory.
type Endpoint struct {
	URL     string    `json:"url"` // of the NATS server, nats://127.0.0.1:PORT
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	// Daemon is whose services are asked, where several share a NATS.
	Daemon string  `json:"daemon,omitempty"`
	TLS    bus.TLS `json:"tls,omitzero"`
	// DoorURL is where programs that run confined ask, with the agent's credential, where
	// that is another place than others do; DoorCA is what it is known by.
	DoorURL string `json:"door_url,omitempty"`
	DoorCA  string `json:"door_ca,omitempty"`
	// Protocol is that of the daemon, 0 of one that is older than the number.
	Protocol int `json:"protocol,omitempty"`
}

// EndpointPath is the file in which a daemon announces itself.
func EndpointPath(dataDir string) string {
	return filepath.Join(dataDir, "run", "endpoint.json")
}

// NoDaemon is ErrNoDaemon with what tells it. Where no daemon can run because of
// the directory's format it is ErrFormat as well, which says what to do.
func NoDaemon(dataDir, what string) error {
	if _, err := readFormat(Layout{Root: dataDir}, Format()); err != nil {
		return fmt.Errorf("%w: %w", ErrNoDaemon, err)
	}
	return fmt.Errorf("%w: %s", ErrNoDaemon, what)
}

// ReadEndpoint returns the error of NoDaemon where none is announced. That one is
// announced does not mean that it runs.
func ReadEndpoint(dataDir string) (Endpoint, error) {
	raw, err := os.ReadFile(EndpointPath(dataDir))
	if errors.Is(err, fs.ErrNotExist) {
		return Endpoint{}, NoDaemon(dataDir, "in "+dataDir)
	}
	if err != nil {
		return Endpoint{}, fmt.Errorf("config: endpoint: %w", err)
	}
	var e Endpoint
	if err := json.Unmarshal(raw, &e); err != nil || e.URL == "" {
		return Endpoint{}, NoDaemon(dataDir, EndpointPath(dataDir)+" is damaged")
	}
	return e, nil
}

// WriteEndpoint announces a daemon, atomically.
func WriteEndpoint(dataDir string, e Endpoint) error {
	path := EndpointPath(dataDir)
	raw, err := json.Marshal(e)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(path, raw, 0o600)
	}
	if err != nil {
		err = fmt.Errorf("config: endpoint: %w", err)
	}
	return err
}

// RemoveEndpoint withdraws the announcement of the daemon with this process
// id; another daemon's is left alone.
func RemoveEndpoint(dataDir string, pid int) error {
	if e, err := ReadEndpoint(dataDir); err == nil && e.PID != pid {
		return nil
	}
	if err := os.Remove(EndpointPath(dataDir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("config: endpoint: %w", err)
	}
	return nil
}
