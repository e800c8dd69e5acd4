package ledger

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

func newKey(t *testing.T) signingKey {
	t.Helper()
	key, err := loadOrCreateKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestADamagedPublicKeyIsWrittenAnew(t *testing.T) {
	dir, key := t.TempDir(), newKey(t)
	path := filepath.Join(dir, evidence.KeyFile)
	warned := 0
	open := func() error {
		_, err := openFolder(dir, key, 0o700, func(string) { warned++ })
		return err
	}
	if err := open(); err != nil || warned != 0 {
		t.Fatalf("a folder that is made: %v, %d warnings", err, warned)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole)-1; at += 7 { // its last byte ends the line
		warned = 0
		content := bytes.Clone(whole)
		content[at] ^= 1 << (at % 8)
		write(t, path, content)
		if err := open(); err != nil || warned != 1 {
			t.Fatalf("byte %d: %v, %d warnings", at, err, warned)
		}
		if after, err := os.ReadFile(path); !bytes.Equal(after, whole) {
			t.Fatalf("byte %d: the file holds %q: %v", at, after, err)
		}
	}
	other := newKey(t)
	signed, err := evidence.Sign(evidence.Checkpoint{Stream: schemas.StreamSessions, Root: evidence.EmptyRoot}, other.signer)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"another key": []byte(other.public + "\n"), "a damaged one of another's": []byte("x" + other.public)} {
		write(t, path, content)
		write(t, filepath.Join(dir, string(schemas.StreamSessions)+evidence.CheckpointsFile), append(signed, '\n'))
		if err := open(); err == nil {
			t.Errorf("%s is taken for damage", name)
		}
		if after, err := os.ReadFile(path); !bytes.Equal(after, content) {
			t.Errorf("%s is overwritten: %v", name, err)
		}
	}
}

func TestAFullDiskLeavesTheEvidenceWhole(t *testing.T) {
	dir, key := t.TempDir(), newKey(t)
	l, err := openFolder(dir, key, 0o700, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	c := evidence.Checkpoint{Log: key.verifier.Name(), Stream: schemas.StreamSessions, Root: evidence.EmptyRoot, First: 1}
	signed, err := evidence.Sign(c, key.signer)
	if err != nil {
		t.Fatal(err)
	}
	keep := func() error { return l.keep(nil, c, signed) }
	if err := keep(); err != nil {
		t.Fatal(err)
	}
	path := l.checkpoints(c.Stream)
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for part := range len(signed) + 1 {
		// The next one cannot be written, and a part of it stays.
		if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
			t.Fatal(err)
		}
		if err := keep(); err == nil {
			t.Fatal("a checkpoint is kept that could not be written")
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		write(t, path, append(bytes.Clone(kept), signed[:part]...))
		if err := keep(); err != nil {
			t.Fatalf("%d bytes of it: %v", part, err)
		}
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if all, rest := evidence.SplitCheckpoints(after); len(all) != 2 || rest != "" {
			t.Errorf("%d bytes of it: the file holds %d checkpoints and %q", part, len(all), rest)
		}
	}
}
