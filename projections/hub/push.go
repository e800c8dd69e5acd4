package hub

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/projections/hubcopies"
	"github.com/writbus/writ/schemas"
)

var (
	errDiffers = errors.New("the hub has copies that this log does not give")
	errList    = errors.New("what may leave is another list than the one that was accepted: look at it and join again (writ team join)")
	errAsked   = errors.New("the newest epoch at the hub is not this one")
	errTaken   = errors.New("another daemon brings copies under this name since")
)

const (
	pauseLeast = 200 * time.Millisecond // before a hub that failed is tried again, doubled up to:
	pauseMost  = 2 * time.Second
	// barren is how many records without a copy are brought nothing of at most, so that
	// who goes on has not to read them again.
	barren = 20_000
)

// Options are what a member needs.
type Options struct {
	Folder      string // the data directory
	Credentials string // the folder of credentials
	// Hub is how to connect to the account of the machine's server that the hub is
	// connected to, nil for none; Reached says whether it is connected.
	Hub     *bus.Options
	Reached func() error
	Log     *bus.Conn
	// Key is that of the log, with what is given away of it; Seed is what nonces of
	// copies are drawn with.
	Key    note.Signer
	Public string
	Seed   []byte
	// Grown is the newest checkpoint of a stream if it has more records than some, with
	// the proof that it extends them, if there were any; "" otherwise.
	Grown   func(s schemas.Stream, than int64) (signed string, size int64, proof []evidence.Hash, err error)
	Clean   func(text string) string // takes secrets out of a text that leaves
	Now     func() time.Time
	Every   time.Duration // between two looks for new checkpoints
	Restart func()        // has the daemon start anew
	Outside bool          // the log is on somebody else's NATS
}

// Member is the service of a machine that is, or may become, a member of a hub.
type Member struct {
	Options
	hub    *bus.Conn // nil where none is joined
	verify note.Verifier

	mu      sync.Mutex // guards what follows
	is      Membership
	problem string
	started time.Time
	chains  map[schemas.Stream]*chain // of the epoch that is under way
}

// chain is what the hub has of a stream in an epoch.
type chain struct {
	stream schemas.Stream
	mu     sync.Mutex // one batch at a time; guards what follows
	known  bool       // the hub was asked
	at     uint64     // sequence of the last batch there
	tree   *evidence.Frontier
	// through is the last record whose copies are there or in no batch yet, batched that
	// of the last batch.
	through, batched uint64
	sealed           int64
}

// Begin opens the membership of a data directory, and brings what leaves to the hub
// until stop, if one is joined.
func Begin(ctx context.Context, o Options) (m *Member, stop func(), err error) {
	m = &Member{Options: o, chains: map[schemas.Stream]*chain{}, started: o.Now()}
	if m.verify, err = evidence.ParseKey(o.Public); err != nil {
		return nil, nil, err
	}
	switch m.is, err = Load(o.Folder); {
	case err != nil:
		m.problem = err.Error()
	case m.is.URL != "" && o.Outside:
		m.problem = "nothing is brought to the hub while the log lies in somebody else's NATS: it goes on once it lies here again (writ log move here)"
	case m.is.URL != "" && o.Hub == nil:
		m.problem = "the daemon did not become a leaf of the hub when it started: writ status says why"
	}
	if m.is.URL == "" || o.Hub == nil {
		return m, func() {}, nil // the machine works as alone
	}
	if m.hub, err = bus.Connect(ctx, *o.Hub); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.run(ctx)
	}()
	return m, func() { cancel(); <-done; m.hub.Close() }, nil
}

