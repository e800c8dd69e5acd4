package embedded

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas/atomicfile"
	"github.com/writbus/writ/schemas/filelock"
)

// secretBytes is the length of a password before encoding.
const secretBytes = 32

// Credentials are the users of a server, one for each role.
type Credentials map[Role]bus.Credential

// Users lists them for Options.
func (c Credentials) Users() []User {
	users := make([]User, 0, len(c))
	for _, role := range Roles() {
		if one, ok := c[role]; ok {
			users = append(users, User{Name: one.User, Password: one.Password, Role: role})
		}
	}
	return users
}

// LoadOrCreateCredentials reads the credentials in a folder and makes those
// that are missing, of all roles or of some: one file for each role, mode 0600, in a folder of mode
// 0700. Several callers at once, in one or more processes, get the same ones.
// A file that cannot be used is an error, not replaced, but for the agent's where that
// names no user: it was one for another server.
func LoadOrCreateCredentials(dir string, roles ...Role) (Credentials, error) {
	lock, err := takeCredentials(dir)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	if len(roles) == 0 {
		roles = Roles()
	}
	all := Credentials{}
	for _, role := range roles {
		one, err := bus.LoadCredential(dir, string(role))
		if errors.Is(err, bus.ErrNotFound) || role == RoleAgent && err == nil && one.User == "" { // that one is for another server
			one, err = createCredential(dir, role)
		}
		if err != nil {
			return nil, err
		}
		all[role] = one
	}
	return all, nil
}

// takeCredentials makes the folder of credentials its owner's alone, and keeps others from
// making what is in it.
func takeCredentials(dir string) (lock *filelock.Lock, err error) {
	if err = os.MkdirAll(dir, 0o700); err == nil {
		err = os.Chmod(dir, 0o700) //nolint:gosec // a folder needs its x bit
	}
	if err == nil {
		lock, err = filelock.Wait(filepath.Join(dir, ".lock"))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: credentials: %w", ErrDir, err)
	}
	return lock, nil
}

func createCredential(dir string, role Role) (bus.Credential, error) {
	secret := make([]byte, secretBytes)
	if _, err := rand.Read(secret); err != nil {
		return bus.Credential{}, fmt.Errorf("credential of %s: %w", role, err)
	}
	one := bus.Credential{User: string(role), Password: base64.RawURLEncoding.EncodeToString(secret)}
	body, err := json.MarshalIndent(one, "", "  ")
	if err != nil {
		return bus.Credential{}, fmt.Errorf("credential of %s: %w", role, err)
	}
	if err := atomicfile.Write(bus.CredentialFile(dir, string(role)), append(body, '\n'), 0o600); err != nil {
		return bus.Credential{}, fmt.Errorf("%w: credential of %s: %w", ErrDir, role, err)
	}
	return one, nil
}
