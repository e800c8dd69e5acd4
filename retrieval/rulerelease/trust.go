package rulerelease

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/schemas"
)

// State is whom a log follows, by name. Who was left stays in it: what was seen of
// their numbers goes on to count.
type State map[string]Followed

// Followed is what is believed of one name.
type Followed struct {
	schemas.FollowedRelease
	Left bool
	Seen map[int]string // digests of the releases that were taken, by number
}

// Evolve folds an event. It changes no state that it was given.
func Evolve(s State, e schemas.Event) State {
	next := maps.Clone(s)
	if next == nil {
		next = State{}
	}
	switch p := e.Data.(type) {
	case schemas.ReleaseFollowed:
		f := next[p.Name]
		if f.Key != p.Key {
			f = Followed{} // another key: its numbers are its own
		}
		f.Name, f.Layer, f.Key, f.Place, f.Left = p.Name, p.Layer, p.Key, p.Place, false
		next[p.Name] = f
	case schemas.ReleaseTaken:
		f := next[p.Release.Name]
		f.Seen = maps.Clone(f.Seen)
		if f.Seen == nil {
			f.Seen = map[int]string{}
		}
		f.Seen[p.Release.Number] = p.Digest
		f.Number, f.Digest, f.Terms = p.Release.Number, p.Digest, p.Terms
		next[p.Release.Name] = f
	case schemas.ReleaseLeft:
		f := next[p.Name]
		f.Left = true
		next[p.Name] = f
	}
	return next
}

// Followed are those who are followed, by name.
func (s State) Followed() []schemas.FollowedRelease {
	all := []schemas.FollowedRelease{}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if f := s[name]; !f.Left {
			all = append(all, f.FollowedRelease)
		}
	}
	return all
}

// Texts are the releases that hold, as decisions name them.
func (s State) Texts() (texts []string) {
	for _, f := range s.Followed() {
		if f.Number > 0 {
			texts = append(texts, f.Text())
		}
	}
	return texts
}

// Find is who is followed under a name.
func (s State) Find(name string) (Followed, error) {
	f, known := s[name]
	if known && !f.Left {
		return f, nil
	}
	var names []string
	for _, other := range s.Followed() {
		names = append(names, other.Name)
	}
	if len(names) == 0 {
		names = []string{"nobody"}
	}
	return f, schemas.Faultf(schemas.CodeNotFound, "no releases of %.80q are followed, but of %s. writ team release follow PLACE --root KEY follows some", name, strings.Join(names, ", "))
}

// Take opens a release of somebody who is followed.
func (s State) Take(raw []byte, now time.Time) (r Release, sum string, err error) {
	claim, _, err := Open(raw, nil)
	if claim.Name == "" {
		return r, "", schemas.Faultf(schemas.CodeRefused, "%v. Ask its maintainers for the file that writ team release make wrote", err)
	}
	f, err := s.Find(claim.Name)
	if err != nil {
		return r, "", err
	}
	key, err := note.NewVerifier(f.Key)
	if err != nil {
		return r, "", fmt.Errorf("rulerelease: the pinned key of %s: %w", f.Name, err)
	}
	return s.open(raw, key, now)
}

// Pin opens a release under the key that a person names, for one whom nobody follows
// under another.
func (s State) Pin(raw []byte, named string, now time.Time) (r Release, sum, key string, err error) {
	claim, _, err := Open(raw, nil)
	if claim.Name == "" {
		return r, "", "", schemas.Faultf(schemas.CodeRefused, "%v. Ask its maintainers for the file that writ team release make wrote", err)
	}
	root, err := Root(named, claim.Key)
	if err != nil {
		return r, "", "", schemas.Faultf(schemas.CodeRefused, "%v. Nothing is pinned; compare the key with what the maintainers told you, by another way than this file came", err)
	}
	if r, sum, err = s.open(raw, root, now); err != nil {
		return r, "", "", err
	}
	if pinned, err := note.NewVerifier(r.Key); err != nil || pinned.Name() != root.Name() || pinned.KeyHash() != root.KeyHash() {
		return r, "", "", schemas.Faultf(schemas.CodeRefused, "release %d of %s says that another key signs than did. Ask its maintainers to make it again", r.Number, r.Name)
	}
	return r, sum, r.Key, nil
}

// open refuses what a key did not sign, and what contradicts what was seen.
func (s State) open(raw []byte, key note.Verifier, now time.Time) (r Release, sum string, err error) {
	r, sum, err = Open(raw, key)
	if err != nil {
		return r, "", schemas.Faultf(schemas.CodeRefused, "%v. It was altered, or another key made it: take it again from its maintainers; if they changed their key, leave (writ team release leave %s) and follow under the one they tell you", err, r.Name)
	}
	if Expired(r.Terms, now) {
		return r, "", schemas.Faultf(schemas.CodeRefused, "release %d of %s expired: its last day was %s. Nothing of it is taken; ask its maintainers for a newer one", r.Number, r.Name, r.Terms.Until)
	}
	f, known := s[r.Name]
	pinned, _ := note.NewVerifier(f.Key)
	if known && !f.Left && (pinned == nil || pinned.Name() != key.Name() || pinned.KeyHash() != key.KeyHash()) {
		return r, "", schemas.Faultf(schemas.CodeRefused, "%s is followed under %s, not under %s+%08x. Leave first (writ team release leave %s) if its maintainers changed their key", r.Name, f.Key, key.Name(), key.KeyHash(), r.Name)
	}
	if !known || pinned == nil || pinned.KeyHash() != key.KeyHash() || pinned.Name() != key.Name() {
		return r, sum, nil
	}
	return r, sum, f.check(r, sum)
}

// check holds a release against those that were taken under the same key.
func (f Followed) check(r Release, sum string) error {
	fork := func(number int, was, is string) error {
		return schemas.Faultf(schemas.CodeRefused, "fork: number %d of %s was seen as %.16s, and now it is %.16s. Nothing is taken; show both to its maintainers: somebody with their key says different things to different people", number, f.Name, was, is)
	}
	if was := f.Seen[r.Number]; was != "" && was != sum {
		return fork(r.Number, was, sum)
	}
	if r.After != nil && f.Seen[r.After.Number] != "" && f.Seen[r.After.Number] != r.After.Digest {
		return fork(r.After.Number, f.Seen[r.After.Number], r.After.Digest)
	}
	if why := revoked(f.Terms, r.Number); why != "" {
		return schemas.Faultf(schemas.CodeRefused, "release %d of %s was revoked: %s. Take a newer one (writ team release update)", r.Number, f.Name, why)
	}
	switch {
	case r.Number < f.Number:
		return schemas.Faultf(schemas.CodeRefused, "release %d of %s is older than %d, which is taken. Fetch the newest from its maintainers", r.Number, f.Name, f.Number)
	case r.Layer != f.Layer:
		return schemas.Faultf(schemas.CodeRefused, "release %d of %s is of the layer %s, and %s was followed. Leave and follow it again if that is meant", r.Number, f.Name, r.Layer, f.Layer)
	}
	return nil
}
