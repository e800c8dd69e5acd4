package atomicfile

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var steps = []string{"create", "chmod", "sync", "close", "rename", "sync folder"}

// version is content that tells whether it is whole: one byte, many times over.
func version(n int) []byte { return bytes.Repeat([]byte{byte('a' + n%26)}, 1<<16) }

func whole(content []byte) bool {
	return len(content) == 1<<16 && bytes.Count(content, content[:1]) == len(content)
}

// names lists a folder without the file itself.
func names(t *testing.T, dir string) (temporary, others []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		switch {
		case Temporary(e.Name()):
			temporary = append(temporary, e.Name())
		case e.Name() != "file":
			others = append(others, e.Name())
		}
	}
	return temporary, others
}

func withFault(t *testing.T, f func(step string) error) {
	was := fault
	fault = f
	t.Cleanup(func() { fault = was })
}

func TestWriteKeepsTheOldContentWhereAStepFails(t *testing.T) {
	broken := errors.New("broken")
	for _, step := range steps {
		t.Run(step, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			if err := Write(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			withFault(t, func(at string) error {
				if at == step {
					return broken
				}
				return nil
			})
			err := WriteWith(path, []byte("new"), Options{Mode: 0o600, Keep: true})
			if !errors.Is(err, broken) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want the failure and the file", err)
			}
			want := "old"
			if step == "sync folder" {
				want = "new"
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != want {
				t.Errorf("the file holds %q, %v; want %q", got, err, want)
			}
			if temporary, others := names(t, dir); len(temporary)+len(others) > 0 {
				t.Errorf("left behind: %v %v", temporary, others)
			}
		})
	}
}

func TestCommitSyncsTheFileBeforeItIsNamedAndTheFolderAfter(t *testing.T) {
	for _, test := range []struct {
		options Options
		want    []string
	}{
		{Options{Mode: 0o600}, []string{"create", "sync", "close", "rename", "sync folder"}},
		{Options{Mode: 0o600, Keep: true}, steps},
		{Options{Mode: 0o600, Volatile: true}, []string{"create", "close", "rename"}},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var got []string
		withFault(t, func(step string) error { got = append(got, step); return nil })
		if err := WriteWith(path, []byte("new"), test.options); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%+v: %v, want %v", test.options, got, test.want)
		}
	}
}

func TestModeIsGivenOrKept(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	dir := t.TempDir()
	for name, test := range map[string]struct {
		has, given, want fs.FileMode
		keep             bool
	}{
		"new":                    {0, 0o600, 0o600, false},
		"new, kept":              {0, 0o600, 0o600, true},
		"replaced":               {0o644, 0o600, 0o600, false},
		"replaced, kept":         {0o400, 0o600, 0o400, true},
		"kept against the umask": {0o666, 0o600, 0o666, true},
	} {
		path := filepath.Join(dir, name)
		if test.has != 0 {
			if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, test.has)); err != nil {
				t.Fatal(err)
			}
		}
		if err := WriteWith(path, []byte("new"), Options{Mode: test.given, Keep: test.keep}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != test.want {
			t.Errorf("%s: mode %v, %v; want %v", name, info.Mode(), err, test.want)
		}
	}
}

func TestCreateLeavesNothingWhereItIsDiscarded(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "file"), Options{Mode: 0o600})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	if temporary, _ := names(t, dir); len(temporary) != 1 {
		t.Errorf("while it is written: %v", temporary)
	}
	if err := f.Finish(); err != nil {
		t.Fatal(err)
	}
	f.Discard()
	f.Discard()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if err := f.Commit(); err == nil {
		t.Error("a discarded file was put in place")
	}
}

func TestWriteInStaysBelowItsRoot(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "root", "sub"), 0o700), os.Symlink("..", filepath.Join(dir, "root", "up"))); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(dir, "root"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := WriteIn(root, filepath.Join("sub", "file"), []byte("new"), Options{Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "root", "sub", "file")); err != nil || string(got) != "new" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := WriteIn(root, filepath.Join("up", "file"), []byte("new"), Options{Mode: 0o600}); err == nil {
		t.Error("a link led out of the root")
	}
}

