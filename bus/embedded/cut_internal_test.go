package embedded

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

// TestCutFileIsPutBack: what the server says before it ends a file at a damaged
// record has the file copied, and no append is taken until it is whole again.
func TestCutFileIsPutBack(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "jetstream", "$G", "streams", "WRIT_RULES", "msgs", "1.blk")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Dir(file), 0o700))
	was := bytes.Repeat([]byte("record"), 100)
	must(os.WriteFile(file, was, 0o600))
	s := &Server{options: Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}, log: newLogger(slog.New(slog.DiscardHandler)), ended: map[string]string{}}
	s.log.beforeCut = s.beforeCut
	s.log.Warnf("Filestore [$G > WRIT_RULES] indexCacheBuf corrupt record state in %s: dlen %d slen %d index %d rl %d lbuf %d", file, 1, 2, 3, 4, 5)
	if s.Health() == nil {
		t.Error("an append would be taken")
	}
	must(os.Truncate(file, 200))
	must(s.uncut())
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, was) {
		t.Errorf("%d of %d bytes are there, %v", len(now), len(was), err)
	}

	s.beforeCut(file)
	must(os.WriteFile(file, []byte("recordrecordanother"), 0o600))
	must(s.uncut())
	if now, err := os.ReadFile(file); err != nil || string(now) != "recordrecordanother" {
		t.Errorf("what was appended since is gone: %q, %v", now, err)
	}
}
