package embedded

import (
	"cmp"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/rights"
)

// teamName is the account that a hub is connected to. It has no stream, imports
// nothing and exports nothing: whatever a hub sends ends there.
const teamName = "TEAM"

// hubAgain is how long a leaf waits before it tries to reach its hub again.
const hubAgain = time.Second

// hubPatience is how long a leaf waits for each of a hub's first answers.
const hubPatience = 10 * time.Second

// hubErrors is how many attempts to reach a hub there are for each that is told.
const hubErrors = 600

// joinHub makes a server's options those of a leaf. It draws the password of the one
// user in the account.
func joinHub(h *rights.Hub, o *server.Options) (password string, err error) {
	urls, err := rights.HubURLs(h.URLs)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrStart, err)
	}
	password = rand.Text()
	account := server.NewAccount(teamName)
	remote := &server.RemoteLeafOpts{
		LocalAccount: teamName,
		Credentials:  h.Credential.Creds, Nkey: h.Credential.Seed, TLSConfig: h.TLS,
		DialTimeout: hubPatience, FirstInfoTimeout: hubPatience, TLSTimeout: hubPatience.Seconds(),
		// With compression, a connection that ends while it is agreed on is never made
		// again: nats-server 2.15 then closes it without what would begin the next attempt.
		Compression: server.CompressionOpts{Mode: server.CompressionOff},
	}
	for _, u := range urls {
		remote.TLS = remote.TLS || u.Scheme == "tls"
		if h.Credential.User != "" {
			u.User = url.UserPassword(h.Credential.User, h.Credential.Password)
		}
		remote.URLs = append(remote.URLs, u)
	}
	if remote.TLS && remote.TLSConfig == nil {
		remote.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	// A hub drops a leaf where another one of its name comes.
	o.ServerName = "writ-" + h.Member + "-" + rand.Text()
	o.Accounts = append(o.Accounts, account)
	o.Users = append(o.Users, &server.User{Username: rights.MemberUser(h.Member), Password: password, Account: account})
	o.LeafNode = server.LeafNodeOpts{ReconnectInterval: hubAgain, Remotes: []*server.RemoteLeafOpts{remote}}
	o.ConnectErrorReports, o.ReconnectErrorReports = hubErrors, hubErrors
	return password, nil
}

// Hub returns how to connect to the account that the hub is connected to, and what says
// whether it is, and if not, why, as far as it was told. Where there is no hub, to is nil.
func (s *Server) Hub() (to *bus.Options, reached func() error) {
	if s == nil || s.options.Hub == nil {
		return nil, func() error { return fmt.Errorf("%w: this server is no leaf of a hub", bus.ErrUnavailable) }
	}
	h := s.options.Hub
	return &bus.Options{Dial: s.Dial, User: rights.MemberUser(h.Member), Password: s.hubPassword}, func() error {
		if s.ns.NumLeafNodes() > 0 {
			return nil
		}
		why := s.log.leafFailure()
		if h.Credential.Creds != "" {
			if _, err := os.Stat(h.Credential.Creds); err != nil {
				why = err.Error()
			}
		}
		switch {
		case strings.Contains(why, "parser ERROR"):
			why = "it does not answer as a hub does. writ team doctor looks at its port" // but as something else than a nats-server
		case strings.Contains(why, server.ErrAuthentication.Error()) || strings.Contains(why, "Authorization Violation"):
			why = "it refuses the credential of " + h.Member + ". Its administrator says which one counts: join again with that"
		case strings.Contains(why, server.ErrConnectedToWrongPort.Error()):
			why = "its port is not the one for leaf nodes, which is often 7422: join again with that"
		}
		return fmt.Errorf("%w: the hub at %s is not connected: %s", bus.ErrUnavailable, h.URLs, cmp.Or(why, "it has not answered yet. writ team doctor looks at its port"))
	}
}
