package ledger

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/audit"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

// auditProve is the service: a proof that holds without this daemon. It is
// checked before it is handed out.
func (a *Auditor) prove(ctx context.Context, r schemas.AuditProveRequest) (schemas.AuditProof, error) {
	proveOne := a.proveInclusion
	if r.Earlier != "" {
		proveOne = a.proveConsistency
	}
	proof, err := proveOne(ctx, r)
	if err != nil {
		return schemas.AuditProof{}, err
	}
	raw, err := json.Marshal(proof)
	return schemas.AuditProof{Proof: raw}, err
}

// checked refuses a proof that does not hold.
func checked(err error) error {
	if err != nil {
		return schemas.Faultf(schemas.CodeRefused, "it cannot be proven: %v. `writ audit verify` says what was changed", err)
	}
	return nil
}

// newestOf is the checkpoint of a stream that covers a sequence, signed now if
// none does.
func (a *Auditor) newestOf(ctx context.Context, s schemas.Stream, seq uint64) (sealed, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	tip, err := a.ledger.tip(s)
	if err != nil {
		return sealed{}, err
	}
	if tip.last.Size > 0 && seq > 0 && seq <= tip.last.Last() {
		return sealed{checkpoint: tip.last, signed: tip.signed}, nil
	}
	before, err := a.recall()
	if err != nil {
		return sealed{}, err
	}
	one, err := a.seal(ctx, s, before[s])
	a.note(s, err)
	return one, err
}

func (a *Auditor) proveInclusion(ctx context.Context, r schemas.AuditProveRequest) (p evidence.Proof, err error) {
	stream, seq := r.Stream, r.Seq
	if r.Event != "" {
		if stream, seq, err = a.findEvent(ctx, r.Event); err != nil {
			return p, err
		}
	}
	if !slices.Contains(schemas.Streams(), stream) {
		return p, schemas.Faultf(schemas.CodeBadRequest, "there is no stream %q, only %q", stream, schemas.Streams())
	}
	record, err := a.Log.Get(ctx, stream, seq)
	if errors.Is(err, bus.ErrNotFound) {
		return p, schemas.Faultf(schemas.CodeNotFound, "%s has no record %d", stream, seq)
	}
	if err != nil {
		return p, err
	}
	return a.include(ctx, record)
}

// include proves that a record is in the log.
func (a *Auditor) include(ctx context.Context, r schemas.Record) (p evidence.Proof, err error) {
	newest, err := a.newestOf(ctx, r.Stream, r.Seq)
	if err != nil {
		return p, schemas.Faultf(schemas.CodeRefused, "%v", err)
	}
	lost, err := a.Log.Lost(ctx, r.Stream)
	if err != nil {
		return p, err
	}
	if was, erased := bus.Erased(lost)[r.Seq]; erased {
		return p, schemas.Faultf(schemas.CodeRefused, "what record %d of %s said is forgotten: that it was there is in the tree, as the leaf %s, and what it was nobody can prove any more", r.Seq, r.Stream, base64.StdEncoding.EncodeToString(was.SHA256))
	}
	p = evidence.Proof{Kind: evidence.KindInclusion, Checkpoint: string(newest.signed), Record: &evidence.Record{
		Stream: r.Stream, Seq: r.Seq, Subject: r.Message.Subject, Header: r.Message.Header, Body: r.Message.Body,
	}}
	err = a.tree(r.Stream, func(tree *audit.Tree) (err error) {
		p.Hashes, err = tree.Include(newest.checkpoint.Size, r.Seq)
		return err
	})
	if err != nil {
		return p, err
	}
	_, err = p.VerifyUnder(newest.checkpoint) // signed here, or opened with the key
	return p, checked(err)
}

func (a *Auditor) tree(s schemas.Stream, use func(*audit.Tree) error) error {
	return a.Views.Read(audit.Name, func(view projections.Reader) error {
		tree, err := audit.OpenTree(view, s)
		if err != nil {
			return err
		}
		return use(tree)
	})
}

// findEvent looks for an event in every stream: first in the trees as they
// stand and where its id says that it should be, then in all that was appended,
// then everywhere.
func (a *Auditor) findEvent(ctx context.Context, id string) (stream schemas.Stream, seq uint64, err error) {
	if stream, seq, err = a.lookFor(id, false); err == nil {
		return stream, seq, nil
	}
	for _, s := range schemas.Streams() {
		if err := a.Views.AwaitToDecide(ctx, s, audit.Name); err != nil {
			return "", 0, err
		}
	}
	for _, everywhere := range []bool{false, true} {
		stream, seq, err = a.lookFor(id, everywhere)
		if !errors.Is(err, audit.ErrNoRecord) {
			return stream, seq, err
		}
	}
	return "", 0, schemas.Faultf(schemas.CodeNotFound, "the log has no event %q", id)
}

// Find returns where an event of a stream is in the log, as it stands now, by the
// event's id, or audit.ErrNoRecord.
func (a *Auditor) Find(ctx context.Context, s schemas.Stream, id string) (seq uint64, err error) {
	if err := a.Views.AwaitToDecide(ctx, s, audit.Name); err != nil {
		return 0, err
	}
	err = a.tree(s, func(tree *audit.Tree) error {
		seq, err = tree.Find(id, true)
		return err
	})
	return seq, err
}

// lookFor looks for an event in the trees. It returns audit.ErrNoRecord.
func (a *Auditor) lookFor(id string, everywhere bool) (stream schemas.Stream, seq uint64, err error) {
	for _, stream = range schemas.Streams() {
		err = a.tree(stream, func(tree *audit.Tree) (err error) {
			seq, err = tree.Find(id, everywhere)
			return err
		})
		if !errors.Is(err, audit.ErrNoRecord) {
			break
		}
	}
	return stream, seq, err
}

func (a *Auditor) proveConsistency(ctx context.Context, r schemas.AuditProveRequest) (p evidence.Proof, err error) {
	earlier, err := evidence.Open([]byte(r.Earlier), a.key.verifier)
	if err != nil {
		return p, schemas.Faultf(schemas.CodeBadRequest, "the earlier checkpoint: %v", err)
	}
	p = evidence.Proof{Kind: evidence.KindConsistency, Earlier: r.Earlier, Checkpoint: r.Later, Hashes: []evidence.Hash{}}
	var later evidence.Checkpoint
	if r.Later != "" {
		if later, err = evidence.Open([]byte(r.Later), a.key.verifier); err != nil {
			return p, schemas.Faultf(schemas.CodeBadRequest, "the later checkpoint: %v", err)
		}
	} else {
		newest, err := a.newestOf(ctx, earlier.Stream, 0)
		if err != nil {
			return p, schemas.Faultf(schemas.CodeRefused, "%v", err)
		}
		later, p.Checkpoint = newest.checkpoint, string(newest.signed)
	}
	if later.Stream != earlier.Stream || later.Size < earlier.Size {
		return p, schemas.Faultf(schemas.CodeBadRequest, "one checkpoint covers %d records of %s, the other %d of %s", earlier.Size, earlier.Stream, later.Size, later.Stream)
	}
	err = a.tree(earlier.Stream, func(tree *audit.Tree) (err error) {
		p.Hashes, err = tree.Extend(later.Size, earlier.Size)
		if errors.Is(err, audit.ErrNoRecord) {
			return schemas.Faultf(schemas.CodeRefused, "%v: the log is shorter than it was", err)
		}
		return err
	})
	if err != nil {
		return p, err
	}
	_, err = p.Verify(a.key.verifier)
	return p, checked(err)
}
