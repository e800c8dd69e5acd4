package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/audit"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
	"github.com/writbus/writ/schemas/digest"
)

// mend writes the files of a stream anew that are damaged: the checkpoints from
// those that hold and those that the second place remembers, the hashes from the
// log. It does so only where the log is the one that the newest of them covers; a
// damaged file as it was is kept beside it.
func (a *Auditor) mend(s schemas.Stream, before remembered, tree *audit.Tree) error {
	path := a.ledger.checkpoints(s)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was signed, or somebody took it away, which seal tells
	}
	if err != nil {
		return err
	}
	good, damaged := a.readable(s, text)
	for _, one := range []sealed{before.first, before.last} {
		if damaged && len(one.signed) > 0 && !slices.ContainsFunc(good, func(g sealed) bool { return g.checkpoint == one.checkpoint }) {
			good = append(good, one)
		}
	}
	slices.SortStableFunc(good, func(a, b sealed) int {
		return cmp.Or(cmp.Compare(a.checkpoint.Size, b.checkpoint.Size), a.checkpoint.Time.Compare(b.checkpoint.Time))
	})
	if len(good) == 0 || damaged && len(before.last.signed) == 0 {
		if damaged {
			return fmt.Errorf("%s is damaged, and nothing else tells what was signed. Run `writ down` and restore it from a backup", path)
		}
		return nil
	}
	newest := good[len(good)-1].checkpoint
	if tree.Size() < newest.Size {
		return nil // the tree is being built, or the log is shorter, which seal tells
	}
	for _, one := range good {
		if err := extends(tree, one.checkpoint); err != nil {
			return err
		}
	}
	if damaged {
		var again []byte
		for _, one := range good {
			again = append(append(again, one.signed...), '\n')
		}
		if err := a.anew(path, text, again); err != nil {
			return err
		}
	}
	return a.mendLeaves(s, newest, tree)
}

// mendFrom mends with the tree of a stream, where that is there.
func (a *Auditor) mendFrom(ctx context.Context, s schemas.Stream, before remembered) error {
	a.waitFor(ctx, s)
	err := a.tree(s, func(tree *audit.Tree) error { return a.mend(s, before, tree) })
	if errors.Is(err, projections.ErrNotReady) {
		return nil
	}
	return err
}

// readable are the checkpoints of a file that hold, and whether there are others.
func (a *Auditor) readable(s schemas.Stream, text []byte) (good []sealed, damaged bool) {
	all, rest := evidence.SplitCheckpoints(text)
	for _, kept := range all {
		c, err := evidence.Open(kept.Signed, a.key.verifier)
		if err != nil || c.Stream != s {
			damaged = true
			continue
		}
		good = append(good, sealed{c, kept.Signed})
	}
	return good, damaged || rest != ""
}

// mendLeaves compares the hashes that were kept with those of the tree, which is
// the one that was signed.
func (a *Auditor) mendLeaves(s schemas.Stream, newest evidence.Checkpoint, tree *audit.Tree) error {
	path := a.ledger.leaves(s)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) || newest.Size == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // read only
	same, err := sameLeaves(evidence.NewLeafReader(file), newest, tree)
	if same || err != nil {
		return err
	}
	was, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var lines []byte
	for leaf, err := range tree.Leaves(newest.First) {
		if err != nil {
			return err
		}
		if leaf.Seq > newest.Last() {
			break
		}
		lines = evidence.AppendLeafLine(lines, leaf)
	}
	return a.anew(path, was, lines)
}

// sameLeaves says whether the hashes that were kept are those of the tree, up to a
// checkpoint at least: more were written before the next one was signed.
func sameLeaves(kept *evidence.LeafReader, newest evidence.Checkpoint, tree *audit.Tree) (bool, error) {
	reached := uint64(0)
	for leaf, err := range tree.Leaves(newest.First) {
		if err != nil {
			return false, err
		}
		line, err := kept.Next()
		switch {
		case err != nil:
			return reached >= newest.Last(), nil //nolint:nilerr // it ends there, or is torn
		case line != leaf:
			return false, nil
		}
		reached = leaf.Seq
	}
	return true, nil
}

// anew replaces a damaged file and tells of it.
func (a *Auditor) anew(path string, was, is []byte) error {
	kept := path + ".damaged-" + digest.Hex(was)[:16]
	if err := atomicfile.Write(kept, was, 0o600); err != nil {
		return err
	}
	if err := atomicfile.Write(path, is, 0o644); err != nil {
		return err
	}
	clear(a.ledger.tips)
	a.Warn(path + " was damaged and is written anew: the log is the one that was signed, and nothing of it is lost. The file as it was is kept in " + kept + ". Check the disk")
	return nil
}
