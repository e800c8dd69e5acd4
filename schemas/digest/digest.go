// Package digest writes the SHA-256 of contents as text, the way events, file
// names and settings carry it. The forms are persisted; never change.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
)

// Hex is the digest of a content, 64 hexadecimal digits.
func Hex[T ~string | ~[]byte](content T) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// Name is half of the digest, 32 hexadecimal digits, for the name of a file.
func Name[T ~string | ~[]byte](content T) string { return Hex(content)[:32] }
