package test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/writbus/writ/test/integration"
)

var update = flag.Bool("update", false, "write the answers of kept folders anew")

// TestKeptFolders opens the data folders that earlier programs left, and
// compares what every reading command says of them, with all that is in a folder
// and without what can be made again. Each NAME.txtar in datafolders has one command
// line per file with its output.
func TestKeptFolders(t *testing.T) {
	t.Parallel()
	all, err := filepath.Glob(filepath.Join("datafolders", "*.tar.gz"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no kept folder: %v", err)
	}
	for _, archive := range all {
		name := strings.TrimSuffix(filepath.Base(archive), ".tar.gz")
		for lost, parts := range map[string][]string{"nothing": nil, "the views": {"views"}, "the other indexes": {"artifacts", "documents", "fulltext", "vectors"}} {
			t.Run(name+" without "+lost, func(t *testing.T) {
				if lost != "nothing" && *update {
					t.Skip("the answers are those of the whole folder")
				}
				t.Parallel()
				if lost == "the other indexes" {
					integration.Only(t, "a folder without the views")
				}
				k := openKept(t, archive)
				for _, part := range parts {
					if err := os.RemoveAll(filepath.Join(k.data, part)); err != nil {
						t.Fatal(err)
					}
				}
				k.compare(t, filepath.Join("datafolders", name+".txtar"))
			})
		}
	}
}

// kept is a data folder of an earlier program, unpacked for one test.
type kept struct {
	data string
	env  []string
}

func openKept(t *testing.T, archive string) kept {
	t.Helper()
	root := t.TempDir()
	if err := unpack(archive, root); err != nil {
		t.Fatal(err)
	}
	k := kept{data: filepath.Join(root, "data")}
	k.env = append(os.Environ(), "WRIT_HOME="+k.data, "HOME="+root, "WRIT_DURABILITY=interval",
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "CLAUDECODE=", "CLAUDE_CODE_SESSION_ID=", "TZ=UTC",
		"WRIT_HOOK_BUDGET=9s")
	settings, err := os.OpenFile(filepath.Join(k.data, "config.yaml"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := settings.WriteString("scripts: allow\n"); err != nil { // a test has no terminal of its own
		t.Fatal(err)
	}
	if err := settings.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = killDaemon(k.data)
		for served(k.data) { // its trial of a hold makes a folder of the user's
			time.Sleep(time.Millisecond)
		}
	})
	return k
}

// served reports whether a process was started with a data directory, as far as the
// system tells: what a daemon started outlives one that is killed, for a moment.
func served(data string) bool {
	started, _ := filepath.Glob("/proc/[0-9]*/environ")
	return slices.ContainsFunc(started, func(file string) bool {
		raw, _ := os.ReadFile(file)
		return bytes.Contains(raw, []byte("WRIT_HOME="+data+"\x00"))
	})
}

// compare asks what the answers of a file were given to.
func (k kept) compare(t *testing.T, file string) {
	t.Helper()
	answers, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, was := range answers.Files {
		got := k.answer(t, was.Name)
		if *update {
			answers.Files[i].Data = []byte(got)
			continue
		}
		if got != string(was.Data) {
			t.Errorf("writ %s:\n%s\n--- was\n%s", was.Name, got, was.Data)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(answers), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// moving finds what of an answer depends on when and where it is given: how
// long a question took, and the scores of a memory that fades with time.
var moving = regexp.MustCompile(`(, second place [^,\n]+)?, [0-9.]+(ms|s|µs)\n| in [0-9.]+ ms;|"score":[0-9.e-]+,"write_verdict"`)

func (k kept) answer(t *testing.T, line string) string {
	t.Helper()
	c := exec.Command(filepath.Join(bin, "writ"), strings.Fields(line)...)
	c.Dir, c.Env = filepath.Dir(k.data), k.env
	out, err := c.CombinedOutput()
	var refused *exec.ExitError
	if err != nil && !errors.As(err, &refused) {
		t.Fatal(err)
	}
	text := moving.ReplaceAllString(string(out), "…\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

func unpack(archive, root string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for r := tar.NewReader(zipped); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path := filepath.Join(root, filepath.FromSlash(head.Name))
		if head.FileInfo().IsDir() {
			if err := os.MkdirAll(path, 0o700); err != nil {
				return err
			}
			continue
		}
		if err := write(path, head.FileInfo().Mode(), r); err != nil {
			return err
		}
	}
}

func write(path string, mode fs.FileMode, from io.Reader) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, from); err != nil {
		_ = f.Close() // err is what matters
		return err
	}
	return f.Close()
}

// TestKeptFoldersAreMigrated starts a daemon on folders of earlier formats, and
// on one that a newer program wrote.
func TestKeptFoldersAreMigrated(t *testing.T) {
	t.Parallel()
	k := openKept(t, filepath.Join("datafolders", "first.tar.gz"))
	file := filepath.Join(k.data, "FORMAT")
	if _, err := os.Stat(file); err == nil {
		t.Fatal("the kept folder has a number")
	}
	k.answer(t, "up --detach")
	line, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const numbered = "writ data directory, format %d\n"
	format := 0
	if _, err := fmt.Sscanf(string(line), numbered, &format); err != nil || format < 1 {
		t.Fatalf("%s: %v", line, err)
	}
	if status := k.answer(t, "status --json"); !strings.Contains(status, fmt.Sprintf(`"format":%d`, format)) {
		t.Errorf("status %s, want format %d", status, format)
	}
	k.answer(t, "down")
	newer := fmt.Sprintf(numbered, format+1)
	sum := sha256.Sum256([]byte(newer))
	if err := os.WriteFile(file, fmt.Appendf(nil, "%s%x\n", newer, sum[:8]), 0o600); err != nil {
		t.Fatal(err)
	}
	if refused := k.answer(t, "up --detach"); !strings.Contains(refused, "a newer Writ wrote it. Install that version again") {
		t.Errorf("a newer folder: %s", refused)
	}
	if err := os.WriteFile(file, line, 0o600); err != nil {
		t.Fatal(err)
	}
	if list := k.answer(t, "session list"); !strings.Contains(list, "work-1") {
		t.Errorf("sessions %s", list)
	}
}
