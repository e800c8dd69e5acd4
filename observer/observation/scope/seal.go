package scope

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/json"
	"fmt"
	"time"

	"github.com/writbus/writ/schemas/digest"
)

// Sizes, in bytes: of a key of AES-256, and of a nonce of GCM (NIST SP 800-38D).
const (
	KeyBytes   = 32
	NonceBytes = 12
)

// Content is what a shared observation says.
type Content struct {
	Text     string    `json:"text"`
	Category string    `json:"category,omitempty"`
	Time     time.Time `json:"time"` // it was observed
}

// KeyCheck commits a roster to its epoch's key, so that all members have the same.
func KeyCheck(scope string, epoch int, key []byte) string {
	return digest.Hex(fmt.Sprintf("writ memory %q %d %x", scope, epoch, key))
}

// Seal seals what an observation says under a key of its own, and that under the
// epoch's. The nonces are used once.
func Seal(r Record, c Content, epochKey, key []byte, nonces [2][]byte) (Record, error) {
	plain, err := json.Marshal(c)
	if err == nil {
		r.Sealed, err = sealed(key, nonces[0], plain, r.bound("text"))
	}
	if err == nil {
		r.Key, err = sealed(epochKey, nonces[1], key, r.bound("key"))
	}
	return r, err
}

// Open undoes Seal. It returns ErrRefused for another epoch's key, and for a record whose
// parts are not of one another.
func (r Record) Open(epochKey []byte) (c Content, err error) {
	key, err := opened(epochKey, r.Key, r.bound("key"))
	if err != nil {
		return c, err
	}
	plain, err := opened(key, r.Sealed, r.bound("text"))
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(plain, &c); err != nil || c.Text == "" || len(c.Text) > MaxText {
		return c, refused("it says nothing, or too much")
	}
	return c, nil
}

// bound ties what is sealed to its place.
func (r Record) bound(part string) []byte {
	return fmt.Appendf(nil, "writ memory %s %q %d %q %d", part, r.Scope, r.Epoch, r.Author, r.Number)
}

func gcm(key []byte) (cipher.AEAD, error) {
	if len(key) != KeyBytes {
		return nil, refused("a key has %d bytes", KeyBytes)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func sealed(key, nonce, plain, bound []byte) ([]byte, error) {
	aead, err := gcm(key)
	if err != nil || len(nonce) != NonceBytes {
		return nil, refused("a nonce has %d bytes, and a key %d", NonceBytes, KeyBytes)
	}
	return aead.Seal(append([]byte{}, nonce...), nonce, plain, bound), nil
}

func opened(key, text, bound []byte) ([]byte, error) {
	aead, err := gcm(key)
	if err != nil || len(text) < NonceBytes {
		return nil, refused("it cannot be opened")
	}
	plain, err := aead.Open(nil, text[:NonceBytes], text[NonceBytes:], bound)
	if err != nil {
		return nil, refused("it cannot be opened with the epoch's key")
	}
	return plain, nil
}
