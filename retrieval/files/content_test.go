package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/schemas/digest"
)

// readerOf makes a folder with one file, its path and its reader at a moment.
func readerOf(t *testing.T, text string, later time.Duration) (c *Contents, root *os.Root, file string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "a.md")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	now := info.ModTime().Add(later) // however long this takes
	return NewContents(func() time.Time { return now }), root, file
}

func TestAWriteIsSeenWhateverItsTime(t *testing.T) {
	c, root, file := readerOf(t, "one", time.Hour)
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	var buffer []byte
	for range 2 {
		if raw, same, err := c.Read(root, "a.md", digest.Hex([]byte("one")), &buffer); string(raw) != "one" || !same || err != nil {
			t.Fatalf("%q, %v, %v", raw, same, err)
		}
	}
	if _, same, err := c.Read(root, "a.md", digest.Hex([]byte("two")), &buffer); same || err != nil {
		t.Errorf("another content is taken for it: %v", err)
	}
	// The system's clock may tick some milliseconds apart.
	for changed := false; !changed; {
		if err := errors.Join(os.WriteFile(file, []byte("two"), 0o644), os.Chtimes(file, before.ModTime(), before.ModTime())); err != nil {
			t.Fatal(err)
		}
		after, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		was, ok := stampOf(before)
		is, _ := stampOf(after)
		changed = !ok || was != is
	}
	if raw, same, err := c.Read(root, "a.md", digest.Hex([]byte("one")), &buffer); string(raw) != "two" || same || err != nil {
		t.Errorf("%q, %v, %v: written with the time of before", raw, same, err)
	}
}

func TestOnlyAFileLeftAloneIsRemembered(t *testing.T) {
	for later, want := range map[time.Duration]int{0: 0, time.Hour: 1, -time.Hour: 0} {
		c, root, file := readerOf(t, "one", later)
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := stampOf(info); !ok {
			t.Skip("files have no stamps on this system: their content is looked at whenever they are read")
		}
		if _, same, err := c.Read(root, "a.md", digest.Hex([]byte("one")), new([]byte)); !same || err != nil || len(c.seen) != want {
			t.Errorf("%v after it was written: %v, %v, %d remembered, want %d", later, same, err, len(c.seen), want)
		}
		for path, known := range c.seen { // only what was remembered says it
			c.seen[path] = seen{known.stamp, "no hash"}
			if _, same, err := c.Read(root, "a.md", "no hash", new([]byte)); !same || err != nil {
				t.Errorf("%v, %v: the file was hashed again", same, err)
			}
		}
	}
}

func TestContentsAreBounded(t *testing.T) {
	c, root, _ := readerOf(t, "one", time.Hour)
	for i := range mostSeen + 5 {
		c.remember(fmt.Sprint(i), seen{})
	}
	if len(c.seen) != 5 {
		t.Errorf("%d files are remembered", len(c.seen))
	}
	if _, _, err := c.Read(root, "gone.md", "", new([]byte)); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "gone.md") {
		t.Error("a file that is not there:", err)
	}
	if err := root.Mkdir("folder", 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Read(root, "folder", "", new([]byte)); !errors.Is(err, ErrLeftOut) {
		t.Error("a folder:", err)
	}
}
