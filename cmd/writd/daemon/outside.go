package daemon

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/bus/vault"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/schemas/atomicfile"
)

// connectOutside connects to the NATS that the settings name. Its
// administrator gives each role a user there and puts it into the credentials
// folder; a role without one gets the user of the URL.
func (d *Daemon) connectOutside(ctx context.Context) error {
	address, user, err := withoutUser(d.settings.NATSURL)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(d.layout.Credentials(), 0o700); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDataDir, d.layout.Credentials(), err)
	}
	own, err := vault.Credential(d.layout.Root, d.layout.Credentials(), string(embedded.RoleDaemon), true)
	switch {
	case errors.Is(err, bus.ErrNotFound):
		own = user
	case err != nil:
		return err
	}
	if err := d.shareUser(address, user); err != nil {
		return err
	}
	d.endpoint.TLS = bus.TLS{CA: fileIn(d.layout.Root, d.settings.NATSCA), Cert: fileIn(d.layout.Root, d.settings.NATSCert), Key: fileIn(d.layout.Root, d.settings.NATSKey)}
	trust, err := d.endpoint.TLS.Config()
	if err != nil {
		return fmt.Errorf("%w: %w", config.ErrSettings, err)
	}
	if d.endpoint.Daemon, err = daemonID(d.layout); err != nil {
		return fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	if err := d.connect(ctx, bus.Options{URL: address, Daemon: d.endpoint.Daemon, TLS: trust}.As(own)); err != nil {
		return err
	}
	d.endpoint.URL = address
	return nil
}

// fileIn is one that a setting names, in the data directory where it is no absolute
// path; "" is none.
func fileIn(dir, name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// shareUser gives the roles that have no credential the user of the URL.
func (d *Daemon) shareUser(address string, user bus.Credential) error {
	if user.User == "" {
		return nil
	}
	shared := false
	for _, role := range []embedded.Role{embedded.RoleHook, embedded.RoleDashboard, embedded.RoleAdmin} {
		have, err := vault.Credential(d.layout.Root, d.layout.Credentials(), string(role), true)
		if err == nil {
			shared = shared || have == user
			continue
		}
		if !errors.Is(err, bus.ErrNotFound) {
			return err
		}
		raw, err := json.Marshal(user)
		if err != nil {
			return err
		}
		if err := atomicfile.Write(config.CredentialPath(d.layout.Root, string(role)), raw, 0o600); err != nil {
			return fmt.Errorf("%w: %w", ErrDataDir, err)
		}
		shared = true
	}
	if shared {
		d.warn("hooks, dashboard and admin share the daemon's user at " + address +
			": define a user for each there and put it into " + d.layout.Credentials() + ", or whoever reads the hook's credential can approve")
	}
	return nil
}

// withoutUser splits addresses, separated by commas, from the user in them.
func withoutUser(addresses string) (plain string, user bus.Credential, err error) {
	var all []string
	for _, address := range strings.Split(addresses, ",") {
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil || u.Host == "" {
			return "", user, fmt.Errorf("%w: nats_url must look like nats://host:4222", config.ErrSettings)
		}
		if u.User != nil {
			password, _ := u.User.Password()
			user = bus.Credential{User: u.User.Username(), Password: password}
			u.User = nil
		}
		all = append(all, u.String())
	}
	return strings.Join(all, ","), user, nil
}

// daemonID names the daemon of a data directory among others on one NATS, in 16
// hexadecimal digits that are drawn once. A copy of the directory in another place
// gets its own: the file is in no backup.
func daemonID(l config.Layout) (string, error) {
	path := filepath.Join(l.Root, "run", "daemon-id")
	raw, err := os.ReadFile(path)
	if id := strings.TrimSpace(string(raw)); err == nil && wellFormedID.MatchString(id) {
		return id, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the daemon's id: %w", err)
	}
	drawn := make([]byte, 8)
	_, _ = rand.Read(drawn) // never fails
	id := hex.EncodeToString(drawn)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("the daemon's id: %w", err)
	}
	if err := atomicfile.Write(path, []byte(id+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("the daemon's id: %w", err)
	}
	return id, nil
}

var wellFormedID = regexp.MustCompile(`^[0-9a-f]{16}$`)
