package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/schemas/atomicfile"
)

// membershipFile is the file in a data directory that says which hub it is a member of.
const membershipFile = "team.json"

// Role is whose credential the hub's is, in the folder of credentials.
const Role = "team"

// Membership is how a data directory stands with a hub.
type Membership struct {
	URL     string `json:"url,omitempty"` // "" where none is joined
	Member  string `json:"member,omitempty"`
	CA      string `json:"ca,omitempty"`
	Witness string `json:"witness,omitempty"` // public key, pinned when joining or when first seen
	List    string `json:"list,omitempty"`    // digest of the list that a person accepted
	// Epoch is the last that was begun, and Claim what it was begun with; "" has the next
	// one begin. Restores is how many restores of the log there were.
	Epoch    uint64 `json:"epoch,omitempty"`
	Claim    string `json:"claim,omitempty"`
	Restores int    `json:"restores,omitempty"`
	Why      string `json:"why,omitempty"` // the next one begins
	// Next and NextClaim are of an epoch whose beginning may be at the hub.
	Next      uint64 `json:"next,omitempty"`
	NextClaim string `json:"next_claim,omitempty"`
}

// Load reads how a data directory stands with a hub.
func Load(dir string) (m Membership, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, membershipFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		return m, fmt.Errorf("hub: %s: %w. Join the hub again with writ team join", filepath.Join(dir, membershipFile), err)
	}
	return m, nil
}

func (m Membership) save(dir string) error {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, membershipFile), append(raw, '\n'), 0o600)
}

// Hub is what the server of a data directory is to be a leaf of, nil for nothing.
func Hub(dir, credentials string) (*rights.Hub, error) {
	is, err := Load(dir)
	if err != nil || is.URL == "" {
		return nil, err
	}
	credential, err := bus.LoadCredential(credentials, Role)
	if errors.Is(err, bus.ErrNotFound) {
		err = fmt.Errorf("what the hub %s gave is not in %s any more: join again with writ team join", is.URL, credentials)
	}
	if err != nil {
		return nil, err
	}
	trust, err := bus.TLS{CA: is.CA}.Config()
	return &rights.Hub{URLs: is.URL, Member: is.Member, Credential: credential, TLS: trust}, err
}

// credentialFiles are those that the hub's credential may be in.
func credentialFiles(credentials string) (all []string) {
	for _, kind := range []string{".json", ".creds", ".nk"} {
		all = append(all, filepath.Join(credentials, Role+kind))
	}
	return all
}

// keepCredential writes what the hub gave, in the place of an earlier one.
func keepCredential(credentials, text string, c bus.Credential) error {
	files := credentialFiles(credentials)
	file := files[0]
	switch {
	case c.Text != "" && c.Text[0] == '-':
		file = files[1]
	case c.Text != "":
		file = files[2]
	}
	if err := removeCredential(credentials); err != nil {
		return err
	}
	return atomicfile.Write(file, []byte(text), 0o600)
}

func removeCredential(credentials string) error {
	for _, file := range credentialFiles(credentials) {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
