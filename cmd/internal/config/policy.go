package config

import (
	"fmt"
	"os"
)

// ReadPolicy reads a project's settings from any file. Unlike a project's own,
// it must be there. It returns ErrSettings naming file and line.
func ReadPolicy(path string) (Project, error) {
	p := DefaultProject()
	if _, err := os.Stat(path); err != nil {
		return p, fmt.Errorf("config: %w", err)
	}
	if err := readYAML(path, &p); err != nil {
		return p, err
	}
	if err := p.check(); err != nil {
		return p, fmt.Errorf("%w: %s: %w", ErrSettings, path, err)
	}
	return p, nil
}
