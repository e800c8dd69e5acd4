// Package architecture reads the sources and holds the shape of the house: which
// floor may import which, which room owns a technology, what the client must not
// link, and what exists once. It runs nothing of Writ and needs a second.
package architecture

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/writbus/writ"

// sources maps each package of the module, by its path below the module ("cmd/writ/cli"), to
// what its files import. Test files are kept apart under path + " [test]".
func sources(t *testing.T) map[string][]string {
	t.Helper()
	all, err := readSources()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var readSources = sync.OnceValues(func() (map[string][]string, error) {
	imports := map[string]map[string]bool{}
	root := "../.."
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if file != root && (name == "testdata" || strings.HasPrefix(name, ".") || name == "zz_deps") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		if strings.HasSuffix(name, "_test.go") {
			pkg += " [test]"
		}
		if imports[pkg] == nil {
			imports[pkg] = map[string]bool{}
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imports[pkg][imported] = true
		}
		return nil
	})
	all := map[string][]string{}
	for pkg, set := range imports {
		for imported := range set {
			all[pkg] = append(all[pkg], imported)
		}
		sort.Strings(all[pkg])
	}
	if len(all) < 10 {
		err = errors.Join(err, fmt.Errorf("only %d packages found: the test looks at the wrong folder", len(all)))
	}
	return all, err
})

func room(pkg string) string {
	top, _, _ := strings.Cut(strings.TrimSuffix(pkg, " [test]"), "/")
	return top
}

func within(pkg, folder string) bool {
	pkg = strings.TrimSuffix(pkg, " [test]")
	return pkg == folder || strings.HasPrefix(pkg, folder+"/")
}

// shared is what the tests of any room may import, and imports none.
var shared = []string{"test/conformance", "test/integration", "test/processor"}

// owners says which folder alone may import a library.
var owners = map[string][]string{
	"github.com/nats-io/nats-server":   {"bus/embedded"},
	"github.com/nats-io/nats.go":       {"bus"},
	"filippo.io/age":                   {"observer/sharedmemory"},
	"github.com/cockroachdb/pebble":    {"projections/pebblestore"},
	"github.com/neo4j/neo4j-go-driver": {"projections/neo4jmirror"},
	"github.com/blevesearch/bleve":     {"retrieval/lexical", "retrieval/fulltext"},
	"github.com/coder/hnsw":            {"retrieval/vector"},
	"mvdan.cc/sh":                      {"enforcement/shell"},
	"github.com/yuin/goldmark":         {"enforcement/plan", "observer", "retrieval/artifact"},
	"github.com/spf13/cobra":           {"cmd/writ"},
	"github.com/go-webauthn":           {"enforcement/passkey"},
	"github.com/tiktoken-go/tokenizer": {"retrieval"},
	"github.com/google/jsonschema-go":  {"observer/eventlog"},
	"github.com/modelcontextprotocol":  {"observer/mcp", "observer/agent/verbs/federation"},
	"github.com/a2aproject":            {"observer/agent/verbs/federation"},
	"github.com/go-json-experiment":    {"schemas"},
	"github.com/JohannesKaufmann":      {"observer/agent/verbs/web"},
	"github.com/chromedp":              {"observer/agent/verbs/web", "test/browser"},
	"go.opentelemetry.io":              {"observer/metrics"},
	"github.com/prometheus":            {"observer/metrics"},
	"github.com/rogpeppe/go-internal":  {"test"},
	"charm.land":                       {"observer/top"},
	"github.com/openai":                {"observer/model"},
	"github.com/anthropics":            {"observer/model"},
	"github.com/sony/gobreaker":        {"observer/model"},
}

func TestEachTechnologyHasOneRoom(t *testing.T) {
	for pkg, imports := range sources(t) {
		if strings.HasSuffix(pkg, "[test]") {
			continue
		}
		for _, imported := range imports {
			for library, rooms := range owners {
				if !strings.HasPrefix(imported, library) {
					continue
				}
				if !slices.ContainsFunc(rooms, func(r string) bool { return within(pkg, r) }) {
					t.Errorf("%s imports %s, which belongs to %v", pkg, imported, rooms)
				}
			}
		}
	}
}

// schemasNeed names what the ground imports beside the standard library: a reader
// of JSON, and the calls by which systems lock files and tell of disks.
var schemasNeed = map[string][]string{
	"github.com/go-json-experiment/json/v1": {"schemas"},
	"golang.org/x/sys/unix":                 {"schemas/filelock", "schemas/disk"},
	"golang.org/x/sys/windows":              {"schemas/filelock", "schemas/disk"},
}

