package hub

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// Files of a witness's folder.
const (
	witnessKey   = "witness.key" // secret
	witnessState = "witness.json"
)

// speakEvery is how often a witness says what is new.
const speakEvery = 500 * time.Millisecond

// Access is how somebody other than a member reaches a hub.
type Access struct {
	URL        string // of the hub's port for clients; several are separated by commas
	Credential string // as it is given out
	CA         string // file, "" for the system's
}

func (a Access) connect(ctx context.Context, user string) (*bus.Conn, error) {
	credential, err := bus.ParseCredential(a.Credential)
	if err != nil {
		return nil, fmt.Errorf("the credential: %w", err)
	}
	trust, err := bus.TLS{CA: a.CA}.Config()
	if err != nil {
		return nil, err
	}
	c, err := bus.Connect(ctx, bus.Options{URL: a.URL, Name: "writ team", TLS: trust}.As(credential))
	if err != nil {
		return nil, fmt.Errorf("the hub at %s: %w. It is reached at its port for clients, as the user %s", a.URL, err, user)
	}
	return c, nil
}

// Apply makes the streams of a hub whose accounts are there, or makes them be as the
// manifest says.
func Apply(ctx context.Context, m rights.Manifest, a Access) error {
	c, err := a.connect(ctx, rights.AdminUser)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, definition := range m.Streams() {
		if err := bus.EnsureStream(ctx, c, definition); err != nil {
			return err
		}
	}
	return nil
}

// WitnessOptions are what a witness needs.
type WitnessOptions struct {
	Access
	Folder string // its memory: its key, and every checkpoint that it cosigned
	// Replace takes the place of a witness whose folder is lost: without it a new one does
	// not speak where another one spoke, since members believe the first alone.
	Replace bool
	Once    bool // ends where the hub's copies end
	Now     func() time.Time
	Out     io.Writer // is told of findings
}

// Witness looks at what members bring.
type Witness struct {
	WitnessOptions
	cosigner
	hub *bus.Conn
	new bool // it remembers nothing

	mu    sync.Mutex // guards what follows
	is    witnessed
	told  map[string]int // findings of each member that Out was told of
	fresh bool           // something is not kept yet
}

// Watch looks at what members bring until the context ends, or with Once at what is
// there, and returns what it knows of each then.
func Watch(ctx context.Context, o WitnessOptions) ([]Seen, error) {
	w, err := openWitness(o)
	if err != nil {
		return nil, err
	}
	if w.hub, err = o.connect(ctx, rights.WitnessUser); err != nil {
		return nil, err
	}
	defer w.hub.Close()
	if err := w.alone(ctx); err != nil {
		return nil, err
	}
	fmt.Fprintf(o.Out, "This witness's key: %s\n", w.public)
	if err := w.run(ctx); err != nil && ctx.Err() == nil {
		return nil, err
	}
	return w.all(), nil
}

// alone makes sure that a new witness is the first.
func (w *Witness) alone(ctx context.Context) error {
	if !w.new || w.Replace {
		return nil
	}
	said, err := bus.Stored(ctx, w.hub, rights.Seen)
	if err == nil && said.Messages > 0 {
		err = fmt.Errorf("another witness spoke at this hub, and %s is not its folder. Name that folder; if it is lost, say --replace, and have members join again with --witness", w.Folder)
	}
	return err
}

func openWitness(o WitnessOptions) (*Witness, error) {
	w := &Witness{WitnessOptions: o, told: map[string]int{}, is: witnessed{Members: map[string]*observed{}}}
	if err := os.MkdirAll(o.Folder, 0o700); err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(filepath.Join(o.Folder, witnessState))
	if err == nil {
		err = json.Unmarshal(raw, &w.is)
	}
	w.new = err != nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w. Put it back from a backup", filepath.Join(o.Folder, witnessState), err)
	}
	file := filepath.Join(o.Folder, witnessKey)
	text, err := bus.ReadSecret(file)
	if errors.Is(err, fs.ErrNotExist) && w.new {
		var drawn string
		if drawn, err = evidence.NewKey("witness-" + strings.ToLower(rand.Text()[:8])); err == nil {
			text, err = []byte(drawn), atomicfile.Write(file, []byte(drawn+"\n"), 0o600)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the key of the witness: %w", err)
	}
	w.now = o.Now
	w.key, w.public, err = evidence.ReadKey(strings.TrimSpace(string(text)))
	return w, err
}

