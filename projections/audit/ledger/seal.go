package ledger

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/audit"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

// sealReach is how far a tree may be behind and still be waited for: one batch,
// which it takes in within a tenth of a second.
const sealReach = 10_000

// Options are what an auditor needs.
type Options struct {
	Log    *bus.Conn
	Views  *projections.Runtime
	Now    func() time.Time
	Logger *slog.Logger
	Warn   func(string) // told what was damaged and mended
	// Clean takes secrets out of a text that leaves this machine.
	Clean func(text string) string

	Credentials string // the folder of the signing key
	Evidence    string // the folder of checkpoints and hashes
	// Witness is a file outside of the data folder that remembers the first and the
	// newest checkpoint of each stream: the second place by default. "" for none.
	Witness string

	Publish       []string // second places, as the setting audit_publish has them
	Authorization string   // header for places that take HTTP POST

	Every         time.Duration // between two checkpoints
	SealWithin    time.Duration // bounds waiting for the trees before they are signed
	PublishWithin time.Duration // bounds one delivery to a second place
}

// Auditor is the service. It signs checkpoints over the streams, keeps them
// outside the views, publishes them and proves from them. A tree that does not
// extend what was signed before is not signed: that is how a log that was changed
// while nobody looked is noticed first.
type Auditor struct {
	Options
	key    signingKey
	ledger *folder
	places []place

	mu       sync.Mutex // one seal at a time; guards the ledger
	noteMu   sync.Mutex // guards what follows
	problems map[schemas.Stream]string
	unplaced map[string]string // by place: why it has not the newest checkpoints

	publishMu sync.Mutex // one delivery at a time; guards what follows
	delivered map[delivery]evidence.Checkpoint
}

// Open opens the evidence, or makes it at the first start. It returns ErrPlace
// for a second place that is none, and otherwise what is wrong with the key or
// the evidence.
func Open(o Options) (*Auditor, error) {
	a := &Auditor{
		Options: o, problems: map[schemas.Stream]string{}, unplaced: map[string]string{},
		delivered: map[delivery]evidence.Checkpoint{},
	}
	var err error
	if a.key, err = loadOrCreateKey(o.Credentials); err != nil {
		return nil, err
	}
	if a.ledger, err = openFolder(o.Evidence, a.key, 0o700, o.Warn); err != nil {
		return nil, fmt.Errorf("the evidence of the audit: %w", err)
	}
	if a.places, err = a.openPlaces(); err != nil {
		return nil, err
	}
	return a, nil
}

// Endpoints are the services: sign now, and prove.
func (a *Auditor) Endpoints() []bus.Endpoint {
	return []bus.Endpoint{
		bus.Answer("audit_seal", schemas.SvcAuditSeal, a.sealNow),
		bus.Answer("audit_prove", schemas.SvcAuditProve, a.prove),
		bus.Answer("audit_attest", schemas.SvcAuditAttest, a.attest),
		bus.Answer("audit_leaving", schemas.SvcLeaving, func(ctx context.Context, r schemas.LeavingRequest) (schemas.LeavingReply, error) {
			return leave(ctx, a, r)
		}),
	}
}

// Begin signs at intervals until stop, and once more then.
func (a *Auditor) Begin(ctx context.Context) (stop func()) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(a.Every)
		defer tick.Stop()
		for {
			select {
			case <-running.Done():
				return
			case <-tick.C:
				a.Seal(running)
				a.publishAll(running)
			}
		}
	}()
	return func() {
		cancel()
		<-done
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.SealWithin)
		defer cancel()
		a.Seal(last)
		a.publishAll(last)
	}
}

// sealed is a stream's newest checkpoint.
type sealed struct {
	checkpoint evidence.Checkpoint
	signed     []byte
}

// sealWhole signs every stream that grew, as it stands now, and looks first at all that was kept where whole is
// set: else only at what tells where it ends.
func (a *Auditor) sealWhole(ctx context.Context, whole bool) map[schemas.Stream]sealed {
	ctx, cancel := context.WithTimeout(ctx, a.SealWithin)
	defer cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	all := map[schemas.Stream]sealed{}
	before, forgotten := a.recall()
	for _, s := range schemas.Streams() {
		var err error
		if _, damaged := a.ledger.tip(s); whole || damaged != nil {
			err = a.mendFrom(ctx, s, before[s])
		}
		var one sealed
		if err == nil {
			one, err = a.seal(ctx, s, before[s])
		}
		err = errors.Join(forgotten, err)
		a.note(s, err)
		if err != nil && ctx.Err() == nil {
			a.Logger.Warn("sign a checkpoint", "stream", s, "error", err)
		}
		all[s] = one
	}
	if forgotten == nil {
		err := a.remember(before, all)
		a.noteMu.Lock()
		delete(a.unplaced, a.Witness)
		if err != nil {
			a.unplaced[a.Witness] = err.Error()
		}
		a.noteMu.Unlock()
	}
	return all
}

func (a *Auditor) note(s schemas.Stream, err error) {
	a.noteMu.Lock()
	defer a.noteMu.Unlock()
	delete(a.problems, s)
	if err != nil {
		a.problems[s] = err.Error()
	}
}

