package test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"github.com/writbus/writ/schemas/digest"
	"github.com/writbus/writ/test/integration"
)

// TestFlips flips single bits in the files of a data folder that a daemon left, one
// in each round, in every kind of file by turns, and starts a daemon on it. Each
// round ends with all the facts that were there before: by itself, or once the
// remedy that was told is followed to the letter. WRIT_FLIPS sets how many rounds
// there are, WRIT_FLIPS_SEED which.
func TestFlips(t *testing.T) {
	t.Parallel()
	rounds, seed := fromEnv(t, "WRIT_FLIPS", integration.Rounds(1, 4)), fromEnv(t, "WRIT_FLIPS_SEED", 1)
	f := newFlipped(t)
	t.Cleanup(func() { t.Logf("seed %d\n%s", seed, f.table()) })
	for i := range rounds {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			f.round(t, rand.New(rand.NewPCG(uint64(seed), uint64(i))), i) //nolint:gosec // chooses a bit
		})
	}
}

// TestBrokenFolders breaks whole files of a data folder in ways of which each once left
// nothing to do, or took more with it. Each ends as in TestFlips.
func TestBrokenFolders(t *testing.T) {
	t.Parallel()
	f := newFlipped(t)
	file := func(w flipWorld) func(string) {
		return func(rel string) {
			path := filepath.Join(w.data(), rel)
			if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, nil, 0o600)); err != nil {
				t.Error(err)
			}
		}
	}
	for name, c := range map[string]struct {
		breaks func(flipWorld)
		end    string
	}{
		"the keys of observations are gone": {func(w flipWorld) { _ = os.Remove(filepath.Join(w.data(), "memory.keys")) }, endRemedy},
		"all records behind the archive are gone": {func(w flipWorld) {
			_ = os.RemoveAll(filepath.Join(w.data(), "streams", "jetstream", "$G", "streams", "WRIT_SESSIONS", "msgs"))
		}, endRemedy},
		"another log's public key": {func(w flipWorld) {
			const another = "writ-ddd6b1f9f3b570ed+8c3a1255+AQ8XXLokMn2pOAFDc5Yw0m9p6DoZ7hzJxkKZgnNwYc1a"
			if err := os.WriteFile(filepath.Join(w.data(), "audit", "key.pub"), []byte(another+"\n"), 0o600); err != nil {
				t.Error(err)
			}
		}, endHealed},
		"a file in the place of a store": {func(w flipWorld) { file(w)("streams/jetstream") }, endRemedy},
		"a file in the place of a log":   {func(w flipWorld) { file(w)("log") }, endRemedy},
		"an archive that leads nowhere": {func(w flipWorld) {
			path := filepath.Join(w.data(), "archive")
			if err := errors.Join(os.RemoveAll(path), os.Symlink(path+".gone", path)); err != nil {
				t.Error(err)
			}
		}, endRemedy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "all records behind the archive are gone" {
				integration.Only(t, "the one in which all records behind the archive are gone")
			}
			w := f.copied(t)
			defer w.kill()
			c.breaks(w)
			if end, told := f.look(w); end != c.end {
				t.Errorf("%s\n%s", end, told)
			}
		})
	}
}

