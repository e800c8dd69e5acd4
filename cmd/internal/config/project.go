package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/writbus/writ/retrieval/artifact/strategy"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/lazyregexp"
	"github.com/writbus/writ/schemas/spelling"
)

// ProjectFile is the file, relative to a project's root, whose presence means
// that Writ guards the project.
const ProjectFile = ".writ/config.yaml"

// ErrSettings is returned for a settings file that cannot be understood; the
// error names file and line.
var ErrSettings = errors.New("config: bad settings")

// Project is what a project asks of Writ. A file that cannot be read yields
// the strictest defaults together with the error.
type Project struct {
	// Mode is what sessions start in: "" (to be declared), conversation,
	// debug, small, review or work.
	Mode string `yaml:"mode"`
	// Fail says what a hook does when the daemon cannot be reached: closed
	// (refuse writes) or open.
	Fail string `yaml:"fail"`
	// DenyToAsk turns the second refusal of one gate in a row into a question
	// to the user.
	DenyToAsk bool `yaml:"deny_to_ask"`
	// Subagents overrides what sub-agents may do: "", exempt or inherit.
	Subagents string `yaml:"subagents"`
	// Findings is the file, relative to the root, that review mode may write.
	Findings string `yaml:"findings"`
	// UnsourcedPrompts says whether a prompt whose host does not say who
	// submitted it may approve: allow or refuse.
	UnsourcedPrompts string `yaml:"unsourced_prompts"`
	// Approval is the least assurance with which a gate opens: prompt, terminal,
	// passkey or two-person. The data directory's own setting of that name counts where it asks
	// for more. writ help gates explains the ladder.
	Approval string `yaml:"approval"`
	// MCPWriters are patterns of MCP tools that write files, such as
	// "mcp__fs__write_*"; what they write cannot be told from their arguments.
	MCPWriters []string `yaml:"mcp_writers"`
	// BudgetTokens bounds the rules injected with a prompt.
	BudgetTokens int `yaml:"budget_tokens"`
	// Domains are always active in this project, beside those seen from files.
	Domains []string `yaml:"domains"`
	// Tests says whether pending tests run when an agent ends its turn: on or off.
	Tests string `yaml:"tests"`
	// TestCommand runs the tests, in a POSIX shell at the project's root; "" finds
	// those that the changed files can reach, by the project's own tools.
	TestCommand string `yaml:"test_command"`
	// TestTimeout bounds one such run, 5m at most.
	TestTimeout time.Duration `yaml:"test_timeout"`
	// TestWait is how long the end of a turn waits for one; what takes longer goes
	// on in the background.
	TestWait time.Duration `yaml:"test_wait"`
	// AdvanceOnGreen lets tests that pass at the end of a turn end the
	// implementation.
	AdvanceOnGreen bool `yaml:"advance_on_green"`
	// RequireWork lets agents declare no other mode than work.
	RequireWork bool `yaml:"require_work"`
	// SmallLines is how many lines of code one prompt may change in small mode.
	SmallLines int `yaml:"small_lines"`
	// ApprovalPhrases are wordings of approval in the users' own language; each
	// counts where it is a sentence of its own, with nothing but go-aheads behind it.
	ApprovalPhrases []string `yaml:"approval_phrases"`
	// Memory says whether prompts bring what was observed earlier, and what
	// agents note in their transcripts is observed: on or off.
	Memory string `yaml:"memory"`
	// AutoRetrieveOnStart says whether the first prompt of a session brings what
	// the project's index has about it. A project under version control that has
	// no index gets one at a session's start, unless it is false.
	AutoRetrieveOnStart bool `yaml:"auto_retrieve_on_start"`
	// Strategies change which files an agent of this name is given.
	Strategies map[string]strategy.Override `yaml:"strategies"`

	// AgentStrategies are strategies in other tools' words: artifact_types, top_k,
	// relevance_threshold, phase_filter, tag_filter. Strategies of the same name win.
	AgentStrategies map[string]map[string]any `yaml:"agent_strategies"`
}

// Approvals are the values of the settings called approval, in rising order.
var Approvals = []string{"prompt", "terminal", "passkey", "two-person"}

// MaxTestTimeout is the longest that tests may hold the end of a turn. Hooks of
// that event are installed with a little more.
const MaxTestTimeout = schemas.MaxTestTime

// DefaultProject is what an empty file means.
func DefaultProject() Project {
	return Project{
		Fail:             "closed",
		DenyToAsk:        true,
		Findings:         "findings.md",
		UnsourcedPrompts: "allow",
		Approval:         Approvals[0],
		BudgetTokens:     150,
		Memory:           "on",

		AutoRetrieveOnStart: true,
		Tests:               "on",
		SmallLines:          40,
		TestTimeout:         time.Minute,
		TestWait:            10 * time.Second,
	}
}

// FindProject walks up from an absolute folder to the nearest project that
// has Writ. A linked work tree without settings belongs to its repository's
// project.
func FindProject(dir string) (root string, found bool) { return findRoot(dir, hasProjectFile) }

// findRoot finds the nearest guarded folder, or the one that the repository has.
func findRoot(dir string, guarded func(string) bool) (root string, found bool) {
	find := findAbove(guarded)
	if root, found = find(dir); !found {
		root, _, found = findShared(dir, find)
	}
	return root, found
}

