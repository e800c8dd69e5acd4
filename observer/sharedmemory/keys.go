package sharedmemory

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"

	// Sends keys to several receivers in a format that others read and review; own code
	// over X25519 would be the alternative.
	"filippo.io/age"

	"github.com/writbus/writ/observer/observation/scope"
)

// maxOpened bounds what an age file holds, in bytes.
const maxOpened = 1 << 20

func draw(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// sendTo encrypts to the recipients of cards.
func sendTo(plain []byte, cards []scope.Card) ([]byte, error) {
	var to []age.Recipient
	for _, c := range cards {
		r, err := age.ParseX25519Recipient(c.Recipient)
		if err != nil {
			return nil, fmt.Errorf("the card of %s: %w", c.Name(), err)
		}
		to = append(to, r)
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to...)
	if err == nil {
		_, err = w.Write(plain)
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

func openAge(file []byte, identity string) ([]byte, error) {
	id, err := age.ParseX25519Identity(identity)
	if err != nil {
		return nil, err
	}
	r, err := age.Decrypt(bytes.NewReader(file), id)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, maxOpened))
}

// sealRoster draws the key of a roster's epoch, and sends it to its members; the keys of
// the epochs before go to those who are fresh.
func sealRoster(r scope.Roster, fresh []scope.Card, earlier map[int][]byte) (scope.Roster, error) {
	key := draw(scope.KeyBytes)
	r.Check = scope.KeyCheck(r.Scope, r.Epoch, key)
	var err error
	if r.Key, err = sendTo(key, r.Cards); err != nil || len(earlier) == 0 || len(fresh) == 0 {
		return r, err
	}
	plain, err := json.Marshal(earlier)
	if err == nil {
		r.Earlier, err = sendTo(plain, fresh)
	}
	return r, err
}

// openRoster adds what a roster's age files hold for an identity to the keys of a scope.
// A key that is not the one of its roster is an error.
func openRoster(s scope.Scope, r scope.Roster, identity string, keys map[int][]byte) error {
	key, err := openAge(r.Key, identity)
	if err == nil && scope.KeyCheck(r.Scope, r.Epoch, key) != r.Check {
		err = scope.ErrRefused
	}
	if err != nil {
		return fmt.Errorf("the key of epoch %d cannot be opened: %w", r.Epoch, err)
	}
	keys[r.Epoch] = key
	plain, err := openAge(r.Earlier, identity)
	var earlier map[int][]byte
	if err != nil || json.Unmarshal(plain, &earlier) != nil {
		return nil //nolint:nilerr // not for this one
	}
	for epoch, key := range earlier {
		if epoch >= 1 && epoch < r.Epoch && scope.KeyCheck(s.Name, epoch, key) == s.Rosters[epoch-1].Check {
			keys[epoch] = key
		}
	}
	return nil
}
