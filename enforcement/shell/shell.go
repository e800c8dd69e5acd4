// Package shell answers one question about a command line that an agent wants
// to run: what does it write?
//
// It parses the line as bash (and as zsh where the two differ), follows
// redirections, pipelines, functions, variables, working folders and wrappers,
// and judges every simple command by a table of what each program writes. The
// answer is ReadsOnly, Writes with the paths, or CannotTell.
//
// Guarantees: no input panics; time, recursion and memory are bounded; nothing
// is read, run or looked up, so equal input gives equal output. A command that
// is not in the table is CannotTell, never ReadsOnly.
//
// It does not resolve symbolic links, does not know which files exist, does not
// read scripts that a command runs, and does not decide whether a write is
// allowed.
package shell

import (
	"cmp"
	"maps"
	"slices"
)

// Effect is what a command line does to files. The zero value is the careful
// answer.
type Effect int

const (
	// CannotTell means that code outside the command line decides, or that a
	// name is known only at run time.
	CannotTell Effect = iota
	// ReadsOnly means that no file changes, devices and the bit bucket apart.
	ReadsOnly
	// Writes means that Result.Paths, together with Result.GitMetadata, is all
	// that changes.
	Writes
)

// String returns "cannot_tell", "reads_only" or "writes".
func (e Effect) String() string {
	switch e {
	case ReadsOnly:
		return "reads_only"
	case Writes:
		return "writes"
	default:
		return "cannot_tell"
	}
}

// Env is the world in which the command line would run.
type Env struct {
	Dir     string            // absolute working folder
	Home    string            // absolute home folder
	Project string            // absolute project root; "" means Dir
	Vars    map[string]string // variables known to the caller; may be nil
	// Absent says of a folder in the project that it is not there; nil takes all for
	// there.
	Absent func(dir string) bool
}

// Result is the answer of Analyse.
type Result struct {
	Effect Effect
	// Paths are absolute, sorted and unique. Symbolic links are not resolved, and
	// so ".." stays where it stands. A folder stands for everything in it. When
	// Effect is CannotTell they are what could be found out, not all there is.
	Paths []string
	// Folders are those of Paths that are made as folders, and nothing else.
	Folders []string
	// Through are paths, of the same form, that are written through symbolic links
	// which the command line makes itself.
	Through []string
	// Gone are those of Paths that are deleted, moved away or closed with everything
	// in them.
	Gone []string
	// Copies are trees that the command line copies or moves with the symbolic
	// links in them: what is written at a place below To may go where a link at
	// the same place below From leads.
	Copies []Copy
	// Mentions are the paths, of the same form, that operands, redirections and
	// string literals of programs in the command refer to, read or written.
	Mentions []string
	// Patterns are mentions of which only a part is known: each "*" stands for
	// unknown text without a slash.
	Patterns []string
	// Trees are folders that are read with everything in them.
	Trees []string
	// Reasons has one entry per finding: first why the effect cannot be told,
	// then what is written, each in the order of the command line.
	Reasons []Reason
	// GitMetadata reports that git changes the repository's own data (add,
	// commit, tag, fetch …) and that nothing else changes. Paths is then empty;
	// configuration and hooks never count as metadata, they are in Paths.
	GitMetadata bool
	// Writ holds the calls of writ's own binary.
	Writ []WritCall
	// Unparsed says that a part of the command line does not parse, so that nobody
	// looked into it. A shell may run it all the same.
	Unparsed bool
	// Background says that something is started which the command line does not
	// wait for.
	Background bool
	// Elsewhere are acts that no kernel holds by holding this command line.
	Elsewhere []Elsewhere
	// Git are the acts of git that lose work, or lead around what is written in
	// the work tree, in the order of the command line.
	Git []GitAct
}

// Copy is a tree that got a second place.
type Copy struct{ From, To string }

// Reason says why a command is not a plain reader.
type Reason struct {
	Command string // the simple command, shortened
	Text    string // what was found, lower case, no full stop
}

// WritCall is one call of writ's own binary.
type WritCall struct {
	Args    []string // arguments after the program name; "" where unknown
	Dynamic bool     // an argument is known only at run time
}

const (
	maxSource   = 256 << 10 // bytes of one command line; longer ones are not parsed
	maxPlain    = 16 << 10  // bytes of it outside here-documents
	maxScanned  = 64 << 10  // bytes of other languages' code searched in all
	maxExpanded = 1500      // words that words expand to, in all
	maxDir      = 1024      // bytes of the name of a working folder
	maxMoves    = 100       // changes of the working folder
	maxParsed   = 1 << 20   // bytes parsed in all, nested scripts included
	maxNesting  = 500       // unclosed brackets, which the parser turns into recursion
	maxDepth    = 60        // nested commands, function calls and scripts
	maxSteps    = 4000      // statements judged, loop rounds included
	maxItems    = 100       // rounds of one loop that are followed one by one
	maxFields   = 512       // words one word may expand to
	maxValue    = 32 << 10  // bytes of one variable
	maxVars     = 256       // variables of one scope
	maxTraps    = 8         // traps followed
	maxFindings = 2048      // paths or mentions kept
	maxReasons  = 200       // reasons of each kind kept
)