func TestWriteReplacesALinkAndNotWhatItLeadsTo(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "file")
	if err := errors.Join(os.WriteFile(target, []byte("old"), 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	if err := WriteWith(link, []byte("new"), Options{Mode: 0o600, Keep: true}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(target); err != nil || string(got) != "old" {
		t.Errorf("the target holds %q, %v", got, err)
	}
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v: want a plain file", info.Mode(), err)
	}
}

func TestTemporary(t *testing.T) {
	for name, want := range map[string]bool{
		".writ-0123456789abcdef.tmp": true, filepath.Join("a", ".writ-0123456789abcdef.tmp"): true,
		".writ": false, ".writ-.tmp": false, ".writ-0123456789abcdeg.tmp": false,
		"writ-0123456789abcdef.tmp": false, ".writ-0123456789abcdef.tmp.bak": false,
	} {
		if got := Temporary(name); got != want {
			t.Errorf("Temporary(%q) = %v", name, got)
		}
	}
}

// child is what TestMain runs instead of the tests: it writes a file again and
// again and says so, and dies by SIGKILL before the named step of the write
// with the given number.
func child(path, step, number string) error {
	last, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		if n == last {
			fault = func(at string) error {
				if at == step {
					self, err := os.FindProcess(os.Getpid())
					if err == nil {
						err = self.Kill()
					}
					if err != nil {
						return err
					}
					select {}
				}
				return nil
			}
		}
		if err := WriteWith(path, version(n), Options{Mode: 0o600, Keep: true}); err != nil {
			return err
		}
		if _, err := os.Stdout.WriteString(strconv.Itoa(n) + "\n"); err != nil {
			return err
		}
	}
}

func TestMain(m *testing.M) {
	if path := os.Getenv("ATOMICFILE_CHILD"); path != "" {
		if err := child(path, os.Getenv("ATOMICFILE_STEP"), os.Getenv("ATOMICFILE_NUMBER")); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func start(t *testing.T, path, step string, number int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), "ATOMICFILE_CHILD="+path, "ATOMICFILE_STEP="+step, "ATOMICFILE_NUMBER="+strconv.Itoa(number))
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return c, bufio.NewScanner(out)
}

// looksRight checks what a killed writer left: one whole version that is not
// older than the last one that it reported, and nothing else but what is named
// as temporary.
func looksRight(t *testing.T, path string, reported int) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil || !whole(content) {
		t.Fatalf("after write %d: %d bytes, %v", reported, len(content), err)
	}
	if !bytes.Equal(content, version(reported)) && !bytes.Equal(content, version(reported+1)) {
		t.Fatalf("after write %d the file holds version %c", reported, content[0])
	}
	temporary, others := names(t, filepath.Dir(path))
	if len(others) > 0 || len(temporary) > 1 {
		t.Fatalf("left behind: %v %v", temporary, others)
	}
}

func TestAWriterKilledBeforeAnyStepLeavesAWholeFile(t *testing.T) {
	for _, step := range steps {
		t.Run(step, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			c, lines := start(t, path, step, 3)
			reported := 0
			for lines.Scan() {
				reported++
			}
			if err := c.Wait(); err == nil || reported != 2 {
				t.Fatalf("the child ended with %v after %d writes", err, reported)
			}
			looksRight(t, path, reported)
		})
	}
}

func TestAWriterKilledAnytimeLeavesAWholeFile(t *testing.T) {
	for range 40 {
		path := filepath.Join(t.TempDir(), "file")
		c, lines := start(t, path, "", 0)
		reported := 0
		for stop := 1 + rand.IntN(20); reported < stop && lines.Scan(); {
			reported++
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			reported++
		}
		if err := c.Wait(); err == nil {
			t.Fatal("the child was not killed")
		}
		looksRight(t, path, reported)
	}
}

// TestSweep: what writes left that were cut off is removed, and nothing else.
func TestSweep(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	left, fresh := ".writ-0123456789abcdef.tmp", "in/.writ-fedcba9876543210.tmp"
	for name, age := range map[string]time.Duration{left: 2 * time.Hour, "in/" + left: 2 * time.Hour, fresh: 0, "in/kept.json": 2 * time.Hour, ".writ-x.tmp": 2 * time.Hour} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600), os.Chtimes(path, now.Add(-age), now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	Sweep(dir, now.Add(-time.Hour))
	for name, there := range map[string]bool{left: false, "in/" + left: false, fresh: true, "in/kept.json": true, ".writ-x.tmp": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
}
