package httphook

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/writbus/writ/schemas/atomicfile"
)

// ErrToken is returned for a token file that cannot be used.
var ErrToken = errors.New("httphook: the token cannot be used")

// tokenBytes is the randomness of a token.
const tokenBytes = 32

// tokenFile is the token's name among the credentials.
const tokenFile = "http-hook.token"

// Token reads the token in a folder of credentials. It returns fs.ErrNotExist
// before http hooks were first served, or ErrToken.
func Token(credentials string) (string, error) {
	path := filepath.Join(credentials, tokenFile)
	info, err := os.Lstat(path)
	if err != nil {
		return "", fmt.Errorf("httphook: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%w: %s is not a file", ErrToken, path)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%w: others may read %s (mode %#o). Remove it and restart the daemon; then give the hosts the new one", ErrToken, path, info.Mode().Perm())
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("httphook: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	if decoded, err := base64.RawURLEncoding.DecodeString(token); err != nil || len(decoded) < tokenBytes {
		return "", fmt.Errorf("%w: %s is damaged. Remove it and restart the daemon; then give the hosts the new one", ErrToken, path)
	}
	return token, nil
}

// loadOrCreateToken makes a token where there is none, readable by its owner
// alone.
func loadOrCreateToken(credentials string) (string, error) {
	token, err := Token(credentials)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw) // never fails: the program ends where there is no randomness
	token = base64.RawURLEncoding.EncodeToString(raw)
	path := filepath.Join(credentials, tokenFile)
	if err := os.MkdirAll(credentials, 0o700); err != nil {
		return "", fmt.Errorf("httphook: %w", err)
	}
	if err := atomicfile.Write(path, []byte(token+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("httphook: %w", err)
	}
	return token, nil
}

// opens says whether an Authorization header carries the token. How long it
// takes tells nothing about the token.
func (s *Server) opens(header string) bool {
	scheme, given, found := strings.Cut(header, " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	have, want := sha256.Sum256([]byte(strings.TrimSpace(given))), sha256.Sum256([]byte(s.token))
	return subtle.ConstantTimeCompare(have[:], want[:]) == 1
}
