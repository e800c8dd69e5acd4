package relocate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas/atomicfile"
)

// placeFile says in a data directory where its log lies (persisted; never change).
const placeFile = "place.json"

// Here is the address of the daemon's own server.
const Here = "here"

// ErrElsewhere is returned where a daemon may not go on with a log: it lies elsewhere, is
// being moved, or belongs to another daemon. The error says which, and what to do.
var ErrElsewhere = errors.New("the log is not this daemon's to write here")

// NATS is one of somebody else, as it is reached.
type NATS struct {
	URL      string `json:"url,omitempty"` // without a user; "" is the daemon's own server
	CA       string `json:"ca,omitempty"`  // files with PEM, as the settings name them
	Cert     string `json:"cert,omitempty"`
	Key      string `json:"key,omitempty"`
	Replicas int    `json:"replicas,omitempty"`
}

// Name is what people call it.
func (n NATS) Name() string {
	if n.URL == "" {
		return Here
	}
	return n.URL
}

// Place is where the log of a data directory lies.
type Place struct {
	NATS
	Log    string  `json:"log,omitempty"`   // names the log, whichever its place; "" before it was anywhere else
	Epoch  uint64  `json:"epoch,omitempty"` // raised by each move, and each daemon that goes on with the streams of a lost one
	Moving *Moving `json:"moving,omitempty"`
	// Arriving says that the log lies there since a moment ago, and what it was moved with
	// is yet to take the place of the credentials before.
	Arriving bool `json:"arriving,omitempty"`
	// Leaving is where it lay before, until its streams there were put aside or deleted.
	Leaving *NATS `json:"leaving,omitempty"`
}

// Left tells of a copy of the log that a move which was cut off left behind, "" where
// there is none.
func (p Place) Left() string {
	if p.Leaving == nil {
		return ""
	}
	return fmt.Sprintf("a copy of the log from before it was moved is still at %s, and takes no events: the move was cut off. `writ log move %s` puts it away", p.Leaving.Name(), p.Name())
}

// Moving is a move that is under way.
type Moving struct {
	ID    string    `json:"id"`
	To    NATS      `json:"to"`
	Since time.Time `json:"since"`
}

// Load reads where the log of a data directory lies: here, where nothing says otherwise.
func Load(dir string) (p Place, err error) {
	path := filepath.Join(dir, placeFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil {
		return p, fmt.Errorf("where the log lies: %s: %w. It holds {\"url\": …} for a NATS, {} for here; a backup has it", path, err)
	}
	return p, nil
}

func (p Place) save(dir string) error {
	raw, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, placeFile), append(raw, '\n'), 0o600)
}

// brought is the folder, in that of credentials, with those for the place of a move that
// is under way.
const brought = "moving"

// arrive has the credentials that a move brought count, if that is yet to be done.
func (p *Place) arrive(dir, credentials string) error {
	if !p.Arriving {
		return nil
	}
	from, to := filepath.Join(credentials, brought, bus.Elsewhere), filepath.Join(credentials, bus.Elsewhere)
	_, err := os.Stat(from)
	if err == nil {
		if err = os.RemoveAll(to); err == nil {
			err = os.Rename(from, to)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // it was done, and is not said
		return err
	}
	p.Arriving = false
	return errors.Join(os.RemoveAll(filepath.Dir(from)), p.save(dir))
}

// Settle says where a daemon of a data directory goes on: at the place that is noted, or
// at the NATS of its settings where none is. hasLog says that there are streams here. It
// returns ErrElsewhere where these disagree, or a move is under way.
func Settle(dir, credentials string, settings NATS, hasLog bool) (p Place, err error) {
	if p, err = Load(dir); err == nil {
		err = p.arrive(dir, credentials)
	}
	if err != nil {
		return p, err
	}
	switch {
	case p.Moving != nil:
		return p, fmt.Errorf("%w: since %s it is being moved from %s to %s, and lies whole at %s. Go on with `writ log move %s`, or leave it where it is with `writ log move %s`",
			ErrElsewhere, p.Moving.Since.Local().Format(time.DateTime), p.Name(), p.Moving.To.Name(), p.Name(), p.Moving.To.Name(), p.Name())
	case p.URL == "" && settings.URL != "" && (hasLog || p.Log != ""):
		return p, fmt.Errorf("%w: it lies here, in %s, and nats_url names %s. Take nats_url out of the settings; `writ log move %s` brings it there. If the streams here are old, and the log is there, rename the folder streams",
			ErrElsewhere, dir, settings.URL, settings.URL)
	case settings.URL != "": // its streams tell whether it is the same NATS
		p.NATS = settings
	}
	return p, nil
}

// Names of labels (persisted; never change). A stream bears them all.
const (
	labelLog    = "writ_log"
	labelEpoch  = "writ_epoch"
	labelDaemon = "writ_daemon"
	labelClaim  = "writ_claim" // of the daemon's start that has it
	labelMoving = "writ_moving"
)

// labels are those of the streams of a place, of a daemon.
func (p Place) labels(daemon, claim, moving string) map[string]string {
	return map[string]string{labelLog: p.Log, labelEpoch: fmt.Sprint(p.Epoch), labelDaemon: daemon, labelClaim: claim, labelMoving: moving}
}

// newID names a log, a move or a claim.
func newID() string { return bus.NewID() }
