package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/projections/relocate"
	"github.com/writbus/writ/schemas/atomicfile"
	"github.com/writbus/writ/schemas/disk"
)

// settle finds out where the log lies: in the settings is where it is looked for.
func settle(d *Daemon) error {
	s := &d.settings
	at := relocate.NATS{CA: s.NATSCA, Cert: s.NATSCert, Key: s.NATSKey, Replicas: s.Replicas}
	if s.NATSURL != "" {
		var err error
		if at.URL, _, err = withoutUser(s.NATSURL); err != nil {
			return err
		}
	}
	_, noLog := os.Stat(d.layout.Log())
	p, err := relocate.Settle(d.layout.Root, d.layout.Credentials(), at, noLog == nil)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	if left := p.Left(); left != "" {
		d.warn(left)
	}
	if d.place = p; at.URL == "" {
		s.NATSURL, s.NATSCA, s.NATSCert, s.NATSKey, s.Replicas = p.URL, p.CA, p.Cert, p.Key, p.Replicas
	}
	return nil
}

// hold ends the daemon once the streams of its log are another one's. gone says why.
func hold(ctx context.Context, d *Daemon) (gone func() error) {
	if d.claim == nil {
		return func() error { return nil }
	}
	var lost error
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.claim.Watch(ctx, func(why error) {
			lost = fmt.Errorf("%w: %w", ErrDataDir, why)
			d.logger.Error("the log is lost to this daemon", "error", lost)
			d.stop()
		})
	}()
	return func() error { <-done; return lost }
}

// connectOutside connects to the NATS that the settings name. Its
// administrator gives each role a user there and puts it into the credentials
// folder; a role without one gets the user of the URL.
func (d *Daemon) connectOutside(ctx context.Context) (closeBus func(), err error) {
	address, user, err := withoutUser(d.settings.NATSURL)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(d.layout.Credentials(), 0o700); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDataDir, d.layout.Credentials(), err)
	}
	// One that was killed left it, and its NATS answers whoever follows it.
	if err := os.Remove(config.EndpointPath(d.layout.Root)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	if err := d.shareUser(address, user); err != nil {
		return nil, err
	}
	at := d.place.NATS
	at.URL = address
	o, err := at.Options(d.layout.Root, d.layout.Credentials(), user)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", config.ErrSettings, err)
	}
	if d.endpoint.Daemon, err = relocate.DaemonID(d.layout.Root); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	o.Daemon, o.Archive = d.endpoint.Daemon, bus.NewArchive(filepath.Join(d.layout.Root, "archive"))
	o.Ready = func() error { return viewsRoom(d.layout)(disk.Reserve) }
	if err := d.connect(ctx, o); errors.Is(err, bus.ErrBadCredentials) {
		return nil, fmt.Errorf("%w. What the daemon signs in with at %s is daemon.json, daemon.creds or daemon.nk in %s", err, address, d.layout.Credentials())
	} else if err != nil {
		return nil, err
	}
	d.endpoint.URL, d.endpoint.TLS = address, at.TLS(d.layout.Root)
	d.place.URL = address
	if d.claim, err = relocate.Take(ctx, d.conn, d.layout.Root, d.place, d.endpoint.Daemon, retention(d.settings)); err != nil {
		d.disconnect()
		return nil, err
	}
	if d.claim.Warning != "" {
		d.warn(d.claim.Warning)
	}
	// Programs that run confined are shown nothing that this NATS is reached with.
	door, err := embedded.OpenDoor(d.layout.Credentials(), slog.New(quiet{d.logger.Handler()}))
	if err == nil {
		if d.confined, err = bus.Connect(ctx, door.Daemon()); err != nil {
			door.Close()
		}
	}
	if err != nil {
		d.disconnect()
		return nil, err
	}
	d.endpoint.DoorURL, d.endpoint.DoorCA = door.URL(), door.Trusted
	return func() { d.disconnect(); door.Close() }, nil
}

// shareUser gives the roles that have no credential the user of the URL.
func (d *Daemon) shareUser(address string, user bus.Credential) error {
	if user.User == "" {
		return nil
	}
	shared := false
	for _, role := range []embedded.Role{embedded.RoleHook, embedded.RoleDashboard, embedded.RoleAdmin} {
		have, err := bus.CredentialOf(d.layout.Credentials(), string(role), true)
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
