package attest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

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

// Sign puts a statement into an envelope under a key, whose signatures are Ed25519.
func Sign(s Statement, key note.Signer) (json.RawMessage, error) {
	payload, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	sig, err := key.Sign(preAuthentication(PayloadType, payload))
	if err != nil {
		return nil, fmt.Errorf("attest: sign: %w", err)
	}
	return json.Marshal(envelope{
		PayloadType: PayloadType, Payload: base64.StdEncoding.EncodeToString(payload),
		Signatures: []signature{{KeyID: KeyID(key), Sig: base64.StdEncoding.EncodeToString(sig)}},
	})
}

// Open checks an envelope against the keys that are trusted and returns its
// statement with the key that signed it. It returns ErrEnvelope or ErrSignature.
func Open(raw []byte, keys []note.Verifier) (s Statement, by note.Verifier, err error) {
	var e envelope
	if err := json.Unmarshal(raw, &e); err != nil || e.PayloadType != PayloadType {
		return s, nil, fmt.Errorf("%w: payload type %q", ErrEnvelope, e.PayloadType)
	}
	payload, err := base64.StdEncoding.DecodeString(e.Payload)
	if err != nil {
		return s, nil, fmt.Errorf("%w: %w", ErrEnvelope, err)
	}
	if by = signer(e, payload, keys); by == nil {
		return s, nil, ErrSignature
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

// OpenAll opens the envelopes of some texts, one a line. What a given key did
// not sign is counted.
func OpenAll(texts []string, keys []note.Verifier) (all []Statement, foreign int, err error) {
	for _, text := range texts {
		decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
		for decoder.More() {
			var raw json.RawMessage
			if err := decoder.Decode(&raw); err != nil {
				return nil, 0, err
			}
			s, _, err := Open(raw, keys)
			switch {
			case errors.Is(err, ErrSignature):
				foreign++
			case err != nil:
				return nil, 0, err
			default:
				all = append(all, s)
			}
		}
	}
	return all, foreign, nil
}
