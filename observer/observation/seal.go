package observation

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/writbus/writ/schemas"
)

const (
	// KeyBytes is the size of an observation's key, of AES-256.
	KeyBytes = 32
	// NonceBytes is the size of a nonce of GCM (NIST SP 800-38D).
	NonceBytes = 12
)

// ErrSealed is returned for a sealed observation that a key does not open.
var ErrSealed = errors.New("observation: the sealed observation cannot be opened")

// content is what is sealed of an observation. Persisted; only ever add.
type content struct {
	Original []byte `json:"original"`
	Text     string `json:"text,omitempty"`
	Same     bool   `json:"same,omitempty"` // the text is the original
	Category string `json:"category,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// Seal encrypts what an observation says under a key of its own, so that
// erasing the key erases it from every copy of the log. The nonce is used once
// per key. Verdict, confidence and the reason of a fallback stay readable:
// they are counted. The key and nonce have KeyBytes and NonceBytes.
func Seal(r schemas.ObservationRecorded, scope string, key, nonce []byte) (schemas.ObservationRecorded, error) {
	c := content{Original: r.Original, Text: r.Text, Category: r.Category}
	if r.Text == string(r.Original) {
		c.Text, c.Same = "", true
	}
	if !r.Fallback {
		c.Reason, r.Reason = r.Reason, ""
	}
	plain, err := json.Marshal(c)
	if err != nil {
		return r, fmt.Errorf("observation: seal %s: %w", r.ObservationID, err)
	}
	aead, err := newAEAD(key)
	if err != nil || len(nonce) != NonceBytes {
		return r, fmt.Errorf("observation: seal %s: key of %d bytes, nonce of %d", r.ObservationID, len(key), len(nonce))
	}
	r.Sealed = aead.Seal(append([]byte{}, nonce...), nonce, plain, bound(scope, r.ObservationID))
	r.Original, r.Text, r.Category = []byte{}, "", ""
	return r, nil
}

// Open undoes Seal. One that is not sealed is returned as it is. It returns
// ErrSealed for the key of another observation, or none.
func Open(r schemas.ObservationRecorded, scope string, key []byte) (schemas.ObservationRecorded, error) {
	if len(r.Sealed) == 0 {
		return r, nil
	}
	aead, err := newAEAD(key)
	if err != nil || len(r.Sealed) < NonceBytes {
		return r, ErrSealed
	}
	plain, err := aead.Open(nil, r.Sealed[:NonceBytes], r.Sealed[NonceBytes:], bound(scope, r.ObservationID))
	if err != nil {
		return r, ErrSealed
	}
	var c content
	if err := json.Unmarshal(plain, &c); err != nil {
		return r, fmt.Errorf("%w: %w", ErrSealed, err)
	}
	r.Original, r.Text, r.Category, r.Sealed = append([]byte{}, c.Original...), c.Text, c.Category, nil
	if c.Same {
		r.Text = string(c.Original)
	}
	if !r.Fallback {
		r.Reason = c.Reason
	}
	return r, nil
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	if len(key) != KeyBytes {
		return nil, ErrSealed
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// bound ties a sealed text to its observation: it opens nowhere else.
func bound(scope, id string) []byte {
	return []byte(schemas.EncodeToken(scope) + "/" + schemas.EncodeToken(id))
}
