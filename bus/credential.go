package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// ErrCredentialExposed is returned by LoadCredential for a file that others
// than its owner may read.
var ErrCredentialExposed = errors.New("bus: credential file is readable by others")

// Credential is a role's user and password.
type Credential struct {
	User     string `json:"user"`
	Password string `json:"password"`
}

// String hides the password.
func (c Credential) String() string { return c.User }

// CredentialFile is where a role's credential is kept in a folder.
func CredentialFile(dir, role string) string { return filepath.Join(dir, role+".json") }

// LoadCredential reads a role's credential. It returns ErrNotFound when there
// is none, ErrCredentialExposed, or what is wrong with the file.
func LoadCredential(dir, role string) (Credential, error) {
	path := CredentialFile(dir, role)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Credential{}, fmt.Errorf("credential %s: %w: start the daemon once to create it", path, ErrNotFound)
	}
	if err != nil {
		return Credential{}, fmt.Errorf("credential: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return Credential{}, fmt.Errorf("credential: %w", err)
	}
	if exposed(info.Mode()) {
		return Credential{}, fmt.Errorf("%w: %s has mode %#o. Make it yours alone: chmod 600 %s",
			ErrCredentialExposed, path, info.Mode().Perm(), path)
	}
	var c Credential
	if err := json.NewDecoder(file).Decode(&c); err != nil {
		return Credential{}, fmt.Errorf("credential %s: %w. Remove it and start the daemon to make a new one", path, err)
	}
	if c.User == "" || c.Password == "" {
		return Credential{}, fmt.Errorf("credential %s: no user or password. Remove it and start the daemon to make a new one", path)
	}
	return c, nil
}

// exposed looks at the mode's bits for group and others; Windows keeps rights
// elsewhere.
func exposed(mode fs.FileMode) bool {
	return runtime.GOOS != "windows" && mode.Perm()&0o077 != 0
}
