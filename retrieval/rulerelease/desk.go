package rulerelease

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/projections/audit/attest"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

// Desk is where a person makes and follows releases. Ask asks the daemon, Dir is
// what paths are meant from.
type Desk struct {
	Ask func(context.Context, schemas.ReleaseRequest) (schemas.ReleaseReply, error)
	Dir string
}

func (d Desk) absolute(place string) string {
	if strings.Contains(place, "://") || filepath.IsAbs(place) {
		return place
	}
	return filepath.Join(d.Dir, place)
}

// Make signs the files of a draft under a key, as evidence.NewKey drew it, after an
// earlier release, "" for none, and writes what it signed to out.
func (d Desk) Make(ctx context.Context, r schemas.ReleaseRequest, key, after, out string) (made Release, path string, err error) {
	if after != "" {
		if r.Envelope, err = Fetch(ctx, d.absolute(after), r.Name); err != nil {
			return made, "", err
		}
	}
	if r.Number == 0 {
		before, _, _ := Open(r.Envelope, nil) // the draft checks it
		r.Number = before.Number + 1
	}
	r.Act = schemas.ReleaseDraft
	if _, r.Key, err = evidence.ReadKey(key); err != nil {
		return made, "", err
	}
	reply, err := d.Ask(ctx, r)
	if err != nil {
		return made, "", err
	}
	raw, err := Seal(reply.Draft, key)
	if err == nil {
		path, err = Write(d.absolute(out), raw)
	}
	if err == nil {
		made, _, err = Verify(raw, r.Key)
	}
	return made, path, err
}

// Show reads a release, and checks it against a key, or the SHA-256 of one, that is
// named. Where none is, signed is false.
func (d Desk) Show(ctx context.Context, place, root string) (r Release, signed bool, err error) {
	raw, err := Fetch(ctx, d.absolute(place), "")
	if err != nil {
		return r, false, err
	}
	if r, _, err = Verify(raw, root); root == "" && errors.Is(err, ErrSignature) {
		return r, false, nil
	}
	return r, err == nil, err
}

// Judge adds to a policy what a release says, under the key that is named: whose approvals
// count, under which policies agents write, and which releases before it were revoked. It
// returns which release that is.
func (d Desk) Judge(ctx context.Context, place, root string, now time.Time, p *attest.Policy) (as string, err error) {
	r, signed, err := d.Show(ctx, place, root)
	switch {
	case err != nil:
		return "", err
	case !signed:
		return "", errors.New("the key that signs the release is to be named, or its SHA-256")
	case Expired(r.Terms, now):
		return "", fmt.Errorf("%s expired: its last day was %s", r.Text(), r.Terms.Until)
	}
	for _, text := range r.Terms.Persons {
		key, err := note.NewVerifier(text)
		if err != nil {
			return "", err
		}
		p.Persons = append(p.Persons, key)
	}
	if p.Two && len(p.Persons) == 0 {
		return "", fmt.Errorf("%s names no persons, of whom two could approve", r.Text())
	}
	for _, one := range r.Terms.Policies {
		p.Released = append(p.Released, r.Name+"/"+one.Name)
	}
	p.Revoked = map[string]string{}
	for _, one := range r.Terms.Revoked {
		p.Revoked[schemas.Release{Name: r.Name, Number: one.Number}.Text()] = one.Reason
	}
	return r.Text(), nil
}

// Follow pins a key for what lies at a place.
func (d Desk) Follow(ctx context.Context, place, root string) (schemas.ReleaseReply, error) {
	raw, err := Fetch(ctx, d.absolute(place), "")
	if err != nil {
		return schemas.ReleaseReply{}, err
	}
	return d.Ask(ctx, schemas.ReleaseRequest{Act: schemas.ReleaseFollow, Envelope: raw, Key: root, Place: d.absolute(place)})
}

// Update takes the newest of everybody who is followed. What cannot be taken of one
// does not keep the others back.
func (d Desk) Update(ctx context.Context) (all schemas.ReleaseReply, err error) {
	all, err = d.Ask(ctx, schemas.ReleaseRequest{Act: schemas.ReleaseList})
	if err != nil {
		return all, err
	}
	for _, f := range all.Followed {
		raw, err2 := Fetch(ctx, f.Place, f.Name)
		if err2 == nil {
			var reply schemas.ReleaseReply
			if reply, err2 = d.Ask(ctx, schemas.ReleaseRequest{Act: schemas.ReleaseTake, Envelope: raw}); err2 == nil {
				all.Imported, all.Retired = append(all.Imported, reply.Imported...), append(all.Retired, reply.Retired...)
				all.Followed, all.Behind = reply.Followed, reply.Behind
			}
		}
		if err2 != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", f.Name, err2))
		}
	}
	return all, err
}

// Lines is a release for people.
func (r Release) Lines(signed bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, release %d, %s, made %s, under %s\n", r.Name, r.Number, r.Layer, r.Made.Format(time.DateOnly), r.Key)
	for _, one := range r.Rules {
		fmt.Fprintf(&b, "  %s  %q\n", one.ID, one.Path)
	}
	for _, t := range r.Tombstones {
		fmt.Fprintf(&b, "  %s  out: %q\n", t.ID, t.Reason)
	}
	b.WriteString(termsLines(r.Terms))
	if !signed {
		b.WriteString("nobody checked the signature: --root KEY does\n")
	}
	return b.String()
}
