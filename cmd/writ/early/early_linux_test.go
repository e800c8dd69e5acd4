package early

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/writbus/writ/cmd/internal/config"
)

// TestPathsAreThoseOfTheProgram: what is hidden and what is shown must not
// depend on who read the command line.
func TestPathsAreThoseOfTheProgram(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, vars := range [][3]string{
		{"/data/writ/", "/state", "/home/u"},
		{"own", "/state", "/home/u"},
		{"", "/state", "/home/u"},
		{"", "state", "/home/u"},
		{"", "", "/home/u"},
		{"", "", ""},
	} {
		t.Setenv("WRIT_HOME", vars[0])
		t.Setenv("XDG_STATE_HOME", vars[1])
		t.Setenv("HOME", vars[2])
		want, err := config.DataDir()
		if err != nil {
			want = ""
		}
		if got := dataDir(dir); got != want {
			t.Errorf("%q: %q, want %q", vars, got, want)
		}
	}
	if got, want := reveal("/d"), []string{config.EndpointPath("/d"), config.CredentialPath("/d", "agent")}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWhatIsNotUnderstoodIsLeft to the program, which says what is wrong.
func TestWhatIsNotUnderstoodIsLeft(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for _, args := range [][]string{
		{"--help"},
		{"-h"},
		{"--nonsense"},
		{"--profile"},
		{"--profile", "scratch", "--", "true"},
		{"true"},
		{"--project", "/", "--profile", "none", "--", "true"},
		{"--project", "/", "--profile", "scratch"},
		{"--project", "/", "--profile", "scratch", "--lock", "../x", "true"},
		{"--project", "/", "--profile", "scratch", "--", "/nonexistent/program"},
	} {
		if exit, ran := run(args); ran {
			t.Errorf("%q ran: %d", args, exit)
		}
	}
}

// early are the packages that are initialised before fmt, strings and
// path/filepath can be, in Go's order.
var early = []string{"bytes", "cmp", "errors", "io", "io/fs", "maps", "os", "os/signal", "path", "runtime", "slices", "strconv", "sync", "syscall", "unsafe"}

// TestNothingLateIsImported holds the list that makes confinement quick.
func TestNothingLateIsImported(t *testing.T) {
	for _, dir := range []string{".", "../confined", "../../../enforcement/confine"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, "_other.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range parsed.Imports {
				imported, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				own := imported == "github.com/writbus/writ/enforcement/confine" || imported == "github.com/writbus/writ/cmd/writ/confined"
				if !own && !slices.Contains(early, imported) {
					t.Errorf("%s imports %s", file, imported)
				}
			}
		}
	}
}
