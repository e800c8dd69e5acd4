package embedded

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
)

// TestAnIdentityIsWhole: it is the same at each start, and one that was damaged
// anywhere is made anew, such that clients believe it.
func TestAnIdentityIsWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "identity.pem")
	believed := func() string {
		t.Helper()
		own, trusted, err := Identity(dir)
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM([]byte(trusted))
		if _, err := leafOf(own).Verify(x509.VerifyOptions{Roots: pool, DNSName: "127.0.0.1"}); err != nil {
			t.Error(err)
		}
		return trusted
	}
	first := believed()
	if again := believed(); again != first {
		t.Error("another one at the second start")
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := [][]byte{nil, []byte("garbage"), whole[:len(whole)/2]}
	for at := 0; at < len(whole); at += 7 {
		flipped := append([]byte(nil), whole...)
		flipped[at] ^= 4
		damaged = append(damaged, flipped)
	}
	for _, body := range damaged {
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
		believed()
	}
}

func leafOf(c *tls.Config) *x509.Certificate { return c.Certificates[0].Leaf }
