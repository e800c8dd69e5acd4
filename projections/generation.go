package projections

import (
	"context"
	"errors"
	"fmt"

	"github.com/writbus/writ/schemas"
)

// generation is one build of a view.
type generation struct {
	manifest
	checkpoints checkpoints // nil if they are not in the store
	batch       *batch
}

// load reads the generation that a manifest key names, nil without one.
func (v *runner) load(key []byte) (*generation, error) {
	gen := &generation{}
	found, err := getJSON(v.store.Get, key, &gen.manifest)
	if err != nil || !found {
		return nil, err
	}
	prefix := dataPrefix(v.p.Name(), gen.Generation)
	gen.batch = newBatch(v.store, prefix)
	_, err = getJSON(v.store.Get, prefix, &gen.checkpoints)
	return gen, err
}

// prepare returns the generation to go on with: the one in use if it agrees
// with the projector and the log, else the one being built, else a new one.
func (v *runner) prepare(ctx context.Context) (gen *generation, building bool, err error) {
	active, err := v.load(activeKey(v.p.Name()))
	if err != nil {
		return nil, false, err
	}
	reason, err := v.disagreement(ctx, active)
	if err != nil {
		return nil, false, err
	}
	begun, err := v.load(buildingKey(v.p.Name()))
	if err != nil {
		return nil, false, err
	}
	if reason == "" {
		return active, false, errors.Join(v.learn(active), v.discard(begun))
	}
	again, err := v.disagreement(ctx, begun)
	if err != nil {
		return nil, false, err
	}
	if again == "" {
		return begun, true, v.learn(begun)
	}
	gen, err = v.begin(active, begun, reason)
	return gen, true, err
}

// disagreement says why a generation cannot be gone on with, "" if it can.
func (v *runner) disagreement(ctx context.Context, gen *generation) (string, error) {
	switch {
	case gen == nil:
		return "first build", nil
	case gen.Version != v.p.Version():
		return fmt.Sprintf("version %d, was %d", v.p.Version(), gen.Version), nil
	case gen.Types != typesDigest(v.p.Types()):
		return "the projector reads other types than before", nil
	case gen.checkpoints == nil:
		return "its data are gone", nil
	}
	for _, s := range v.in.streams {
		c := gen.checkpoints[s]
		if c.Quarantined > 0 && gen.Vocabulary != vocabulary() {
			return fmt.Sprintf("this build may read records of %s that were passed over", s), nil
		}
		if reason, err := v.unconfirmed(ctx, s, c); err != nil || reason != "" {
			return reason, err
		}
	}
	return "", nil
}

// unconfirmed says how the log contradicts a checkpoint, "" if it does not.
func (v *runner) unconfirmed(ctx context.Context, s schemas.Stream, c checkpoint) (string, error) {
	if c.Seq == 0 {
		return "", nil
	}
	_, last, err := v.log.Bounds(ctx, s)
	if err != nil {
		return "", fmt.Errorf("end of %s: %w", s, err)
	}
	if c.Seq > last {
		return fmt.Sprintf("checkpoint %s/%d is beyond the stream's end %d", s, c.Seq, last), nil
	}
	id, err := v.log.IDAt(ctx, s, c.Seq)
	switch {
	case errors.Is(err, ErrNoEvent):
		return fmt.Sprintf("the event of checkpoint %s/%d is gone", s, c.Seq), nil
	case err != nil:
		return "", fmt.Errorf("event %s/%d: %w", s, c.Seq, err)
	case id != c.ID:
		return fmt.Sprintf("checkpoint %s/%d is event %q in the log, was %q", s, c.Seq, id, c.ID), nil
	}
	return "", nil
}

// learn notes what this build can decode in a generation that nothing was
// passed over for.
func (v *runner) learn(gen *generation) error {
	if gen.Vocabulary == vocabulary() {
		return nil
	}
	gen.Vocabulary = vocabulary()
	key := activeKey(v.p.Name())
	var active manifest
	if _, err := getJSON(v.store.Get, key, &active); err != nil {
		return err
	}
	if active.Generation != gen.Generation {
		key = buildingKey(v.p.Name())
	}
	return v.store.Commit(func(b Batch) error { return setJSON(b.Set, key, gen.manifest) })
}

// begin starts a generation beside the one in use, and drops a build that was
// begun before.
func (v *runner) begin(active, begun *generation, reason string) (*generation, error) {
	next := manifest{
		Generation: 1,
		Version:    v.p.Version(),
		Types:      typesDigest(v.p.Types()),
		Vocabulary: vocabulary(),
		Reason:     reason,
	}
	for _, g := range []*generation{active, begun} {
		if g != nil {
			next.Generation = max(next.Generation, g.Generation+1)
		}
	}
	gen := &generation{manifest: next, checkpoints: checkpoints{}, batch: newBatch(v.store, dataPrefix(v.p.Name(), next.Generation))}
	err := v.store.Commit(func(b Batch) error {
		// Data whose manifest was lost may be of any number.
		left := v.drop(b, begun)
		if active == nil {
			left = b.DeletePrefix(viewPrefix(v.p.Name()))
		}
		return errors.Join(left, setJSON(b.Set, gen.batch.prefix, gen.checkpoints), setJSON(b.Set, buildingKey(v.p.Name()), next))
	})
	if err != nil {
		return nil, err
	}
	v.opt.Logger.Info("view rebuild", "view", v.p.Name(), "generation", next.Generation, "reason", reason)
	gen.batch.fresh = newKeySet()
	return gen, nil
}

// discard deletes a build that is not wanted.
func (v *runner) discard(gen *generation) error {
	if gen == nil {
		return nil
	}
	return v.store.Commit(func(b Batch) error {
		return errors.Join(v.drop(b, gen), b.Delete(buildingKey(v.p.Name())))
	})
}

func (v *runner) drop(b Batch, gen *generation) error {
	if gen == nil {
		return nil
	}
	return b.DeletePrefix(gen.batch.prefix)
}

// swap makes a complete build the view in use and deletes the one it
// replaces, in one commit.
func (v *runner) swap(gen *generation) error {
	old, err := v.load(activeKey(v.p.Name()))
	if err != nil {
		return err
	}
	gen.batch.fresh = nil // it takes memory, and live views look for few keys
	return v.store.Commit(func(b Batch) error {
		if err := v.drop(b, old); err != nil {
			return err
		}
		if err := b.Delete(buildingKey(v.p.Name())); err != nil {
			return err
		}
		return setJSON(b.Set, activeKey(v.p.Name()), gen.manifest)
	})
}
