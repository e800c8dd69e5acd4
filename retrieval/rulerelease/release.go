// Package rulerelease is what an organisation or a team releases to its members: rules,
// as a signed file that travels over any transport, and what a member believes of it.
//
// It guarantees that nothing of a release is believed whose envelope the pinned key
// did not sign ([Open]), that its number never goes back, and that a number says one
// thing alone: a second content under it is a fork, and refused ([State.Take]). So
// who carries releases can withhold them, and neither forge nor mix them. What was
// revoked, or is past its last day, is not taken, and such a release lets nobody
// approve and nothing be written ([State.Persons], [State.Policy]).
//
// A release is whole: it has every rule in force, and a tombstone for each that an
// earlier one had. Who missed some takes the last. What the rules mean is not read
// here.
package rulerelease

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/projections/audit/attest"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/digest"
)

// What envelopes say that they hold (persisted; never change).
const (
	PayloadType  = "application/vnd.writ.release+json"
	ProposalType = "application/vnd.writ.proposal+json"
)

var (
	// ErrForm is returned for what is no release.
	ErrForm = errors.New("no release of Writ's")
	// ErrSignature is returned for what the given key did not sign.
	ErrSignature = errors.New("the given key did not sign this")
)

// Release is what is signed.
type Release struct {
	schemas.Release
	Made time.Time `json:"made"`
	Key  string    `json:"key"` // public, of who signs; what counts is the one that is pinned
	// After is the release before, nil for the first.
	After      *Before              `json:"after,omitempty"`
	Rules      []Rule               `json:"rules"` // by id
	Tombstones []Tombstone          `json:"tombstones,omitempty"`
	Terms      schemas.ReleaseTerms `json:"terms,omitzero"`
}

// Before names a release by its content.
type Before struct {
	Number int    `json:"number"`
	Digest string `json:"digest"` // SHA-256 of what was signed, hex
}

// Rule is one rule with its file.
type Rule struct {
	ID      string `json:"id"`
	Path    string `json:"path"`
	Content string `json:"content"`
}

// Tombstone takes out the rule that an earlier release had.
type Tombstone struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// Draft is what is signed of a release that comes after an earlier one, in its
// envelope; nil for the first. It is of the same name and key, and rises.
func Draft(r Release, earlier []byte, reason string) (json.RawMessage, error) {
	key, err := note.NewVerifier(r.Key)
	if err != nil {
		return nil, fmt.Errorf("the key %.80q is no public key", r.Key)
	}
	switch {
	case len(earlier) > 0:
		before, sum, err := Open(earlier, key)
		if err != nil {
			return nil, fmt.Errorf("the release before: %w", err)
		}
		if before.Name != r.Name || before.Layer != r.Layer || before.Number >= r.Number {
			return nil, fmt.Errorf("the release before is number %d of %s %s, and this one %d of %s %s", before.Number, before.Layer, before.Name, r.Number, r.Layer, r.Name)
		}
		r = r.following(before, sum, reason)
		gone := slices.DeleteFunc(before.ids(), func(id string) bool { return slices.Contains(r.ids(), id) })
		if len(gone) > 0 && strings.TrimSpace(reason) == "" {
			return nil, errors.New("rules of the release before are not in this one: " + strings.Join(gone, ", ") + ". Say why with --reason")
		}
	case r.Number > 1:
		return nil, errors.New("only number 1 has none before it: name the last one with --after")
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	if Expired(r.Terms, r.Made) {
		return nil, fmt.Errorf("its last day, %s, is over: state another until in --terms", r.Terms.Until)
	}
	return json.Marshal(r)
}

// Seal signs what Draft made, under a key as evidence.NewKey drew it.
func Seal(draft []byte, key string) (json.RawMessage, error) {
	signer, _, err := evidence.ReadKey(key)
	if err != nil {
		return nil, err
	}
	return attest.Seal(PayloadType, draft, signer)
}

// Verify is Open under a key, or the SHA-256 of one, that somebody names; "" for none.
func Verify(raw []byte, named string) (r Release, sum string, err error) {
	if r, _, err = Open(raw, nil); named == "" || !errors.Is(err, ErrSignature) {
		return r, "", err
	}
	key, err := Root(named, r.Key)
	if err != nil {
		return r, "", err
	}
	return Open(raw, key)
}

// Open returns what a key signed, with its digest. It returns ErrForm or
// ErrSignature, and with the latter what the release claims to be.
func Open(raw []byte, key note.Verifier) (r Release, sum string, err error) {
	var keys []note.Verifier
	if key != nil {
		keys = append(keys, key)
	}
	payload, _, sealed := attest.Unseal(PayloadType, raw, keys)
	if sealed != nil && !errors.Is(sealed, attest.ErrSignature) {
		return r, "", fmt.Errorf("%w: %w", ErrForm, sealed)
	}
	if err := json.Unmarshal(payload, &r); err != nil {
		return r, "", fmt.Errorf("%w: %w", ErrForm, err)
	}
	if err := r.Check(); err != nil {
		return r, "", err
	}
	if sealed != nil {
		return r, "", fmt.Errorf("%w: it says that it is release %d of %s, under %s", ErrSignature, r.Number, r.Name, r.Key)
	}
	return r, digest.Hex(payload), nil
}

// Check returns ErrForm for a release that says too little, or a thing twice.
func (r Release) Check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrForm}, args...)...)
	}
	switch {
	case r.Name == "" || strings.ContainsFunc(r.Name, func(c rune) bool { return c <= ' ' || c == '@' || c == '/' || c > '~' }) || len(r.Name) > 60:
		return bad("the name %.80q; one has up to 60 letters, digits and signs without blanks, @ and /", r.Name)
	case r.Layer != schemas.LayerOrganisation && r.Layer != schemas.LayerTeam:
		return bad("the layer %.40q, which is %s or %s", r.Layer, schemas.LayerOrganisation, schemas.LayerTeam)
	case r.Number < 1:
		return bad("the number %d; the first is 1", r.Number)
	case r.After != nil && r.After.Number >= r.Number:
		return bad("number %d after number %d", r.Number, r.After.Number)
	}
	seen := map[string]bool{}
	for _, id := range slices.Concat(r.ids(), r.tombs()) {
		if id == "" || seen[id] {
			return bad("the id %.80q, twice or empty", id)
		}
		seen[id] = true
	}
	if err := r.checkTerms(); err != nil {
		return bad("%w", err)
	}
	return nil
}