func fromEnv(t *testing.T, name string, otherwise int) int {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// flipped is a folder that is damaged again and again, with the facts in it.
type flipped struct {
	project string // that is indexed; nobody changes it
	home    string // beside the data: the second place of the audit, a backup
	kinds   []string
	files   map[string][]string // by kind, relative to home
	facts   map[string]string   // by command line
	lines   []string            // those
	warned  string

	mu    sync.Mutex
	ended map[string]map[string]int // how often, by kind and end
}

// flipFacts are the questions whose answers are the facts.
var flipFacts = []string{
	"replay --json --data", "session list --json", "session replay work-1", "rule list --json", "rule log ZOO-STRIPE-001", "rule review --json",
	"query render the stripes of the zebra in the canvas component", "recall billing tests race detector --include-hold --include-discard --min-score 0 --json", "memory export",
	"schedule list --all --json", "agent list --json", "audit verify", "passkey list --json",
}

func newFlipped(t *testing.T) *flipped {
	t.Helper()
	f := &flipped{project: t.TempDir(), home: t.TempDir(), files: map[string][]string{}, facts: map[string]string{}, ended: map[string]map[string]int{}}
	if err := unpack(filepath.Join("datafolders", "first.tar.gz"), f.home); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.go": "package a\n\n// Zebra paints stripes.\nfunc Zebra() { b() }\n", "b.go": "package a\n\nfunc b() {}\n", "notes.md": "# Stripes\n\nA zebra has them.\n"} {
		if err := os.WriteFile(filepath.Join(f.project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, config := flipWorld{t: t, home: f.home}, filepath.Join(f.home, "data", "config.yaml")
	defer w.kill()
	was := appendTo(t, config, "scripts: allow\n") // a test has no terminal of its own
	appendTo(t, config, "max_bytes: 25000\n")      // so that its oldest events leave for the archive
	w.must("up", "--detach")
	if out, ok := w.run(`{"session_id":"work-1","cwd":"/srv/demo/project","hook_event_name":"SessionEnd","reason":"exit"}`, "hook", "claude", "SessionEnd"); !ok {
		t.Fatal(out)
	}
	w.awaitStatus("archive ")
	w.must("down")
	if err := os.WriteFile(config, was, 0o600); err != nil {
		t.Fatal(err)
	}
	w.must("up", "--detach")
	w.hook()
	// A record that is too long to be put right without a backup.
	if out, ok := w.run(`{"session_id":"long-1","cwd":"/srv/demo/project","hook_event_name":"UserPromptSubmit","source":"user","prompt":"`+strings.Repeat("stripes ", 10_000)+`"}`, "hook", "claude", "UserPromptSubmit"); !ok {
		t.Fatal(out)
	}
	w.must("index", "build", "--project", f.project)
	w.must("audit", "checkpoint")
	w.must("backup", filepath.Join(f.home, "backup"))
	w.must("down")
	w.must("up", "--detach")
	f.lines = append(slices.Clone(flipFacts), "search zebra --project "+f.project, "index show --project "+f.project)
	for _, line := range f.lines {
		f.facts[line] = w.fact(line)
	}
	f.warned = w.must("status")
	w.must("down")
	err := filepath.WalkDir(f.home, func(path string, e fs.DirEntry, err error) error {
		if e.IsDir() && e.Name() == "backup" {
			return fs.SkipDir
		}
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if rel, relErr := filepath.Rel(f.home, path); err == nil && relErr == nil && info.Size() > 0 {
			f.files[kindOfFile(rel)] = append(f.files[kindOfFile(rel)], rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for kind := range f.files {
		f.kinds = append(f.kinds, kind)
	}
	slices.Sort(f.kinds)
	return f
}

// appendTo returns what the file then holds.
func appendTo(t *testing.T, path, text string) []byte {
	t.Helper()
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	have = append(have, text...)
	if err := os.WriteFile(path, have, 0o600); err != nil {
		t.Fatal(err)
	}
	return have
}

// named finds what tells files of one kind apart.
var named = regexp.MustCompile(`[0-9a-f]{16,}|\d{3,}|WRIT_[A-Z]+`)

func kindOfFile(rel string) string {
	return named.ReplaceAllString(strings.TrimPrefix(filepath.ToSlash(rel), "data/"), "*")
}

// round flips a bit, starts a daemon and looks.
func (f *flipped) round(t *testing.T, random *rand.Rand, i int) {
	w := f.copied(t)
	kind := f.kinds[i%len(f.kinds)]
	file := f.files[kind][random.IntN(len(f.files[kind]))]
	path := filepath.Join(w.home, file)
	if strings.HasPrefix(file, secondPlace) {
		path = w.witness()
	}
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at, bit := random.IntN(len(body)), random.IntN(8)
	body[at] ^= 1 << bit
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	defer w.kill()
	end, told := f.look(w)
	if strings.HasPrefix(end, "FAIL") {
		t.Errorf("bit %d of byte %d of %s, %d bytes: %s\n%s", bit, at, file, len(body), end, told)
	} else {
		t.Logf("bit %d of byte %d of %s: %s", bit, at, file, end)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended[kind] == nil {
		f.ended[kind] = map[string]int{}
	}
	f.ended[kind][end]++
}

// copied is a home of its own with what is in the folder.
func (f *flipped) copied(t *testing.T) flipWorld {
	t.Helper()
	w := flipWorld{t: t, home: t.TempDir(), pristine: filepath.Join(f.home, "data")}
	if out, err := exec.Command("cp", "-a", f.home+"/.", w.home).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w.secondPlace()
	return w
}

// The ends of a round.
const (
	endNone    = "no effect"
	endHealed  = "healed, told"
	endRemedy  = "told, remedy works"
	endSilent  = "FAIL: silent"
	endNothing = "FAIL: no remedy told"
	endUseless = "FAIL: the remedy does not work"
)

// look compares the facts, and follows what is told until they are there.
func (f *flipped) look(w flipWorld) (end, told string) {
	wrong, said := f.compare(w)
	switch {
	case wrong == "" && said == "":
		return endNone, ""
	case wrong == "":
		return endHealed, said
	}
	told = "wrong: " + wrong + "\ntold: " + said
	if said == "" {
		return endSilent, told
	}
	for range 3 {
		remedy := w.follow(said)
		if remedy == "" {
			return endNothing, told
		}
		if wrong, said = f.compare(w); wrong == "" {
			return endRemedy, told
		}
		told += "\n\nfollowed: " + remedy + "\nwrong: " + wrong + "\ntold: " + said
	}
	return endUseless, told
}

// compare starts a daemon and says which facts are not there, and what a person is
// told that they were not told before.
func (f *flipped) compare(w flipWorld) (wrong, told string) {
	out, ok := w.run("", "up", "--detach")
	if !ok {
		return "the daemon does not start", out
	}
	var missing, said []string
	for _, line := range f.lines {
		got := w.fact(line)
		if lost := lost(f.facts[line], got); lost != "" {
			missing = append(missing, "writ "+line+": "+lost)
			if !strings.HasPrefix(line, "replay") || len(got) < 1000 {
				said = append(said, got)
			}
		}
	}
	if got, refused := w.hook(); !refused {
		missing, said = append(missing, "the hook: "+got), append(said, got)
	}
	if got, ok := w.run("", "audit", "checkpoint"); !ok {
		missing, said = append(missing, "writ audit checkpoint: "+got), append(said, got)
	}
	status, _ := w.run("", "status")
	if added := lost(warningsIn(status), warningsIn(f.warned)); added != "" {
		said = append([]string{added}, said...)
	}
	if len(missing) > 0 && len(said) == 0 {
		return strings.Join(missing, "\n"), ""
	}
	return strings.Join(missing, "\n"), strings.Join(said, "\n")
}

// warningsIn are the lines of a status that warn.
func warningsIn(status string) string {
	var lines []string
	for line := range strings.Lines(status) {
		if strings.Contains(line, "damaged") || strings.Contains(line, "warning") || strings.Contains(line, "!") || strings.Contains(line, "⚠") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.Join(lines, "\n")
}

// lost are the lines of an answer that another lacks, some of them.
func lost(was, is string) string {
	have := map[string]bool{}
	for line := range strings.Lines(is) {
		have[strings.TrimSpace(line)] = true
	}
	var gone []string
	for line := range strings.Lines(was) {
		if line = strings.TrimSpace(line); !have[line] {
			gone = append(gone, line)
		}
	}
	if len(gone) > 3 {
		gone = append(gone[:3], fmt.Sprintf("and %d lines more", len(gone)-3))
	}
	return strings.Join(gone, "\n")
}

func (f *flipped) table() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	ends := []string{endNone, endHealed, endRemedy, endSilent, endNothing, endUseless}
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, strings.Join(append([]string{"kind"}, ends...), "\t")+"\t")
	for _, kind := range f.kinds {
		row := kind
		for _, end := range ends {
			row += "\t" + strconv.Itoa(f.ended[kind][end])
		}
		_, _ = fmt.Fprintln(w, row+"\t")
	}
	_ = w.Flush()
	return out.String()
}

// flipWorld is a home in which one round takes place.
type flipWorld struct {
	t          testing.TB
	home       string
	pristine   string   // the data as it was
	durability string   // "" is interval
	within     []string // what runs commands, in namespaces of their own; nil for none
}

// backup is the content of the backup.
func (w flipWorld) backup() string {
	all, err := filepath.Glob(filepath.Join(w.home, "backup", "*", "*", "FORMAT"))
	if err != nil || len(all) != 1 {
		w.t.Fatalf("%v: %v", all, err)
	}
	return filepath.Dir(all[0])
}

func (w flipWorld) copyBack(rel, from string) {
	w.t.Helper()
	body, err := os.ReadFile(filepath.Join(from, rel))
	if err == nil {
		err = os.WriteFile(filepath.Join(w.data(), rel), body, 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w flipWorld) data() string { return filepath.Join(w.home, "data") }

// secondPlace is where the audit remembers, beside the data folder, what it signed.
const secondPlace = ".config/writ-checkpoints"

func (w flipWorld) witness() string {
	return filepath.Join(w.home, secondPlace, digest.Hex(w.data())[:16])
}

// secondPlace gives the memory of the audit the name that it has for this folder.
func (w flipWorld) secondPlace() {
	w.t.Helper()
	was, err := os.ReadDir(filepath.Join(w.home, secondPlace))
	if err == nil && len(was) == 1 {
		err = os.Rename(filepath.Join(w.home, secondPlace, was[0].Name()), w.witness())
	}
	if err != nil || len(was) != 1 {
		w.t.Fatalf("%v in %s: %v", was, secondPlace, err)
	}
}

func (w flipWorld) kill() { _ = killDaemon(w.data()) }

func (w flipWorld) run(in string, args ...string) (out string, ok bool) {
	w.t.Helper()
	line := append(append(slices.Clone(w.within), filepath.Join(bin, "writ")), args...)
	c := exec.Command(line[0], line[1:]...)
	c.Dir, c.Stdin = w.home, strings.NewReader(in)
	c.Env = w.env()
	raw, err := c.CombinedOutput()
	var refused *exec.ExitError
	if err != nil && !errors.As(err, &refused) {
		w.t.Fatal(err)
	}
	return strings.ReplaceAll(string(raw), w.home, "$HOME"), err == nil
}

func (w flipWorld) env() []string {
	return append(os.Environ(), "WRIT_HOME="+w.data(), "HOME="+w.home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "WRIT_DURABILITY="+cmp.Or(w.durability, "interval"),
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "CLAUDECODE=", "CLAUDE_CODE_SESSION_ID=", "TZ=UTC", "WRIT_HOOK_BUDGET=9s")
}

// awaitStatus waits until the daemon's status says something.
func (w flipWorld) awaitStatus(text string) {
	w.t.Helper()
	for said, until := "", time.Now().Add(time.Minute); !strings.Contains(said, text); said = w.must("status") {
		if time.Now().After(until) {
			w.t.Fatalf("%q is not in the status: %s", text, said)
		}
	}
}

func (w flipWorld) must(args ...string) string {
	w.t.Helper()
	out, ok := w.run("", args...)
	if !ok {
		w.t.Fatalf("writ %s: %s", strings.Join(args, " "), out)
	}
	return out
}

// passing is what of an answer depends on the moment.
var passing = regexp.MustCompile(`"(mode|phase|ended|last|seq|events|denied)": ?("[^"]*"|[^,}]*),?|\d+ (records|events|checkpoints?)\b.*|in [0-9.]+ ms \(.*?\)|.* WRIT_QUARANTINE .*`)

func (w flipWorld) fact(line string) string {
	w.t.Helper()
	out, _ := w.run("", strings.Fields(line)...)
	out = moving.ReplaceAllString(out, "…\n")
	if strings.HasPrefix(line, "session list") || strings.HasPrefix(line, "audit") || strings.HasPrefix(line, "search") {
		out = passing.ReplaceAllString(out, "")
	}
	return out
}

// hook asks for a write of code, which has to be refused.
func (w flipWorld) hook() (out string, refused bool) {
	w.t.Helper()
	out, _ = w.run(`{"session_id":"flip-`+uuid.NewString()+`","cwd":"/srv/demo/project","hook_event_name":"PreToolUse","tool_name":"Write","tool_use_id":"f1","tool_input":{"file_path":"/srv/demo/project/a.go","content":"x"}}`,
		"hook", "claude", "PreToolUse")
	return out, strings.Contains(out, "ENF-GATE-MODE")
}

// asBackup is a file that is to be taken from a backup, and mendable one that a
// person wrote, of which a line is named.
var (
	asBackup = regexp.MustCompile(`(?i)restore (?:that file|it|(\$HOME/\S+?)) from a backup`)
	mendable = regexp.MustCompile(`bad settings: .*\$HOME/data/config.yaml`)
	removeIt = regexp.MustCompile(`(?i)(?:remove|delete) it\b`)
	anyFile  = regexp.MustCompile(`\$HOME/data/[^\s:;,()]+`)
)

// toDelete is a file that is to be deleted.
var toDelete = regexp.MustCompile(`(?i)(?:delete|remove|move) (\$HOME/\S+?)[.,;:]?(\s|$)`)

// follow does what a person is told to do, and returns what that was.
func (w flipWorld) follow(told string) (remedy string) {
	w.t.Helper()
	stop := func() { w.run("", "down"); w.kill() }
	switch file := toDelete.FindStringSubmatch(told); {
	case strings.Contains(told, "memory.keys.restore"):
		stop()
		body, err := os.ReadFile(filepath.Join(w.backup(), "memory.keys"))
		if err == nil {
			err = os.WriteFile(filepath.Join(w.data(), "memory.keys.restore"), body, 0o600)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		return "copied memory.keys of the backup"
	case strings.Contains(told, "writ repair --from"):
		stop()
		out, _ := w.run("", "repair", "--from", filepath.Join(w.home, "backup"))
		return "writ repair --from BACKUP: " + out
	case mendable.MatchString(told):
		w.copyBack("config.yaml", w.pristine)
		return "mended config.yaml"
	case asBackup.MatchString(told):
		stop()
		rel := strings.TrimPrefix(anyFile.FindString(told), "$HOME/data/")
		w.copyBack(rel, w.backup())
		return "took " + rel + " from the backup"
	case removeIt.MatchString(told):
		stop()
		if err := os.Remove(strings.Replace(anyFile.FindString(told), "$HOME", w.home, 1)); err != nil {
			w.t.Fatal(err)
		}
		return "removed " + anyFile.FindString(told)
	case strings.Contains(told, "`writ down` and `writ up --detach`"):
		stop()
		return "writ down, writ up"
	case file != nil && !strings.HasSuffix(file[1], "damage.txt"):
		stop()
		if err := os.RemoveAll(strings.Replace(file[1], "$HOME", w.home, 1)); err != nil {
			w.t.Fatal(err)
		}
		return "deleted " + file[1]
	case strings.Contains(told, "writ restore"):
		stop()
		if err := os.Rename(w.data(), w.data()+".old"); err != nil {
			w.t.Fatal(err)
		}
		out, _ := w.run("", "restore", filepath.Join(w.home, "backup"))
		return "writ restore BACKUP: " + out
	case strings.Contains(told, "Try again in a moment"), strings.Contains(told, "ask again"): // the daemon starts anew by itself
		return "tried again"
	}
	return ""
}