// Analyse judges one command line, as a tool would hand it to a shell.
func Analyse(command string, env Env) (result Result) {
	defer func() {
		// The parser and the expander are foreign code that panics on some
		// inputs; a careful answer is better than a dead hook.
		if recover() != nil {
			result = Result{Reasons: []Reason{{Command: shorten(command), Text: "the command line is beyond the analyser"}}}
		}
	}()
	a := newAnalysis(env)
	a.source(command)
	a.typesUnseen(command)
	return a.result()
}

// analysis collects what is found while a command line is followed.
type analysis struct {
	env        Env
	paths      map[string]bool // whether a link of this name would be followed
	mentions   map[string]struct{}
	patterns   map[string]struct{}
	trees      map[string]struct{}
	found      []string // folders that are searched for names
	blind      bool     // a program is given names from somewhere
	folders    map[string]struct{}
	redirected []string            // files that the shell itself writes
	bound      map[string]bool     // variables that may not take a value as it is given
	foreign    map[string]bool     // variables with what stands in a file
	opened     map[string][]string // files opened for reading, by descriptor
	reopened   map[string]bool     // descriptors whose file is opened again, for writing
	gone       map[string]struct{}
	links      []link
	copies     []Copy
	doubts     []Reason // why the effect cannot be told
	reasons    []Reason // what is written
	writ       []WritCall
	programs   []string // base names of what is started, builtins included
	git        []GitAct
	elsewhere  []Elsewhere
	doubted    int // how often unsure was called
	background bool
	unparsed   bool
	opaque     bool // something cannot be told
	metadata   bool // git changes its own data
	steps      int
	depth      int
	parsed     int
	scanned    int
	expanded   int
	moves      int
}

func newAnalysis(env Env) *analysis {
	env.Dir = cmp.Or(env.Dir, "/")
	env.Project = cmp.Or(env.Project, env.Dir)
	return &analysis{
		env: env, paths: map[string]bool{}, mentions: map[string]struct{}{},
		patterns: map[string]struct{}{}, trees: map[string]struct{}{}, gone: map[string]struct{}{}, folders: map[string]struct{}{},
		bound: map[string]bool{}, foreign: map[string]bool{}, opened: map[string][]string{}, reopened: map[string]bool{},
	}
}

func (a *analysis) result() Result {
	a.reopen()
	a.throughSockets()
	through := a.followLinks()
	if a.blind {
		for _, dir := range a.found {
			a.trees[dir] = struct{}{}
		}
	}
	r := Result{
		Paths:      slices.Sorted(maps.Keys(a.paths)),
		Folders:    slices.Sorted(maps.Keys(a.folders)),
		Through:    through,
		Gone:       slices.Sorted(maps.Keys(a.gone)),
		Copies:     a.copies,
		Mentions:   slices.Sorted(maps.Keys(a.mentions)),
		Patterns:   slices.Sorted(maps.Keys(a.patterns)),
		Trees:      slices.Sorted(maps.Keys(a.trees)),
		Reasons:    slices.Concat(a.doubts, a.reasons),
		Writ:       a.writ,
		Git:        a.git,
		Elsewhere:  a.elsewhere,
		Background: a.background,
		Unparsed:   a.unparsed,
	}
	switch {
	case a.opaque:
		r.Effect = CannotTell
	case len(a.paths) > 0:
		r.Effect = Writes
	case a.metadata:
		r.Effect, r.GitMetadata = Writes, true
	default:
		r.Effect = ReadsOnly
	}
	return r
}

// unsure records that the result cannot be told, and why.
func (a *analysis) unsure(command, text string) {
	a.opaque = true
	a.doubted++
	a.doubts = appendReason(a.doubts, command, text)
}

// reason records what is written.
func (a *analysis) reason(command, text string) {
	a.reasons = appendReason(a.reasons, command, text)
}

func appendReason(reasons []Reason, command, text string) []Reason {
	r := Reason{Command: shorten(holesShown.Replace(command)), Text: text}
	if len(reasons) >= maxReasons || slices.Contains(reasons, r) {
		return reasons
	}
	return append(reasons, r)
}

// exhausted reports that the budget of statements is used up; the rest is then not
// judged, so the result cannot be told.
func (a *analysis) exhausted() bool {
	if a.steps < maxSteps {
		a.steps++
		return false
	}
	if a.steps == maxSteps {
		a.steps++
		a.unsure("", "the command line has too many steps to follow")
	}
	return true
}

// enter opens one level of nesting; it reports false where there are too many.
func (a *analysis) enter() bool {
	if a.depth >= maxDepth {
		a.unsure("", "the command line is nested too deeply to follow")
		return false
	}
	a.depth++
	return true
}

func (a *analysis) leave() { a.depth-- }

// maxShown is the length of a command in a reason, in characters.
const maxShown = 100

func shorten(s string) string {
	runes := 0
	for i, r := range s {
		if r == '\n' || runes == maxShown {
			return s[:i] + " …"
		}
		runes++
	}
	return s
}