func findAbove(guarded func(string) bool) func(dir string) (root string, found bool) {
	return func(dir string) (root string, found bool) {
		for {
			if guarded(dir) {
				return dir, true
			}
			parent := filepath.Dir(dir)
			if parent == dir {
				return "", false
			}
			dir = parent
		}
	}
}

func hasProjectFile(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, ProjectFile))
	return err == nil && info.Mode().IsRegular()
}

// LoadProject reads a project's settings, or those of its repository. With an error the settings are the
// defaults, which are the strict ones.
func LoadProject(root string) (Project, error) {
	p := DefaultProject()
	path := filepath.Join(SettingsRoot(root), ProjectFile)
	if err := readYAML(path, &p); err != nil {
		return DefaultProject(), err
	}
	if err := p.check(); err != nil {
		return DefaultProject(), fmt.Errorf("%w: %s: %w", ErrSettings, path, err)
	}
	p, err := p.withStrategies()
	if err != nil {
		return DefaultProject(), fmt.Errorf("%w: %s: %w", ErrSettings, path, err)
	}
	return p, nil
}

func (p Project) check() error {
	for _, c := range []struct {
		key, value string
		allowed    []string
	}{
		{"mode", p.Mode, []string{"", "conversation", "debug", "small", "review", "work"}},
		{"fail", p.Fail, []string{"closed", "open"}},
		{"subagents", p.Subagents, []string{"", "exempt", "inherit"}},
		{"unsourced_prompts", p.UnsourcedPrompts, []string{"allow", "refuse"}},
		{"approval", p.Approval, Approvals},
		{"memory", p.Memory, []string{"on", "off"}},
		{"tests", p.Tests, []string{"on", "off"}},
	} {
		if !slices.Contains(c.allowed, c.value) {
			return fmt.Errorf("%s is %q, must be one of %q", c.key, c.value, c.allowed)
		}
	}
	if p.TestWait < 0 || p.TestWait > MaxTestTimeout {
		return fmt.Errorf("test_wait is %s, must be 0s or more and at most %s", p.TestWait, MaxTestTimeout)
	}
	if p.TestTimeout <= 0 || p.TestTimeout > MaxTestTimeout {
		return fmt.Errorf("test_timeout is %s, must be above 0 and at most %s", p.TestTimeout, MaxTestTimeout)
	}
	if p.SmallLines < 1 {
		return fmt.Errorf("small_lines is %d, must be at least 1", p.SmallLines)
	}
	if p.BudgetTokens < 0 {
		return fmt.Errorf("budget_tokens is %d, must not be negative", p.BudgetTokens)
	}
	if p.Findings == "" || filepath.IsAbs(p.Findings) || !filepath.IsLocal(p.Findings) {
		return fmt.Errorf("findings is %q, must be a path inside the project", p.Findings)
	}
	return nil
}

// maxSettings bounds a file of settings, in bytes.
const maxSettings = 1 << 20

// readYAML fills into from a file, strictly. A missing file changes nothing.
func readYAML(path string, into any) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		// To open a pipe would be to wait for whoever writes it.
		return fmt.Errorf("%w: %s is no regular file. Move it away", ErrSettings, path)
	}
	if err == nil && info.Size() > maxSettings {
		return fmt.Errorf("%w: %s is too large: %d bytes, %d at most", ErrSettings, path, info.Size(), maxSettings)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	return decodeYAML(path, raw, into)
}

// unknownField begins what the decoder says of a key that no field has.
var unknownField = lazyregexp.New(`unknown field "([^"]+)"`)

// misspelt says which settings an unknown one may be, "" for other errors.
func misspelt(err error, into any) string {
	if m := unknownField.FindStringSubmatch(err.Error()); m != nil {
		if near := spelling.Near(m[1], keys(reflect.TypeOf(into)), 3); len(near) > 0 {
			return "\nDid you mean " + strings.Join(near, " or ") + "?"
		}
	}
	return ""
}

// keys are the names that a type has in YAML, those of nested ones too.
func keys(t reflect.Type) (names []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		field := t.Field(i)
		if name, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
		if field.Type != t {
			names = append(names, keys(field.Type)...)
		}
	}
	return names
}

// decodeYAML fills into from a file's content, strictly.
func decodeYAML(path string, raw []byte, into any) error {
	raw = bytes.TrimPrefix(raw, []byte("\ufeff")) // some editors begin a file with it
	// A file of comments alone is a null document, which would set every
	// default to its zero value.
	var document any
	if err := yaml.Unmarshal(raw, &document); err == nil && document == nil {
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw), yaml.Strict())
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%w: %s: %s%s", ErrSettings, path, goTypes.ReplaceAllString(yaml.FormatError(err, false, true), "$1 was used where $2 is expected"), misspelt(err, into))
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %s holds more than one document: what follows a line of --- would be ignored", ErrSettings, path)
	}
	return nil
}

// goTypes is how the decoder says that a value has another type than its setting.
var goTypes = lazyregexp.New(`cannot unmarshal (\S+) into Go (?:struct field \S+|value) of type (?:time\.)?(\S+)`)
