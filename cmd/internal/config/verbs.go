package config

import (
	"fmt"
	"os"
	"path/filepath"
)

// VerbsFile has the settings of what agents' verbs reach.
func (l Layout) VerbsFile() string { return filepath.Join(l.Root, "verbs.yaml") }

// Checked are settings that name the first of them that cannot be, with the
// environment's variables in reach.
type Checked interface {
	Check(variable func(name string) (value string, set bool)) error
}

// LoadVerbs reads verbs.yaml of a data directory; without the file nothing is
// set up. The error wraps ErrSettings and names file and key.
func LoadVerbs(dataDir string, into Checked) error {
	path := Layout{dataDir}.VerbsFile()
	if err := readYAML(path, into); err != nil {
		return err
	}
	if err := into.Check(os.LookupEnv); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrSettings, path, err)
	}
	return nil
}
