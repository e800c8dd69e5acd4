package ledger

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections/audit/leaving"
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
	secret, err := a.key.signer.Sign([]byte(nonces))
	if err != nil {
		return 0, 0, err
	}
	seed := sha256.Sum256(secret)
	copier, out := leaving.Copier{Clean: a.Clean, Secret: seed[:]}, leaving.NewWriter(to)
	var all []leaving.Copy
	for _, s := range leaving.Streams() {
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
	n, err = out.Close(a.key.signer, a.Now())
	return n, unread, err
}
