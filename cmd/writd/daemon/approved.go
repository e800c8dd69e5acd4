package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

const (
	// keptApproved is how long an approved content is kept after its approval.
	keptApproved = 90 * 24 * time.Hour
	// maxShown bounds a file whose difference is shown, in bytes.
	maxShown = 512 << 10
)

// approvedFiles keeps the contents that users approved, so that a later offer
// can show what changed since. The log holds their digests and alone decides;
// without these files an offer shows everything as new.
type approvedFiles struct{ dir string }

// at is the place of a file last approved in a session.
func (a approvedFiles) at(session, rel string) string {
	return filepath.Join(a.dir, shortDigest(session), shortDigest(rel))
}

func shortDigest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// keep copies approved files as they were approved. One that has changed
// since, or cannot be read, is left out.
func (a approvedFiles) keep(session, root string, files []schemas.FileState) error {
	var all []error
	for _, f := range files {
		content, err := readBounded(filepath.Join(root, filepath.FromSlash(f.Path)))
		if err != nil || digest(content) != f.SHA256 {
			continue
		}
		path := a.at(session, f.Path)
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = atomicfile.Write(path, content, 0o600)
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// prune forgets what was approved in sessions that ended long ago.
func (a approvedFiles) prune(now time.Time) error {
	sessions, err := os.ReadDir(a.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	all := []error{err}
	for _, s := range sessions {
		info, err := s.Info()
		if err != nil || !s.IsDir() || now.Sub(info.ModTime()) < keptApproved {
			continue
		}
		all = append(all, os.RemoveAll(filepath.Join(a.dir, s.Name())))
	}
	return errors.Join(all...)
}

// offer shows what waits in a session, with its differences from what was
// approved before.
func (d *Daemon) offer(ctx context.Context, r schemas.OfferRequest) (schemas.GateOffer, error) {
	state, err := d.known(ctx, r.Session)
	if err != nil {
		return schemas.GateOffer{}, err
	}
	p := d.sessionProject(state)
	ws := d.approvable(ctx, p, r.Session, state)
	gate := r.Gate
	if gate == "" {
		gate = state.Waiting(ws)
	}
	reply := schemas.GateOffer{Session: r.Session, Gate: gate, Files: []schemas.OfferFile{}}
	if gate == "" || state.Parent != "" {
		reply.Gate = ""
		return reply, nil
	}
	o := state.Offer(gate, ws)
	reply.Fingerprint, reply.Problems, reply.Declined = o.Fingerprint, o.Problems, state.Work.Declined[gate]
	for _, f := range o.Files {
		reply.Files = append(reply.Files, d.approvedFiles().offered(r.Session, p.root, f))
	}
	return reply, nil
}

func (a approvedFiles) offered(session, root string, f schemas.FileState) schemas.OfferFile {
	out := schemas.OfferFile{FileState: f}
	before, err := os.ReadFile(a.at(session, f.Path))
	out.New = err != nil
	var now []byte
	if f.SHA256 != "" {
		if now, err = readBounded(filepath.Join(root, filepath.FromSlash(f.Path))); err != nil {
			out.Unshown = "it cannot be read"
			return out
		}
	}
	switch {
	case f.SHA256 != "" && digest(now) != f.SHA256:
		out.Unshown = "it changed while this was made"
	case len(now) > maxShown || len(before) > maxShown:
		out.Unshown = "it is too large to be shown"
	case !utf8.Valid(now) || !utf8.Valid(before):
		out.Unshown = "it is not text"
	default:
		old := "approved/" + f.Path
		if out.New {
			old = "/dev/null"
		}
		out.Diff = udiff.Unified(old, f.Path, string(before), string(now))
	}
	return out
}

// decline records that the user wants what waits changed. Only the admin
// credential reaches it.
func (d *Daemon) decline(ctx context.Context, r schemas.DeclineRequest) (schemas.ActReply, error) {
	state, err := d.known(ctx, r.Session)
	if err != nil {
		return schemas.ActReply{}, err
	}
	if strings.TrimSpace(r.Reason) == "" {
		return schemas.ActReply{}, schemas.Faultf(schemas.CodeBadRequest, "a decline needs words: say what the agent has to change")
	}
	if r.ActID == "" {
		r.ActID = bus.NewID()
	}
	p := d.sessionProject(state)
	decision, state, err := d.sessions.act(ctx, r.Session, meta{actor: enforcement.Person(r.Channel)}, func(s enforcement.State) (enforcement.Decision, error) {
		return enforcement.Decide(s, enforcement.DeclineGate{
			Gate: r.Gate, Fingerprint: r.Fingerprint, Reason: r.Reason, Channel: r.Channel, ActID: r.Channel + ":" + r.ActID,
			Workspace: d.approvable(ctx, p, r.Session, s),
		})
	})
	if err != nil {
		return schemas.ActReply{}, err
	}
	return acted(r.Session, state, decision, position(state)), nil
}

func (d *Daemon) approvedFiles() approvedFiles {
	return approvedFiles{filepath.Join(d.layout.Root, "approved")}
}
