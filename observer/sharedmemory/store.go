package sharedmemory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"filippo.io/age"

	"github.com/writbus/writ/observer/observation/scope"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// Files in the folder of shared memory. Both belong into a backup, as memory.keys does.
const (
	stateFile = "state.json"
	mineDir   = "mine"
)

// kept is what this machine keeps of shared memory: a file of JSON.
type kept struct {
	Identity string            `json:"identity,omitempty"` // secret, X25519
	Card     json.RawMessage   `json:"card,omitempty"`     // certified by its person
	Scopes   map[string]*known `json:"scopes,omitempty"`
}

// known is a scope with what opens it.
type known struct {
	Owner   string                        `json:"owner"`
	Rosters []json.RawMessage             `json:"rosters,omitempty"` // in their envelopes
	Keys    map[int][]byte                `json:"keys,omitempty"`    // of epochs
	Seen    map[string]map[int]scope.Seen `json:"seen,omitempty"`
	// Restores are how many restores of the log there were when last what others have of
	// this machine was read: a backup may lack what was shared since.
	Restores int `json:"restores,omitempty"`

	is       scope.Scope
	mine     map[int]mine
	met      bool     // a record of this machine was among what was taken last
	early    bool     // something came before the list of members that it is under
	findings []string // the newest last
}

// mine is a record of this machine, in a file of its own. Of one that was forgotten only
// the tombstone is left.
type mine struct {
	Of        schemas.ObservationKey `json:"of"`
	Number    int                    `json:"number"`
	Record    json.RawMessage        `json:"record,omitempty"`
	Tombstone json.RawMessage        `json:"tombstone"`
}

// maxFindings is how many findings of a scope are kept.
const maxFindings = 20

func (k *known) find(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	if !slices.Contains(k.findings, what) {
		k.findings = append(k.findings, what)
		k.findings = k.findings[max(0, len(k.findings)-maxFindings):]
	}
}

// load reads the state, or draws an identity. What the envelopes of rosters say is
// checked anew.
func load(folder string) (k kept, err error) {
	raw, err := os.ReadFile(filepath.Join(folder, stateFile))
	if err == nil {
		err = json.Unmarshal(raw, &k)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return k, fmt.Errorf("sharedmemory: %s: %w. Put it back from a backup", filepath.Join(folder, stateFile), err)
	}
	if k.Identity == "" {
		id, err := age.GenerateX25519Identity()
		if err != nil {
			return k, err
		}
		k.Identity = id.String()
	}
	if k.Scopes == nil {
		k.Scopes = map[string]*known{}
	}
	for name, s := range k.Scopes {
		s.is = scope.Scope{Name: name, Owner: s.Owner, Seen: s.Seen}
		for _, r := range s.Rosters {
			if s.is, err = s.is.TakeRoster(r); err != nil {
				return k, fmt.Errorf("sharedmemory: %s: %w. Put it back from a backup", name, err)
			}
		}
		if s.mine, err = own(folder, name); err != nil {
			return k, err
		}
		for _, m := range s.mine { // a crash may have come before the state was kept
			if next, _, _, err := s.is.TakeRecord(m.Record); err == nil {
				s.is = next
			}
		}
	}
	return k, nil
}

func (k kept) save(folder string) error {
	for _, s := range k.Scopes {
		s.Seen = s.is.Seen
	}
	raw, err := json.Marshal(k)
	if err == nil {
		err = os.MkdirAll(filepath.Join(folder, mineDir), 0o700)
	}
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(folder, stateFile), raw, 0o600)
}

func (k kept) recipient() string {
	id, err := age.ParseX25519Identity(k.Identity)
	if err != nil {
		return ""
	}
	return id.Recipient().String()
}

func mineFile(folder, name string, number int) string {
	return filepath.Join(folder, mineDir, fmt.Sprintf("%s-%d.json", name, number))
}

func (m mine) save(folder, name string) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return atomicfile.Write(mineFile(folder, name, m.Number), raw, 0o600)
}

// own reads the records of this machine in a scope, by number.
func own(folder, name string) (all map[int]mine, err error) {
	all = map[int]mine{}
	files, err := os.ReadDir(filepath.Join(folder, mineDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, f := range files {
		rest, is := strings.CutPrefix(strings.TrimSuffix(f.Name(), ".json"), name+"-")
		n, err := strconv.Atoi(rest)
		if !is || err != nil {
			continue
		}
		raw, err := os.ReadFile(mineFile(folder, name, n))
		var m mine
		if err == nil {
			err = json.Unmarshal(raw, &m)
		}
		if err != nil {
			return nil, fmt.Errorf("sharedmemory: %s: %w. Put it back from a backup", mineFile(folder, name, n), err)
		}
		all[n] = m
	}
	return all, nil
}