func TestSchemasNeedTheStandardLibraryAndLittleElse(t *testing.T) {
	for pkg, imports := range sources(t) {
		if !within(pkg, "schemas") || strings.HasSuffix(pkg, "[test]") {
			continue
		}
		for _, imported := range imports {
			if strings.Contains(strings.Split(imported, "/")[0], ".") && !strings.HasPrefix(imported, module) && !slices.ContainsFunc(schemasNeed[imported], func(folder string) bool { return within(pkg, folder) }) {
				t.Errorf("%s imports %s", pkg, imported)
			}
		}
	}
}

// impure lists what the pure rooms must not reach for: they get time, ids and
// randomness as data.
var impure = []string{"os", "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand", "log", "log/slog", "os/exec", "github.com/google/uuid"}

func TestCoresStayPure(t *testing.T) {
	for pkg, imports := range sources(t) {
		if strings.HasSuffix(pkg, "[test]") {
			continue
		}
		if f := floors[folderOf(pkg)]; f != core && f != ground || exempt[pkg] != "" {
			continue
		}
		for _, imported := range imports {
			if slices.Contains(impure, imported) {
				t.Errorf("%s imports %s", pkg, imported)
			}
		}
	}
}

// exempt names packages on the floors of the pure that import what is impure, and why.
var exempt = map[string]string{
	"schemas/atomicfile":  "it writes small files",
	"schemas/origin":      "it asks git which repository a folder belongs to",
	"schemas/filelock":    "it locks files",
	"schemas/disk":        "it asks the system about disks",
	"observer/classify":   "its generators of random numbers are seeded with data",
	"retrieval/benchmark": "its generators of random numbers are seeded with data",
	"schemas/lazyregexp":  "it asks whether it is within a test",
}

// heavy lists what must not be linked into the client that every hook starts.
var heavy = []string{
	"github.com/nats-io/nats-server", "github.com/blevesearch/bleve", "github.com/cockroachdb/pebble",
	"github.com/neo4j", "github.com/coder/hnsw", "mvdan.cc/sh", "github.com/yuin/goldmark",
	"github.com/tiktoken-go", "github.com/google/jsonschema-go", "github.com/openai", "github.com/anthropics",
}

func TestTheClientStaysThin(t *testing.T) {
	all := sources(t)
	seen := map[string]string{"cmd/writ": "main"}
	queue := []string{"cmd/writ"}
	for len(queue) > 0 {
		pkg := queue[0]
		queue = queue[1:]
		for _, imported := range all[pkg] {
			for _, h := range heavy {
				if strings.HasPrefix(imported, h) {
					t.Errorf("writ links %s: %s ← %s", imported, pkg, seen[pkg])
				}
			}
			inside, ok := strings.CutPrefix(imported, module+"/")
			if !ok || seen[inside] != "" {
				continue
			}
			if _, exists := all[inside]; !exists {
				t.Errorf("%s imports %s, which has no sources", pkg, inside)
			}
			seen[inside] = pkg + " ← " + seen[pkg]
			queue = append(queue, inside)
		}
	}
	if len(seen) < 3 {
		t.Fatalf("writ imports only %v: the test looks at the wrong place", seen)
	}
}

// TestNoCatchAllRooms keeps out the folder names that mean nothing.
func TestNoCatchAllRooms(t *testing.T) {
	for pkg := range sources(t) {
		for _, part := range strings.Split(path.Clean(strings.TrimSuffix(pkg, " [test]")), "/") {
			switch part {
			case "util", "utils", "common", "helpers", "types", "models", "misc":
				t.Errorf("%s: a folder named %q says nothing about what is in it", pkg, part)
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	documented := map[string]bool{}
	all := sources(t)
	for pkg := range all {
		if strings.HasSuffix(pkg, "[test]") {
			continue
		}
		dir := filepath.Join("..", "..", filepath.FromSlash(pkg))
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, f.Name()), nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			if parsed.Doc != nil {
				documented[pkg] = true
			}
		}
		if !documented[pkg] {
			t.Errorf("%s has no package comment", pkg)
		}
	}
}

// TestOneWayIntoTheLog: Decide and Record alone append. Conn.append cannot be
// called from outside bus; within it, the Writer alone does, and nothing but a
// test makes a Writer of its own. What bus/reach.go delivers is no event.
func TestOneWayIntoTheLog(t *testing.T) {
	appends := regexp.MustCompile(`\bc\.append\b|\bjs\.Publish`)
	writers := regexp.MustCompile(`\bbus\.NewWriter\(`)
	found := map[string]int{}
	err := filepath.WalkDir("../..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(file), "../../")
		found[name] += len(appends.FindAll(text, -1))
		if writers.Match(text) {
			t.Errorf("%s makes its own way into the log", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range found {
		if want := map[string]int{"bus/append.go": 1, "bus/decide.go": 1, "bus/reach.go": 1}[name]; n != want {
			t.Errorf("%s appends in %d places, and may in %d", name, n, want)
		}
	}
}