// run brings until the context ends, or somebody has to decide.
func (m *Member) run(ctx context.Context) {
	for pause := pauseLeast; ctx.Err() == nil; pause = min(2*pause, pauseMost) {
		began := m.Now()
		err := m.epoch(ctx)
		if m.Now().Sub(began) > pauseMost {
			pause = pauseLeast
		}
		if errors.Is(err, errDiffers) {
			err = errors.Join(err, m.anew("the hub had copies that the log does not give"))
		}
		m.note(m.refused(err))
		if errors.Is(err, errList) || errors.Is(err, errTaken) {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (m *Member) note(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.problem = ""
	if err != nil && !errors.Is(err, context.Canceled) {
		m.problem = err.Error()
	}
}

func (m *Member) membership() Membership {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.is
}

func (m *Member) keep(is Membership) (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err = is.save(m.Folder); err == nil {
		m.is = is
	}
	return err
}

// anew has the next epoch begin.
func (m *Member) anew(why string) error {
	is := m.membership()
	is.Claim, is.Why = "", why
	return m.keep(is)
}

// lastBeginning is what began the newest epoch at the hub, if there is one.
func (m *Member) lastBeginning(ctx context.Context) (last beginning, at uint64, err error) {
	record, err := bus.LastOn(ctx, m.hub, rights.LastOf(rights.BeginSubject(m.membership().Member)))
	switch {
	case errors.Is(err, bus.ErrNotFound):
		return last, 0, nil
	case err == nil:
		err = openLine(record.Message.Body, &last, &last.Key)
	}
	if own := m.membership().Epoch; last.Key != m.Public && last.Epoch > own && last.Epoch-own > farthest {
		last = beginning{} // by whomever: none could follow
	}
	return last, record.Seq, err
}

// farthest is further than restores lead: whoever names such an epoch, with a key of its
// own, leaves no number to those who follow.
const farthest = 1 << 20

// claim makes sure that the epoch under way is this daemon's, or begins the next one.
func (m *Member) claim(ctx context.Context) error {
	is := m.membership()
	if is.List != hubcopies.ListDigest() {
		return errList
	}
	last, at, err := m.lastBeginning(ctx)
	if err != nil {
		return err
	}
	restores, err := m.Log.Restores(ctx)
	if err != nil {
		return err
	}
	begun := func() error {
		is.Epoch, is.Claim, is.Restores, is.NextClaim, is.Why = is.Next, is.NextClaim, len(restores), "", ""
		return m.keep(is)
	}
	if is.NextClaim != "" && last.Claim == is.NextClaim {
		if err := begun(); err != nil {
			return err
		}
	}
	switch {
	case is.Claim == "":
	case is.Restores != len(restores):
		is.Why = "the log was restored from a backup"
	case last.Claim == is.Claim:
		return nil
	case last.Epoch > is.Epoch:
		return fmt.Errorf("%w %s, as epoch %d: %s. If this machine is to go on under it, leave and join again", errTaken, last.Time.Format(time.RFC3339), last.Epoch, last.Why)
	default:
		is.Why = "the hub did not know the epoch any more"
	}
	is.Next, is.NextClaim = max(is.Epoch, last.Epoch)+1, bus.NewID()
	if err := m.keep(is); err != nil {
		return err
	}
	signed, err := signLine(beginning{
		Member: is.Member, Epoch: is.Next, Claim: is.NextClaim, Key: m.Public, List: is.List, Why: is.Why, Time: m.Now().Truncate(time.Second),
	}, m.Key)
	if err != nil {
		return err
	}
	if _, err := bus.DeliverAfter(ctx, m.hub, rights.BeginSubject(is.Member), signed, at); err != nil {
		return err
	}
	return begun()
}

// epoch brings what there is and what comes, until something fails.
func (m *Member) epoch(ctx context.Context) error {
	if err := m.Reached(); err != nil {
		return err
	}
	if err := m.claim(ctx); err != nil {
		return err
	}
	all := map[schemas.Stream]*chain{}
	for _, s := range schemas.Streams() {
		all[s] = &chain{stream: s, tree: &evidence.Frontier{}}
	}
	m.mu.Lock()
	m.chains = all
	m.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for _, c := range all {
		running.Go(func() {
			if err := m.bring(ctx, c); err != nil {
				cancel(err)
			}
		})
	}
	running.Go(func() { cancel(m.bringCheckpoints(ctx, all)) })
	m.note(nil)
	running.Wait()
	return context.Cause(ctx)
}

func (m *Member) subject(s schemas.Stream) string {
	is := m.membership()
	return rights.CopiesSubject(is.Member, is.Epoch, string(s))
}

// copier draws copies: not for concurrent use.
func (m *Member) copier() *hubcopies.Copier { return &hubcopies.Copier{Clean: m.Clean, Secret: m.Seed} }

// ask sets a chain to where the hub says that it ends. It returns errDiffers where that
// is not what the log gives.
func (m *Member) ask(ctx context.Context, c *chain) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	record, err := bus.LastOn(ctx, m.hub, rights.LastOf(m.subject(c.stream)))
	if errors.Is(err, bus.ErrNotFound) {
		c.known = true
		return nil
	}
	if err != nil {
		return err
	}
	b, err := decodeBatch(record.Message.Body)
	if err != nil {
		return fmt.Errorf("%w: %w", errDiffers, err)
	}
	h, err := openHead(b.Head, m.verify)
	tree, ok := evidence.NewFrontier(h.Size, b.Edge)
	if err != nil || !ok || tree.Root() != h.Root || b.Through != h.Through {
		return fmt.Errorf("%w: the last of %s is not what was signed: %w", errDiffers, c.stream, err)
	}
	if err := m.same(ctx, c.stream, b); err != nil {
		return err
	}
	c.known, c.at, c.tree, c.through, c.batched, c.sealed = true, record.Seq, tree, b.Through, b.Through, b.Sealed
	return nil
}

// same draws the copies of a batch from the log and compares.
func (m *Member) same(ctx context.Context, s schemas.Stream, b batch) error {
	state, err := m.Log.State(ctx, s)
	if err != nil {
		return err
	}
	if state.Last < b.Through {
		return fmt.Errorf("%w: %s ends at %d here, and %d was brought", errDiffers, s, state.Last, b.Through)
	}
	if tip, err := m.tip(ctx, s, b.Through); err != nil || tip != b.Tip {
		return cmp.Or(err, fmt.Errorf("%w: record %d of %s is another one", errDiffers, b.Through, s))
	}
	if b.From >= b.Through {
		return nil
	}
	var drawn [][]byte
	var copies []hubcopies.Copy
	copier, done := m.copier(), errors.New("done")
	err = m.Log.Follow(ctx, s, b.From, bus.FollowOptions{UntilEnd: true, Unparsed: true}, func(records []schemas.Record) (err error) {
		for _, r := range records {
			if r.Seq > b.Through {
				return done
			}
			if drawn, copies, err = lines(drawn, copier, copies, r); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case err != nil && !errors.Is(err, done):
		return err
	case len(drawn) != len(b.lines):
		return fmt.Errorf("%w: %d of records %d to %d of %s, and it gives %d", errDiffers, len(b.lines), b.From+1, b.Through, s, len(drawn))
	}
	for i, line := range drawn {
		if !bytes.Equal(line, b.lines[i]) {
			return fmt.Errorf("%w: one of records %d to %d of %s", errDiffers, b.From+1, b.Through, s)
		}
	}
	return nil
}

// tip is a digest of which record stands at a sequence: of its main event's id, since its
// texts may be forgotten. It is "" where none is.
func (m *Member) tip(ctx context.Context, s schemas.Stream, seq uint64) (string, error) {
	r, err := m.Log.Get(ctx, s, seq)
	if errors.Is(err, bus.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	id := ""
	if events, err := r.Events(); err == nil && len(events) > 0 {
		id = events[0].ID
	}
	mac := hmac.New(sha256.New, m.Seed)
	fmt.Fprintf(mac, "tip %s %d %s", s, seq, id)
	return base64.RawStdEncoding.EncodeToString(mac.Sum(nil)), nil
}

// bring brings the copies of a stream.
func (m *Member) bring(ctx context.Context, c *chain) error {
	if err := m.ask(ctx, c); err != nil {
		return err
	}
	if !slices.Contains(hubcopies.Streams(), c.stream) {
		return nil // checkpoints of it alone
	}
	var gathered [][]byte
	var copies []hubcopies.Copy
	copier := m.copier()
	return m.Log.Follow(ctx, c.stream, c.through, bus.FollowOptions{Unparsed: true}, func(records []schemas.Record) (err error) {
		gathered = gathered[:0]
		size := 0
		for _, r := range records {
			before, more := len(gathered), 0
			if gathered, copies, err = lines(gathered, copier, copies, r); err != nil {
				return err
			}
			for _, line := range gathered[before:] {
				more += len(line) + 1
			}
			if size+more > maxLines && before > 0 { // without this record
				if err := m.send(ctx, c, gathered[:before], r.Seq-1, false); err != nil {
					return err
				}
				gathered, size = slices.Clone(gathered[before:]), 0
			}
			size += more
		}
		return m.send(ctx, c, gathered, records[len(records)-1].Seq, false)
	})
}

// send brings a batch, with the newest checkpoint if one is wanted and there is one.
func (m *Member) send(ctx context.Context, c *chain, copies [][]byte, through uint64, checkpoint bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	through = max(through, c.through)
	b := batch{From: c.batched, Through: through, Sealed: c.sealed, Before: c.sealed, lines: copies}
	if checkpoint {
		signed, size, proof, err := m.Grown(c.stream, c.sealed)
		if err != nil {
			return err
		}
		if signed == "" {
			return nil
		}
		if former := m.former(ctx, c); 0 < former && former < size {
			if signed, size, proof, err = m.Grown(c.stream, former); err != nil || signed == "" {
				return err
			}
			b.Before = former
		}
		b.Checkpoint, b.Grown, b.Sealed = signed, proof, size
	} else if len(copies) == 0 && through < c.batched+barren {
		c.through = through
		return nil
	}
	if err := m.Reached(); err != nil {
		return err
	}
	var err error
	if b.Tip, err = m.tip(ctx, c.stream, through); err != nil {
		return err
	}
	tree := c.tree.Clone()
	for _, line := range copies {
		tree.Add(tlog.RecordHash(line))
	}
	signed, err := head{
		Log: m.Key.Name(), Epoch: m.membership().Epoch, Stream: c.stream, Size: tree.Size(), Root: tree.Root(), Through: through,
		List: hubcopies.ListDigest(), Time: m.Now(),
	}.sign(m.Key)
	if err != nil {
		return err
	}
	b.Head, b.Edge = signed, tree.Edge()
	body, err := b.encode()
	if err != nil {
		return err
	}
	at, err := bus.DeliverAfter(ctx, m.hub, m.subject(c.stream), body, c.at)
	if err != nil {
		return err
	}
	c.at, c.tree, c.through, c.batched, c.sealed = at, tree, through, through, b.Sealed
	return nil
}

// former are the records under the last checkpoint that the witness cosigned before this
// epoch, which the first one of the epoch is to extend; 0 for none.
func (m *Member) former(ctx context.Context, c *chain) int64 {
	is := m.membership()
	if c.sealed > 0 {
		return 0
	}
	record, err := bus.LastOn(ctx, m.hub, rights.LastSeen(rights.SeenSubject(is.Member)))
	if err != nil {
		return 0
	}
	s, err := openSeen(record.Message.Body, is.Witness)
	switch {
	case err != nil:
		return 0
	case s.Epoch < is.Epoch:
		return s.Streams[c.stream].Records
	}
	return s.Streams[c.stream].Former
}

// bringCheckpoints brings the newest checkpoints of the log's own trees, again and again.
func (m *Member) bringCheckpoints(ctx context.Context, all map[schemas.Stream]*chain) error {
	tick := time.NewTicker(m.Every)
	defer tick.Stop()
	for {
		for _, s := range schemas.Streams() {
			c := all[s]
			c.mu.Lock()
			known := c.known
			c.mu.Unlock()
			if !known {
				continue
			}
			if err := m.send(ctx, c, nil, 0, true); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		if last, _, err := m.lastBeginning(ctx); err != nil || last.Claim != m.membership().Claim {
			return cmp.Or(err, errAsked) // which a daemon without anything to bring would not notice
		}
	}
}
