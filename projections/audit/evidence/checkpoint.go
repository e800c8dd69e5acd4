package evidence

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/schemas"
)

var (
	// ErrCheckpoint is returned for a text that is no checkpoint of a stream.
	ErrCheckpoint = errors.New("evidence: not a checkpoint")
	// ErrSignature is returned for a checkpoint that the key did not sign.
	ErrSignature = errors.New("evidence: the signature is not of this key")
	// ErrKey is returned for a text that is no key.
	ErrKey = errors.New("evidence: not a key")
)

// Checkpoint is what is signed of a stream: so many records, with this root.
// Its text is that of a checkpoint of transparency logs (C2SP tlog-checkpoint):
// origin, size and root, one line each, then lines of Writ's own.
type Checkpoint struct {
	Log    string         // name of the log, as in the key: "writ-" and 16 hexadecimal digits
	Stream schemas.Stream // one of the log's
	Size   int64          // records in the tree
	Root   Hash           // over them
	First  uint64         // sequence of the first of them; 1 but for a log that was begun elsewhere
	Time   time.Time      // of signing, UTC, whole seconds, by the signer's clock
}

// Last is the sequence of the last record in the tree.
func (c Checkpoint) Last() uint64 { return c.First + uint64(c.Size) - 1 }

// Text is what is signed.
func (c Checkpoint) Text() string {
	return fmt.Sprintf("%s/%s\n%d\n%s\nfirst %d\ntime %s\n", c.Log, c.Stream, c.Size,
		base64.StdEncoding.EncodeToString(c.Root[:]), c.First, c.Time.UTC().Format(time.RFC3339))
}

// ParseCheckpoint reads the text of a checkpoint. It takes exactly what Text
// gives, and returns ErrCheckpoint for anything else.
func ParseCheckpoint(text string) (c Checkpoint, err error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 6 || lines[5] != "" {
		return c, fmt.Errorf("%w: it has %d lines", ErrCheckpoint, len(lines)-1)
	}
	log, stream, found := strings.Cut(lines[0], "/")
	if !found || log == "" || !slices.Contains(schemas.Streams(), schemas.Stream(stream)) {
		return c, fmt.Errorf("%w: it names no stream of Writ: %.80q", ErrCheckpoint, lines[0])
	}
	c.Log, c.Stream = log, schemas.Stream(stream)
	if c.Size, err = strconv.ParseInt(lines[1], 10, 64); err != nil || c.Size < 0 {
		return c, fmt.Errorf("%w: size %.40q", ErrCheckpoint, lines[1])
	}
	if c.Root, err = parseHash(lines[2]); err != nil {
		return c, err
	}
	if c.First, err = strconv.ParseUint(strings.TrimPrefix(lines[3], "first "), 10, 64); err != nil || c.First == 0 {
		return c, fmt.Errorf("%w: first record %.40q", ErrCheckpoint, lines[3])
	}
	if c.Time, err = time.Parse(time.RFC3339, strings.TrimPrefix(lines[4], "time ")); err != nil {
		return c, fmt.Errorf("%w: time %.40q", ErrCheckpoint, lines[4])
	}
	c.Time = c.Time.UTC()
	if c.Text() != text {
		return c, fmt.Errorf("%w: not in the form in which it is signed", ErrCheckpoint)
	}
	return c, nil
}

func parseHash(text string) (h Hash, err error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != len(h) {
		return h, fmt.Errorf("%w: hash %.60q", ErrCheckpoint, text)
	}
	return Hash(raw), nil
}

// Sign returns the checkpoint with a signature (C2SP signed-note).
func Sign(c Checkpoint, key note.Signer) ([]byte, error) {
	signed, err := note.Sign(&note.Note{Text: c.Text()}, key)
	if err != nil {
		return nil, fmt.Errorf("evidence: sign %s/%d: %w", c.Stream, c.Size, err)
	}
	return signed, nil
}

// Open reads a signed checkpoint. It returns ErrSignature, or ErrCheckpoint.
func Open(signed []byte, key note.Verifier) (Checkpoint, error) {
	n, err := note.Open(signed, note.VerifierList(key))
	var unverified *note.UnverifiedNoteError
	var wrong *note.InvalidSignatureError
	switch {
	case errors.As(err, &unverified), errors.As(err, &wrong):
		return Checkpoint{}, fmt.Errorf("%w %s: %w", ErrSignature, key.Name(), err)
	case err != nil:
		return Checkpoint{}, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	for _, s := range n.Sigs {
		if _, err := base64.StdEncoding.Strict().DecodeString(s.Base64); err != nil {
			return Checkpoint{}, fmt.Errorf("%w %s: it is not as it was written", ErrSignature, key.Name())
		}
	}
	c, err := ParseCheckpoint(n.Text)
	if err == nil && c.Log != key.Name() {
		err = fmt.Errorf("%w: it is of %s, and the key of %s", ErrSignature, c.Log, key.Name())
	}
	return c, err
}

// ParseKey reads a public key as `writ audit key` prints it. It returns ErrKey.
func ParseKey(text string) (note.Verifier, error) {
	key, err := note.NewVerifier(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return key, nil
}