// Taken is what a log has of a release whose signature holds over this digest.
func (r Release) Taken(sum string) schemas.ReleaseTaken {
	return schemas.ReleaseTaken{Release: r.Release, Digest: sum, Rules: len(r.Rules), Tombstones: len(r.Tombstones), Terms: r.Terms}
}

func (r Release) ids() (ids []string) {
	for _, one := range r.Rules {
		ids = append(ids, one.ID)
	}
	return ids
}

func (r Release) tombs() (ids []string) {
	for _, one := range r.Tombstones {
		ids = append(ids, one.ID)
	}
	return ids
}

// following puts a release after an earlier one, with tombstones for what that had and
// this has not. Where it states no terms, those go on; what was revoked stays so.
func (r Release) following(before Release, sum, reason string) Release {
	r.After = &Before{Number: before.Number, Digest: sum}
	if reflect.ValueOf(r.Terms).IsZero() {
		r.Terms = before.Terms
	}
	has := r.ids()
	for _, t := range before.Tombstones {
		if !slices.Contains(has, t.ID) {
			r.Tombstones = append(r.Tombstones, t)
		}
	}
	for _, one := range before.Rules {
		if !slices.Contains(has, one.ID) {
			r.Tombstones = append(r.Tombstones, Tombstone{ID: one.ID, Reason: reason})
		}
	}
	slices.SortFunc(r.Tombstones, func(a, b Tombstone) int { return strings.Compare(a.ID, b.ID) })
	for _, was := range before.Terms.Revoked {
		if !slices.ContainsFunc(r.Terms.Revoked, func(is schemas.RevokedRelease) bool { return is.Number == was.Number }) {
			r.Terms.Revoked = append(r.Terms.Revoked, was)
		}
	}
	return r
}

// Root is the key that a person names: the public key itself, or the SHA-256 of the
// one that a release claims, in hex.
func Root(named, claimed string) (note.Verifier, error) {
	text := strings.TrimSpace(named)
	if sum := strings.TrimPrefix(strings.ToLower(text), "sha256:"); len(sum) == 64 {
		if digest.Hex(claimed) != sum {
			return nil, fmt.Errorf("%w: its key is %s, whose SHA-256 is %s", ErrSignature, claimed, digest.Hex(claimed))
		}
		text = claimed
	}
	key, err := note.NewVerifier(text)
	if err != nil {
		return nil, fmt.Errorf("%.120q is no public key, NAME+HASH+BASE64, and no SHA-256 of one", text)
	}
	return key, nil
}
