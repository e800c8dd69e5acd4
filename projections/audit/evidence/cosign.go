package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// algCosignature is the type of a cosigning key (C2SP tlog-cosignature, v1).
const algCosignature = 0x04

// Cosign adds to a signed checkpoint that a witness found it to extend those that it
// saw before, at a time by its own clock (C2SP tlog-cosignature, v1).
func Cosign(signed []byte, key note.Signer, public string, at time.Time) ([]byte, error) {
	text, _, found := bytes.Cut(signed, []byte("\n\n"))
	id, err := cosigner(public)
	if !found || err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	sig, err := key.Sign(cosigned(append(bytes.Clone(text), '\n'), at.Unix()))
	if err != nil {
		return nil, fmt.Errorf("evidence: cosign: %w", err)
	}
	id = binary.BigEndian.AppendUint64(id, uint64(at.Unix())) //nolint:gosec // of this era
	return fmt.Appendf(bytes.Clone(signed), "— %s %s\n", key.Name(), base64.StdEncoding.EncodeToString(append(id, sig...))), nil
}

// Cosigned says when a witness found a checkpoint to extend what it saw before. It
// returns ErrSignature where it did not, or was another.
func Cosigned(signed []byte, witness note.Verifier, public string) (time.Time, error) {
	text, sigs, _ := bytes.Cut(signed, []byte("\n\n"))
	id, err := cosigner(public)
	if err != nil {
		return time.Time{}, err
	}
	for line := range strings.SplitSeq(string(sigs), "\n") {
		name, encoded, _ := strings.Cut(strings.TrimPrefix(line, signatureLine), " ")
		raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if name != witness.Name() || err != nil || len(raw) < 12 || !bytes.Equal(raw[:4], id) {
			continue
		}
		at := int64(binary.BigEndian.Uint64(raw[4:12])) //nolint:gosec // a wrong one does not verify
		if witness.Verify(cosigned(append(bytes.Clone(text), '\n'), at), raw[12:]) {
			return time.Unix(at, 0).UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%w: %s did not cosign it", ErrSignature, witness.Name())
}

func cosigned(text []byte, at int64) []byte {
	return fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", at, text)
}

// cosigner is the id of a witness's key: as that of a signing key, of another type.
func cosigner(public string) ([]byte, error) {
	parts := strings.SplitN(strings.TrimSpace(public), "+", 3)
	if len(parts) != 3 {
		return nil, fmt.Errorf("%w: %.40q", ErrKey, public)
	}
	key, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(key) < 2 {
		return nil, fmt.Errorf("%w: %.40q", ErrKey, public)
	}
	key[0] = algCosignature
	sum := sha256.Sum256(append([]byte(parts[0]+"\n"), key...))
	return sum[:4], nil
}
