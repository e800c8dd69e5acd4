package attest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// PayloadType is what an envelope says that it holds (persisted; never change).
const PayloadType = "application/vnd.in-toto+json"

var (
	// ErrEnvelope is returned for bytes that are no envelope of a statement of
	// Writ's.
	ErrEnvelope = errors.New("attest: not a statement of Writ in an envelope")
	// ErrSignature is returned for an envelope that no given key signed.
	ErrSignature = errors.New("attest: no signature of a given key")
)

// envelope is a DSSE envelope (secure-systems-lab/dsse, protocol 1.0).
type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"` // base64
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"` // base64
}

// preAuthentication is what is signed: DSSE's PAE.
func preAuthentication(payloadType string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// KeyID names a key in an envelope: its name and hash, as its public text begins.
func KeyID(key interface {
	Name() string
	KeyHash() uint32
},
) string {
	return fmt.Sprintf("%s+%08x", key.Name(), key.KeyHash())
}

// Seal puts a payload into an envelope under a key, whose signatures are Ed25519.
func Seal(payloadType string, payload []byte, key note.Signer) (json.RawMessage, error) {
	sig, err := key.Sign(preAuthentication(payloadType, payload))
	if err != nil {
		return nil, fmt.Errorf("attest: sign: %w", err)
	}
	return json.Marshal(envelope{
		PayloadType: payloadType, Payload: base64.StdEncoding.EncodeToString(payload),
		Signatures: []signature{{KeyID: KeyID(key), Sig: base64.StdEncoding.EncodeToString(sig)}},
	})
}

// Unseal checks an envelope of a type of payload against the keys that are trusted,
// and returns the payload with the key that signed it. It returns ErrEnvelope, or
// with the payload ErrSignature.
func Unseal(payloadType string, raw []byte, keys []note.Verifier) (payload []byte, by note.Verifier, err error) {
	var e envelope
	if err := json.Unmarshal(raw, &e); err != nil || e.PayloadType != payloadType {
		return nil, nil, fmt.Errorf("%w: payload type %q", ErrEnvelope, e.PayloadType)
	}
	if payload, err = base64.StdEncoding.DecodeString(e.Payload); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrEnvelope, err)
	}
	if by = signer(e, payload, keys); by == nil {
		return payload, nil, ErrSignature
	}
	return payload, by, nil
}

// Sign puts a statement into an envelope.
func Sign(s Statement, key note.Signer) (json.RawMessage, error) {
	payload, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return Seal(PayloadType, payload, key)
}

// Open checks an envelope against the keys that are trusted and returns its
// statement with the key that signed it. It returns ErrEnvelope or ErrSignature.
func Open(raw []byte, keys []note.Verifier) (s Statement, by note.Verifier, err error) {
	payload, by, err := Unseal(PayloadType, raw, keys)
	if err != nil {
		return s, nil, err
	}
	if err := json.Unmarshal(payload, &s); err != nil {
		return s, nil, fmt.Errorf("%w: %w", ErrEnvelope, err)
	}
	if s.Type != StatementType || s.PredicateType != PredicateType {
		return s, nil, fmt.Errorf("%w: it is %.80q about %.80q", ErrEnvelope, s.Type, s.PredicateType)
	}
	if s.Predicate.Log != by.Name() {
		return s, nil, fmt.Errorf("%w: it speaks for the log %.80q, and %s signed it", ErrSignature, s.Predicate.Log, by.Name())
	}
	return s, by, nil
}

func signer(e envelope, payload []byte, keys []note.Verifier) note.Verifier {
	signed := preAuthentication(e.PayloadType, payload)
	for _, one := range e.Signatures {
		sig, err := base64.StdEncoding.DecodeString(one.Sig)
		if err != nil {
			continue
		}
		for _, key := range keys {
			if key.Verify(signed, sig) {
				return key
			}
		}
	}
	return nil
}

// OpenAll opens the envelopes of some texts, one a line. What a given key did not
// sign, and what is no envelope, is counted.
func OpenAll(texts []string, keys []note.Verifier) (all []Statement, foreign int) {
	for _, text := range texts {
		decoder := json.NewDecoder(strings.NewReader(text))
		for decoder.More() {
			var raw json.RawMessage
			if err := decoder.Decode(&raw); err != nil {
				foreign++
				break
			}
			if s, _, err := Open(raw, keys); err != nil {
				foreign++
			} else {
				all = append(all, s)
			}
		}
	}
	return all, foreign
}
