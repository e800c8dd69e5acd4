package session

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"unicode/utf8"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/digest"
)

// maxDiffs bounds the files of a session whose differences are made.
const maxDiffs = 100

// changes lists the files that a session changed. The log has their digests and not
// their contents: differences are those between the last commit before the session
// and what is there, and say where that is not what the session left.
func (v *Service) changes(ctx context.Context, q schemas.ChangesRequest) (schemas.SessionChanges, error) {
	out := schemas.SessionChanges{Session: q.Session}
	state, err := v.known(ctx, q.Session)
	if err != nil {
		return out, err
	}
	var fold enforcement.Changes
	var began schemas.Event
	err = v.eachRecord(ctx, q.Session, func(events []schemas.Event) error {
		for _, e := range events {
			if began.ID == "" {
				began = e
			}
			fold.Take(e)
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	out.Files = fold.Files()
	p := v.projectOf(state)
	if q.Diffs {
		if out.Base = v.sessions.Before(ctx, p.Root, began.Time); out.Base == "" {
			out.NoBase = "no commit is known that is older than the session"
		}
	}
	for i := range out.Files {
		v.look(ctx, p, &out, i, q.Diffs)
	}
	return out, nil
}

// look compares a changed file with what the session left, and with the base.
func (v *Service) look(ctx context.Context, p project.Project, out *schemas.SessionChanges, i int, diffs bool) {
	f := &out.Files[i]
	if filepath.IsAbs(f.Path) {
		f.Unshown = "it lies outside the project"
		return
	}
	state, _ := p.FileState(f.Path)
	f.Since = f.SHA256 != state.SHA256 && (f.SHA256 != "" || !f.Unapproved)
	switch {
	case !diffs:
		return
	case out.Base == "":
		f.Unshown = out.NoBase
		return
	case i >= maxDiffs:
		f.Unshown = "too many files were changed"
		return
	}
	now, err := project.ReadFile(filepath.Join(p.Root, filepath.FromSlash(f.Path)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.Unshown = "it cannot be read"
		return
	}
	before, was := v.sessions.Committed(ctx, p.Root, out.Base, f.Path)
	switch {
	case len(now) > maxShown || len(before) > maxShown:
		f.Unshown = "it is too large to be shown"
	case !utf8.Valid(now) || !utf8.Valid(before):
		f.Unshown = "it is not text"
	case digest.Hex(now) == digest.Hex(before) && was == (err == nil):
		f.Unshown = "it is as it was before the session"
	default:
		old, name := f.Path, f.Path
		if !was {
			old = "/dev/null"
		}
		if err != nil {
			name = "/dev/null"
		}
		f.Diff = udiff.Unified(old, name, string(before), string(now))
	}
}
