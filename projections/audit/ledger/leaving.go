package ledger

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections/audit"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/projections/hubcopies"
	"github.com/writbus/writ/schemas"
)

// nonces is what the secret behind the nonces of copies is drawn from (persisted;
// never change): only who has the key can sign it.
const nonces = "writ nonces of copies v1\n"

// leave is the service: it writes what may leave, signed at the end, to a file.
func leave(ctx context.Context, a *Auditor, r schemas.LeavingRequest) (reply schemas.LeavingReply, err error) {
	if !filepath.IsAbs(r.File) {
		return reply, schemas.Faultf(schemas.CodeBadRequest, "a file is named by its absolute path, not %q", r.File)
	}
	file, err := os.OpenFile(r.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return reply, schemas.Faultf(schemas.CodeRefused, "%v", err)
	}
	reply = schemas.LeavingReply{File: r.File, Key: a.key.public}
	reply.Copies, reply.Unread, err = copies(ctx, a, file)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		_ = os.Remove(r.File) // err is what matters
		return schemas.LeavingReply{}, err
	}
	return reply, nil
}

// copies writes the copies of all streams, in their order.
func copies(ctx context.Context, a *Auditor, to io.Writer) (n int64, unread int, err error) {
	key, _, seed, err := Signer(a)
	if err != nil {
		return 0, 0, err
	}
	copier, out := hubcopies.Copier{Clean: a.Clean, Secret: seed}, hubcopies.NewWriter(to)
	var all []hubcopies.Copy
	for _, s := range hubcopies.Streams() {
		err := a.Log.Follow(ctx, s, 0, bus.FollowOptions{MaxBatch: 4096, UntilEnd: true, Unparsed: true}, func(records []schemas.Record) error {
			for _, r := range records {
				var err error
				if all, err = copier.Copies(all[:0], r); err != nil {
					unread++
					continue
				}
				for _, c := range all {
					if err := out.Write(c); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if errors.Is(err, bus.ErrGap) {
			return 0, 0, schemas.Faultf(schemas.CodeRefused, "the log is damaged: %v. `writ audit verify` says where", err)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	n, err = out.Close(key, a.Now())
	return n, unread, err
}

// Signer is the key of the log, and what is given away of it; seed is what nonces of
// copies are drawn with.
func Signer(a *Auditor) (key note.Signer, public string, seed []byte, err error) {
	secret, err := a.key.signer.Sign([]byte(nonces))
	sum := sha256.Sum256(secret)
	return a.key.signer, a.key.public, sum[:], err
}

// Identity names the log wherever it lies: its backups and what is restored of them
// have the same.
func Identity(a *Auditor) string { return a.key.signer.Name() }

// newest is the last checkpoint of a stream, of size 0 where none was signed.
func (a *Auditor) newest(s schemas.Stream) (sealed, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	tip, err := a.ledger.tip(s)
	if err != nil {
		return sealed{}, err
	}
	return sealed{checkpoint: tip.last, signed: tip.signed}, nil
}

// Grown is the newest checkpoint of a stream if it has more records than some, with the
// proof that it extends them, if there were any; "" otherwise.
func Grown(a *Auditor, s schemas.Stream, than int64) (signed string, size int64, proof []evidence.Hash, err error) {
	newest, err := a.newest(s)
	if err != nil || newest.checkpoint.Size <= than {
		return "", 0, nil, err
	}
	err = a.tree(s, func(tree *audit.Tree) error {
		proof, err = tree.Extend(newest.checkpoint.Size, than)
		return err
	})
	if errors.Is(err, audit.ErrNoRecord) {
		return "", 0, nil, nil // the view is being built anew
	}
	return string(newest.signed), newest.checkpoint.Size, proof, err
}
