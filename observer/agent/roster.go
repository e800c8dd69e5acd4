package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/dialect"
)

// ErrNoAgent is wrapped by errors about a constitution that is not there.
var ErrNoAgent = errors.New("agents: no such agent")

const (
	maxConstitution = 1 << 20 // bytes of a file
	maxRoster       = 1000    // files of a folder
)

// Load reads one constitution. The error names the file, and wraps ErrNoAgent
// for one that is not there.
func Load(file string) (dialect.Constitution, error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return dialect.Constitution{}, fmt.Errorf("%w: there is no file %s", ErrNoAgent, file)
	case err != nil:
		return dialect.Constitution{}, fmt.Errorf("agents: constitution: %w", err)
	case !info.Mode().IsRegular() || info.Size() > maxConstitution:
		return dialect.Constitution{}, fmt.Errorf("%w: %s is no file of at most %d bytes", dialect.ErrConstitution, file, maxConstitution)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return dialect.Constitution{}, fmt.Errorf("agents: constitution: %w", err)
	}
	return dialect.ParseConstitution(file, raw)
}

// colleague is an agent whose constitution lies in the same folder.
type colleague struct {
	file         string
	constitution dialect.Constitution
}

// roster reads the constitutions of a folder, by file name. Those that cannot be
// understood are left out; asking for one by the name of its file says why.
func roster(folder string) ([]colleague, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("agents: constitutions: %w", err)
	}
	var all []colleague
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".json") || len(all) == maxRoster {
			continue
		}
		file := filepath.Join(folder, entry.Name())
		if c, err := Load(file); err == nil {
			all = append(all, colleague{file, c})
		}
	}
	return all, nil
}

// find returns the constitution named id that lies beside a file.
func find(beside, id string) (colleague, error) {
	folder := filepath.Dir(beside)
	if filepath.Base(id) == id {
		file := filepath.Join(folder, id+".json")
		c, err := Load(file)
		if err == nil && c.Name == id {
			return colleague{file, c}, nil
		}
		if errors.Is(err, dialect.ErrConstitution) {
			return colleague{}, err
		}
	}
	all, err := roster(folder)
	if err != nil {
		return colleague{}, err
	}
	i := slices.IndexFunc(all, func(c colleague) bool { return c.constitution.Name == id })
	if i < 0 {
		return colleague{}, fmt.Errorf("%w: %s", ErrNoAgent, id)
	}
	return all[i], nil
}