// errRewritten says that the log contradicts what was signed.
var errRewritten = errors.New("the log is not the one that was signed")

// seal signs one stream where it grew, and returns its newest checkpoint.
func (a *Auditor) seal(ctx context.Context, s schemas.Stream, before remembered) (sealed, error) {
	tip, err := a.ledger.tip(s)
	if err != nil {
		return sealed{}, err
	}
	kept := sealed{checkpoint: tip.last, signed: tip.signed}
	a.waitFor(ctx, s)
	err = a.tree(s, func(tree *audit.Tree) error {
		if err := errors.Join(extends(tree, tip.last), a.holds(before, tree, tip)); err != nil {
			return err
		}
		if tree.Size() == tip.last.Size && (len(tip.signed) > 0 || tree.Size() == 0) {
			return nil
		}
		if err := bus.Synced(ctx, a.Log, s); err != nil {
			return err // a record that is signed must not go with the power
		}
		root, err := tree.Root(tree.Size())
		if err != nil {
			return err
		}
		c := evidence.Checkpoint{
			Log: a.key.signer.Name(), Stream: s, Size: tree.Size(), Root: root, First: tree.First(), Time: a.Now().Truncate(time.Second),
		}
		signed, err := evidence.Sign(c, a.key.signer)
		if err != nil {
			return err
		}
		if err := a.ledger.keep(tree, c, signed); err != nil {
			return err
		}
		kept = sealed{checkpoint: c, signed: signed}
		return nil
	})
	return kept, err
}

// waitFor waits for the tree of a stream. What cannot be waited for is signed the
// next time.
func (a *Auditor) waitFor(ctx context.Context, s schemas.Stream) {
	if state, err := a.Log.State(ctx, s); err == nil && ctx.Err() == nil && a.near(s, state.Last) {
		_ = a.Views.WaitFor(ctx, audit.Name, schemas.Position{Stream: s, Seq: state.Last})
	}
}

// near says that a tree will soon have a record: one that is being built anew, or
// is far behind a log that was written in bulk, is not waited for. Who stops the
// daemon would wait in vain.
func (a *Auditor) near(s schemas.Stream, seq uint64) bool {
	return seq <= a.Views.Position(audit.Name, s)+sealReach
}

// extends returns errRewritten for a tree that does not begin with what was
// signed.
func extends(tree *audit.Tree, c evidence.Checkpoint) error {
	if c.Size == 0 {
		return nil
	}
	if tree.Size() < c.Size || tree.First() != c.First {
		return fmt.Errorf("%w: %s had records %d to %d, signed %s, and has %d from %d", errRewritten,
			c.Stream, c.First, c.Last(), c.Time.Format(time.RFC3339), tree.Size(), tree.First())
	}
	root, err := tree.Root(c.Size)
	if err != nil {
		return err
	}
	if root != c.Root {
		return fmt.Errorf("%w: records %d to %d of %s, signed %s, were changed since", errRewritten, c.First, c.Last(), c.Stream, c.Time.Format(time.RFC3339))
	}
	return nil
}

// Problems are what status and doctor tell of the evidence.
func (a *Auditor) Problems() []string {
	a.noteMu.Lock()
	defer a.noteMu.Unlock()
	var all []string
	for _, s := range schemas.Streams() {
		if p := a.problems[s]; p != "" {
			all = append(all, "the audit signs "+string(s)+" no more: "+p+". `writ audit verify` names what was changed")
		}
	}
	if problem := a.unplaced[a.Witness]; problem != "" {
		all = append(all, "checkpoints do not reach "+a.Witness+": "+problem)
	}
	for _, p := range a.places {
		if problem := a.unplaced[p.String()]; problem != "" {
			all = append(all, "checkpoints do not reach "+p.String()+": "+problem)
		}
	}
	return all
}

// Seal signs every stream that grew, as it stands now.
func (a *Auditor) Seal(ctx context.Context) { a.sealWhole(ctx, false) }

// sealNow is the service: sign now, and say where the evidence stands.
func (a *Auditor) sealNow(ctx context.Context, _ bus.None) (schemas.AuditSealed, error) {
	all := a.sealWhole(ctx, true)
	reply := schemas.AuditSealed{Key: a.key.public, Dir: a.Evidence, Witness: a.Witness, Streams: []schemas.AuditStream{}}
	a.noteMu.Lock()
	for _, s := range schemas.Streams() {
		c := all[s].checkpoint
		reply.Streams = append(reply.Streams, schemas.AuditStream{
			Stream: s, Records: c.Size, Root: base64.StdEncoding.EncodeToString(c.Root[:]),
			Checkpoint: string(all[s].signed), Problem: a.problems[s],
		})
	}
	for _, p := range a.places {
		reply.Publish = append(reply.Publish, schemas.AuditPlace{Place: p.String(), Problem: a.unplaced[p.String()]})
	}
	a.noteMu.Unlock()
	reply.Problems = slices.Clone(a.Problems())
	return reply, nil
}