// run reads the hub's copies, and says what is new, until the context ends.
func (w *Witness) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var speaking sync.WaitGroup
	speaking.Go(func() {
		tick := time.NewTicker(speakEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				w.note(w.speak(ctx))
			}
		}
	})
	err := w.read(ctx)
	cancel()
	speaking.Wait()
	if err != nil && !w.Once {
		err = nil // the context ended
	}
	return errors.Join(err, w.speak(context.WithoutCancel(ctx)))
}

func (w *Witness) note(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintf(w.Out, "%s  %v\n", w.now().Format(time.DateTime), err)
	}
}

func (w *Witness) read(ctx context.Context) error {
	for pause := pauseLeast; ; pause = min(2*pause, pauseMost) {
		err := w.same(ctx)
		if err == nil {
			err = w.hub.Follow(ctx, rights.Copies, w.at(), bus.FollowOptions{UntilEnd: w.Once, Unparsed: true}, w.take)
		}
		if ctx.Err() != nil || err == nil || w.Once && !errors.Is(err, bus.ErrBeyondEnd) {
			return err
		}
		w.note(err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (w *Witness) at() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.is.At
}

// same looks whether the hub still has the last message that was looked at. Otherwise
// all is read again, and held against what was cosigned.
func (w *Witness) same(ctx context.Context) error {
	at := w.at()
	if at == 0 {
		return nil
	}
	state, err := bus.Stored(ctx, w.hub, rights.Copies)
	if err != nil {
		return err
	}
	var found schemas.Record
	if state.Last >= at {
		if found, err = w.hub.Get(ctx, rights.Copies, at); err != nil && !errors.Is(err, bus.ErrNotFound) {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if found.Seq == at && digest(found) == w.is.Is {
		return nil
	}
	w.is.Lost = fmt.Sprintf("the hub had %d messages, and on %s the last of them was gone or another one: it was restored, or somebody changed it. Members bring again what it lost", at, w.now().UTC().Format(time.RFC3339))
	w.note(errors.New(w.is.Lost))
	w.is.At, w.is.Is, w.fresh = 0, "", true
	for _, m := range w.is.Members {
		m.Marks = append(m.Marks, m.marked(m.Epoch)...)
		m.Epoch, m.Former, m.Streams, m.Untold = 0, nil, map[schemas.Stream]*strand{}, true
	}
	return nil
}

func digest(r schemas.Record) string {
	return fmt.Sprintf("%x", sha256.Sum256(append([]byte(r.Message.Subject+"\n"), r.Message.Body...)))
}

// take looks at messages.
func (w *Witness) take(records []schemas.Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range records {
		member, c := w.look(&w.is, r.Seq, r.Message.Subject, r.Message.Body)
		if c != nil {
			if err := w.keep(member, w.is.Members[member].Epoch, c); err != nil {
				return err
			}
		}
		w.is.At, w.is.Is = r.Seq, digest(r)
	}
	w.fresh = true
	return nil
}

// keep adds a cosigned checkpoint to the member's file, as `audit verify --against` of
// the folder takes it.
func (w *Witness) keep(member string, epoch uint64, c *strand) error {
	folder := filepath.Join(w.Folder, member, fmt.Sprint(epoch))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(folder, string(c.Last.Stream)+evidence.CheckpointsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(c.Checkpoint + "\n")
	return errors.Join(err, file.Close())
}

// speak keeps what is new, and tells members.
func (w *Witness) speak(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fresh {
		if err := w.save(); err != nil {
			return err
		}
		w.fresh = false
	}
	spoke := false
	for _, member := range slices.Sorted(maps.Keys(w.is.Members)) {
		m := w.is.Members[member]
		w.tell(member, m)
		if !m.Untold || m.Epoch == 0 {
			continue
		}
		signed, err := signLine(w.seen(member, m, w.is.Lost), w.key)
		if err == nil {
			err = w.hub.Deliver(ctx, rights.SeenSubject(member), signed)
		}
		if err != nil {
			return err
		}
		m.Untold, spoke = false, true
	}
	if spoke {
		return w.save()
	}
	return nil
}

func (w *Witness) save() error {
	raw, err := json.Marshal(w.is)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(w.Folder, witnessState), raw, 0o600)
}

// tell tells who runs the witness.
func (w *Witness) tell(member string, m *observed) {
	for _, f := range m.Findings[max(0, len(m.Findings)-(m.Found-w.told[member])):] {
		fmt.Fprintf(w.Out, "%s  %s: %s\n", w.now().Format(time.DateTime), member, f)
	}
	w.told[member] = m.Found
}

func (w *Witness) all() (all []Seen) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, member := range slices.Sorted(maps.Keys(w.is.Members)) {
		all = append(all, w.seen(member, w.is.Members[member], w.is.Lost))
	}
	return all
}
