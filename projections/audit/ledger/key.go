package ledger

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas/atomicfile"
)

// keyFile holds the key that signs checkpoints, beside the credentials.
const keyFile = "audit.key"

// signingKey signs, and says who signed.
type signingKey struct {
	signer   note.Signer
	verifier note.Verifier
	public   string // as it is given away
}

// loadOrCreateKey reads the key in a folder or makes it at the first
// start: two lines, secret and public, in a file of mode 0600. One that cannot
// be used is an error, not replaced: with another key nothing that was signed
// before would hold.
func loadOrCreateKey(dir string) (signingKey, error) {
	path := filepath.Join(dir, keyFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		raw, err = createKey(path)
	}
	if err != nil {
		return signingKey{}, fmt.Errorf("the key of the audit: %w", err)
	}
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return signingKey{}, fmt.Errorf("the key of the audit, %s, can be read by others. Make it yours alone: chmod 600 %s", path, path)
	}
	var k signingKey
	if k.signer, k.public, err = evidence.ReadKey(string(raw)); err == nil {
		k.verifier, err = evidence.ParseKey(k.public)
	}
	if err != nil {
		return signingKey{}, fmt.Errorf("%s: %w. Restore it from a backup; or move it and the folder audit away to begin anew", path, err)
	}
	return k, nil
}

func createKey(path string) ([]byte, error) {
	name := make([]byte, 8)
	if _, err := rand.Read(name); err != nil {
		return nil, err
	}
	text, err := evidence.NewKey("writ-" + hex.EncodeToString(name))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return []byte(text), atomicfile.Write(path, []byte(text), 0o600)
}
