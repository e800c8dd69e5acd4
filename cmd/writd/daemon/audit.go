package daemon

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/transparency"
	"github.com/writbus/writ/projections/transparency/evidence"
	"github.com/writbus/writ/schemas"
)

// Variables for tests.
var (
	// sealBudget bounds waiting for the trees before they are signed.
	sealBudget = 5 * time.Second
	// publishBudget bounds one delivery to a second place.
	publishBudget = 10 * time.Second
)

// auditor signs checkpoints over the streams, keeps them outside the views and
// publishes them. A tree that does not extend what was signed before is not
// signed: that is how a log that was changed while nobody looked is noticed
// first.
type auditor struct {
	key    auditKey
	ledger *auditLedger
	places []auditPlace
	held   heldStreams

	mu       sync.Mutex // one seal at a time; guards the ledger
	noteMu   sync.Mutex // guards what follows
	problems map[schemas.Stream]string
	unplaced map[string]string // by place: why it has not the newest checkpoints

	publishMu sync.Mutex // one delivery at a time; guards what follows
	delivered map[delivery]evidence.Checkpoint
}

// beginAudit opens the evidence and signs at intervals until stop, and once
// more then.
func (d *Daemon) beginAudit(ctx context.Context) (stop func(), err error) {
	a := &auditor{problems: map[schemas.Stream]string{}, unplaced: map[string]string{}, delivered: map[delivery]evidence.Checkpoint{}, held: heldStreams{known: map[schemas.Stream]heldAt{}}}
	if a.key, err = loadOrCreateAuditKey(d.layout.Credentials()); err != nil {
		return nil, err
	}
	if a.ledger, err = openAuditLedger(d.layout.Audit(), a.key, 0o700); err != nil {
		return nil, fmt.Errorf("%w: the evidence of the audit: %w", ErrDataDir, err)
	}
	if a.places, err = openAuditPlaces(d.settings.AuditPublish, a.key); err != nil {
		return nil, err
	}
	d.audit = a
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(d.settings.AuditEvery)
		defer tick.Stop()
		for {
			select {
			case <-running.Done():
				return
			case <-tick.C:
				d.sealAll(running)
				d.publishAll(running)
			}
		}
	}()
	return func() {
		cancel()
		<-done
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), sealBudget)
		defer cancel()
		d.sealAll(last)
		d.publishAll(last)
	}, nil
}

// sealed is a stream's newest checkpoint.
type sealed struct {
	checkpoint evidence.Checkpoint
	signed     []byte
}

// sealAll signs every stream that grew, as it stands now.
func (d *Daemon) sealAll(ctx context.Context) map[schemas.Stream]sealed {
	ctx, cancel := context.WithTimeout(ctx, sealBudget)
	defer cancel()
	a := d.audit
	a.mu.Lock()
	defer a.mu.Unlock()
	all := map[schemas.Stream]sealed{}
	for _, s := range schemas.Streams() {
		one, err := d.seal(ctx, s)
		a.note(s, err)
		if err != nil && ctx.Err() == nil {
			d.logger.Warn("sign a checkpoint", "stream", s, "error", err)
		}
		all[s] = one
	}
	return all
}

func (a *auditor) note(s schemas.Stream, err error) {
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
func (d *Daemon) seal(ctx context.Context, s schemas.Stream) (sealed, error) {
	tip, err := d.audit.ledger.tip(s)
	if err != nil {
		return sealed{}, err
	}
	kept := sealed{checkpoint: tip.last, signed: tip.signed}
	if state, err := d.conn.State(ctx, s); err == nil && ctx.Err() == nil {
		// What cannot be waited for is signed the next time.
		_ = d.runtime.WaitFor(ctx, transparency.Name, schemas.Position{Stream: s, Seq: state.Last})
	}
	err = d.runtime.Read(transparency.Name, func(view projections.Reader) error {
		tree, err := transparency.OpenTree(view, s)
		if err != nil {
			return err
		}
		if err := extends(tree, tip.last); err != nil {
			return err
		}
		if tree.Size() == tip.last.Size && (len(tip.signed) > 0 || tree.Size() == 0) {
			return nil
		}
		root, err := tree.Root(tree.Size())
		if err != nil {
			return err
		}
		c := evidence.Checkpoint{
			Log: d.audit.key.signer.Name(), Stream: s, Size: tree.Size(), Root: root, First: tree.First(), Time: d.now().Truncate(time.Second),
		}
		signed, err := evidence.Sign(c, d.audit.key.signer)
		if err != nil {
			return err
		}
		if err := d.audit.ledger.keep(tree, c, signed); err != nil {
			return err
		}
		kept = sealed{checkpoint: c, signed: signed}
		return nil
	})
	return kept, err
}

// extends returns errRewritten for a tree that does not begin with what was
// signed.
func extends(tree *transparency.Tree, c evidence.Checkpoint) error {
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

// auditProblems are what status and doctor tell of the evidence.
func (d *Daemon) auditProblems() []string {
	if d.audit == nil {
		return nil
	}
	a := d.audit
	a.noteMu.Lock()
	defer a.noteMu.Unlock()
	var all []string
	for _, s := range schemas.Streams() {
		if p := a.problems[s]; p != "" {
			all = append(all, "the audit signs "+string(s)+" no more: "+p+". `writ audit verify` names what was changed")
		}
	}
	for _, p := range a.places {
		if problem := a.unplaced[p.String()]; problem != "" {
			all = append(all, "checkpoints do not reach "+p.String()+": "+problem)
		}
	}
	return all
}

// auditSeal is the service: sign now, and say where the evidence stands.
func (d *Daemon) auditSeal(ctx context.Context, _ bus.None) (schemas.AuditSealed, error) {
	all := d.sealAll(ctx)
	reply := schemas.AuditSealed{Key: d.audit.key.public, Dir: d.layout.Audit(), Streams: []schemas.AuditStream{}}
	if d.health != nil { // the server is within this process
		reply.Log = d.layout.Log()
	}
	d.audit.noteMu.Lock()
	for _, s := range schemas.Streams() {
		c := all[s].checkpoint
		reply.Streams = append(reply.Streams, schemas.AuditStream{
			Stream: s, Records: c.Size, Root: base64.StdEncoding.EncodeToString(c.Root[:]),
			Checkpoint: string(all[s].signed), Problem: d.audit.problems[s],
		})
	}
	for _, p := range d.audit.places {
		reply.Publish = append(reply.Publish, schemas.AuditPlace{Place: p.String(), Problem: d.audit.unplaced[p.String()]})
	}
	d.audit.noteMu.Unlock()
	reply.Problems = slices.Clone(d.auditProblems())
	return reply, nil
}
