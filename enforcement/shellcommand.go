package enforcement

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/owncommand"
	"github.com/writbus/writ/enforcement/shell"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/glob"
)

// Effects of a shell command, as events record them (persisted; never change).
const (
	EffectReads      = "reads_only"
	EffectWrites     = "writes"
	EffectCannotTell = "cannot_tell"
)

// ShellCommand is a command line with what it does, as Inspect found out.
type ShellCommand struct {
	Text    string
	Effect  string           // one of the effects above
	Targets []schemas.Target // what it writes
	Private []string         // paths of Writ's own data that it refers to
	Why     string           // why the effect cannot be told, "" otherwise
	Writ    []WritCall       // its calls of writ itself
	Git     []GitAct         // what it does to branches, history and uncommitted work
	// Plain says that it only reads, and is written so that no shell reads it in
	// another way than it was read here.
	Plain bool
	// Doubtful says that shells are known to read a form that it has otherwise than
	// it was read here: where no kernel holds it, its effect cannot be told.
	Doubtful bool
	// KeepsGitData says that git is part of it, and that all it does is known.
	KeepsGitData bool
	// Elsewhere are acts that other processes do, and that no hold of this command
	// reaches.
	Elsewhere []shell.Elsewhere
	// Background says that it starts what goes on after it.
	Background bool
	project    string
}

// WritCall is one call of writ's own binary in a command line.
type WritCall struct {
	Args    []string // after the program name
	Dynamic bool     // an argument is known only when it runs
}

// Inspect analyses a command line that would run in dir, with the variables
// vars, and resolves the paths it writes through readlink (see Resolve).
func Inspect(l Layout, dir, command string, vars map[string]string, readlink func(string) (string, bool)) *ShellCommand {
	if _, set := vars[dataDirVariable]; !set {
		vars = maps.Clone(vars)
		if vars == nil {
			vars = map[string]string{}
		}
		vars[dataDirVariable] = l.DataDir
	}
	at := resolver{dir: Resolve(dir, "/", l.Home, readlink), home: l.Home}
	at.readlink = LinksFrom(at.dir, readlink)
	r := shell.Analyse(command, shell.Env{Dir: at.dir, Home: l.Home, Project: l.Project, Vars: vars, Absent: l.Absent})
	c := &ShellCommand{
		Text: command, Effect: r.Effect.String(), Git: at.gitActs(l, r.Git), project: l.Project, Background: r.Background, Elsewhere: r.Elsewhere,
		Plain: r.Effect == shell.ReadsOnly && shell.Plain(command) && !at.strays(l, command), Doubtful: shell.Doubtful(command),
		KeepsGitData: r.Effect != shell.CannotTell && slices.ContainsFunc(shell.Runs(command), func(run shell.Run) bool { return run.Words[0] == "git" }),
	}
	for _, p := range slices.Concat(r.Paths, r.Through) {
		t := Classify(l, at.real(p))
		if t.Class == ClassCode && slices.Contains(r.Folders, p) {
			// Tests need folders, and an empty one holds no code.
			t.Class = ClassTest
		}
		c.add(t)
		// Deleting or replacing a link changes the link, not its target.
		if place, ok := at.place(p); ok && place != t.Path {
			c.add(Classify(l, place))
		}
		for _, real := range at.copied(p, r.Copies) {
			c.add(Classify(l, real))
		}
	}
	for _, p := range r.Gone {
		// What guards the project goes with any folder around it.
		guard := path.Join(l.Project, guardFolder)
		if _, around := within(at.real(p), guard, l.CaseInsensitive); around && l.Project != "" {
			c.add(Classify(l, guard))
		}
	}
	c.Private = at.private(l, r)
	if r.Unparsed && c.Effect != EffectCannotTell {
		c.Effect, c.Why = EffectCannotTell, "a part of the command line does not parse"
	}
	if r.Effect == shell.CannotTell && len(r.Reasons) > 0 {
		c.Why = r.Reasons[0].Text
		if r.Reasons[0].Command != "" {
			c.Why = r.Reasons[0].Command + ": " + c.Why
		}
	}
	for _, w := range r.Writ {
		c.Writ = append(c.Writ, WritCall{Args: w.Args, Dynamic: w.Dynamic})
	}
	return c
}

// PlainCommands are the commands of a line of plain words, each with its words;
// none for another line.
func PlainCommands(line string) [][]string {
	commands, _ := shell.PlainWords(line)
	return commands
}

// PlainReads reports whether a command of a plain line may read what is in files.
func PlainReads(line string) bool { return slices.ContainsFunc(PlainCommands(line), shell.ReadsFiles) }

// PlainWrit reports whether a call of writ, without the name, is a plain line.
func PlainWrit(arguments string) bool { return shell.Plain("writ " + arguments) }

// processFolder is where a process shows its root or its working folder.
var processFolder = regexp.MustCompile(`^/proc/(self|thread-self|\d+)(?:/task/\d+)?/(root|cwd)$`)

// LinksFrom follows links as a process in a folder would: those that lead to itself
// lead there to its own root and working folder, and to its own descriptors, which
// nobody else knows. So do those of a process that is not shown.
func LinksFrom(dir string, readlink func(string) (string, bool)) func(string) (string, bool) {
	if readlink == nil {
		return nil
	}
	return func(p string) (string, bool) {
		if !strings.HasPrefix(p, "/proc/") {
			return readlink(p)
		}
		of := processFolder.FindStringSubmatch(p)
		if own := strings.HasPrefix(p, "/proc/self") || strings.HasPrefix(p, "/proc/thread-self"); !own {
			if target, ok := readlink(p); ok || of == nil {
				return target, ok
			}
		}
		switch {
		case of == nil:
			return "", false
		case of[2] == "root":
			return "/", true
		}
		return dir, true
	}
}

// steadyFolders are those that no agent writes, and in which nothing leads to Writ's
// data that an agent laid.
var steadyFolders = []string{"/bin", "/boot", "/dev/null", "/etc", "/lib", "/lib32", "/lib64", "/nix/store", "/opt", "/sbin", "/sys", "/usr", "/var/lib", "/var/log"}

// kernelFile is what the kernel tells of the system as a whole.
var kernelFile = regexp.MustCompile(`^/proc/[a-z]+$`)

// strays reports a plain line of which a word may name a file outside of the project
// and the system's own folders: in the home, in temp folders and caches, commands lay
// links, and what a name led to when it was judged it need not lead to when the line
// runs. Held, it reads nothing that is hidden, wherever it leads.
func (r resolver) strays(l Layout, line string) bool {
	dirs := []string{r.dir}
	for _, words := range PlainCommands(line) {
		if words[0] != "cd" && !shell.ReadsFiles(words) && !strings.HasSuffix(words[0], "compose") && (len(words) < 2 || words[1] != "compose") {
			continue // compose reads what stands in its folder
		}
		for _, word := range words[1:] {
			_, value, _ := strings.Cut(word, "=")
			for _, dir := range dirs[:len(dirs):len(dirs)] {
				if words[0] == "cd" {
					// A shell takes a name and ".." for nothing, also where the name is a link.
					for _, to := range []string{word, Resolve(word, dir, r.home, nil)} {
						dirs = append(dirs, Resolve(to, dir, r.home, r.readlink))
					}
				} else if r.away(l, dir, word) || r.away(l, dir, strings.TrimPrefix(value, "@")) {
					return true
				}
			}
		}
		slices.Sort(dirs)
		if dirs = slices.Compact(dirs); len(dirs) > maxStray {
			return true
		}
	}
	return false
}

// maxStray bounds the folders in which words are looked at.
const maxStray = 16

// away says that a word, taken for a path as it is written or as its links lead, lies
// outside of the project and the system's own folders.
func (r resolver) away(l Layout, dir, word string) bool {
	if word == "" {
		return false
	}
	for _, readlink := range []func(string) (string, bool){nil, r.readlink} {
		at := Resolve(strings.TrimPrefix(word, "@"), dir, r.home, readlink)
		_, own := within(l.Project, at, l.CaseInsensitive)
		if !own && !kernelFile.MatchString(at) && !slices.ContainsFunc(steadyFolders, func(folder string) bool {
			_, system := within(folder, at, false)
			return system
		}) {
			return true
		}
	}
	return false
}

// guardFolder is the folder of a project, relative to its root, that says that
// Writ guards it.
const guardFolder = ".writ"

// dataDirVariable is the variable by which Writ's own data is found.
const dataDirVariable = "WRIT_HOME"

// resolver resolves paths as the system would, for a command line in a folder.
type resolver struct {
	dir, home string
	readlink  func(string) (string, bool)
}

func (r resolver) real(p string) string { return Resolve(p, r.dir, r.home, r.readlink) }

// place is where a name stands, its own link not followed; ok is false for what
// is no name in a folder.
func (r resolver) place(p string) (place string, ok bool) {
	slash := strings.LastIndexByte(p, '/')
	name := p[slash+1:]
	if slash < 0 || name == "" || name == "." || name == ".." {
		return "", false
	}
	return path.Join(r.real(p[:slash+1]), name), true
}

// copied are the targets of links that the command line copies or moves to
// where it writes: the links still stand at their old places.
func (r resolver) copied(p string, copies []shell.Copy) []string {
	var reached []string
	for _, c := range copies {
		rest, below := strings.CutPrefix(p, c.To)
		if !below || rest != "" && rest[0] != '/' {
			continue
		}
		plain, ok := r.place(c.From)
		if real := r.real(c.From + rest); ok && real != path.Clean(plain+rest) {
			reached = append(reached, real)
		}
	}
	return reached
}

// private lists what a command line would read of Writ's own data: by name, by
// a pattern that matches it, or with a folder around it.
func (r resolver) private(l Layout, found shell.Result) []string {
	var private []string
	add := func(p string) {
		if !slices.Contains(private, p) {
			private = append(private, p)
		}
	}
	for _, p := range found.Mentions {
		if abs := r.real(p); l.InData(abs) || memoryImage.MatchString(abs) {
			add(abs)
		}
	}
	for _, p := range found.Patterns {
		if memoryImage.MatchString(r.pattern(p)) {
			add("/proc")
		}
		if reaches(r.pattern(p), l.DataDir, l.CaseInsensitive) {
			add(l.DataDir)
		}
	}
	for _, p := range found.Trees {
		if _, above := within(r.real(p), l.DataDir, l.CaseInsensitive); above {
			add(l.DataDir)
		}
	}
	return private
}

// memoryImage is the memory of a process, Writ's own among them, or of the
// system: credentials lie open in it.
var memoryImage = regexp.MustCompile(`^/proc/([^/]+/)*(mem|kcore)$|^/dev/k?mem$`)

// pattern resolves what a pattern is sure of: the folders before its first
// unknown part. Behind it, a name and ".." cancel each other.
func (r resolver) pattern(p string) string {
	star := strings.IndexByte(p, '*')
	if star < 0 {
		return r.real(p)
	}
	slash := strings.LastIndexByte(p[:star], '/') + 1
	return path.Join(r.real(p[:slash]), p[slash:])
}

// reaches reports whether a pattern, in which "*" stands for unknown text, may
// name root or something below it. One that names only folders above root does not.
func reaches(pattern, root string, fold bool) bool {
	if fold {
		pattern, root = strings.ToLower(pattern), strings.ToLower(root)
	}
	parts := strings.Split(strings.Trim(pattern, "/"), "/")
	names := strings.Split(strings.Trim(root, "/"), "/")
	for i, name := range names {
		if i == len(parts) || !glob.Text(parts[i], name) {
			return false
		}
	}
	return root != ""
}

func (c *ShellCommand) add(t schemas.Target) {
	if !slices.ContainsFunc(c.Targets, func(have schemas.Target) bool { return have.Path == t.Path }) {
		c.Targets = append(c.Targets, t)
	}
}

// writCalls judges all calls of writ in a command line.
func (st stance) writCalls(calls []WritCall, set Settings) ruling {
	worst := allowed
	for _, w := range calls {
		if w.asksForHelp() {
			continue
		}
		for _, words := range w.readings() {
			if r := st.writCall(w, words, set); worse(r, worst) {
				worst = r
			}
		}
	}
	return worst
}

// writCall judges a call by one reading of its words: what is not an agent's by
// the table of Writ's commands is refused, whether it is known or not.
func (st stance) writCall(w WritCall, words []string, set Settings) ruling {
	command, side, _ := owncommand.Of(words)
	switch {
	case w.Dynamic && (command == "" || owncommand.Group(command)):
		return ruling{rule: RuleProtected, text: textWrit("a command named only at run time")}
	case side != owncommand.Agent:
		return ruling{rule: RuleProtected, text: textWrit(command)}
	case command == "mode set":
		return st.modeCall(w, word(words, 2), set)
	}
	return allowed
}

// modeCall judges a change of mode before it is asked for: at a terminal that an
// agent made for itself the command would act as the user.
func (st stance) modeCall(w WritCall, mode string, set Settings) ruling {
	if !knownMode(mode) {
		if w.Dynamic {
			return ruling{rule: RuleProtected, text: textWrit("mode set, to a mode named only at run time,")}
		}
		return allowed // writ itself refuses what is no mode
	}
	c := SetMode{Mode: mode, Orchestrator: slices.Contains(w.Args, "--orchestrator"), Settings: set}
	if slices.ContainsFunc(w.Args, func(a string) bool { return strings.HasPrefix(a, "--repro") }) {
		c.Repro = []string{"PATH"}
	}
	if refusal := c.refusal(st.State); refusal != "" {
		return ruling{rule: RuleMode, gate: "mode", text: wording{why: refusal}, firm: true}
	}
	return allowed
}

// asksForHelp says that a call prints its help: of all options, no other is there
// that could take the word for its value.
func (w WritCall) asksForHelp() bool {
	asked := false
	for _, a := range w.Args {
		switch {
		case a == "--help" || a == "-h":
			asked = true
		case strings.HasPrefix(a, "-"):
			return false
		}
	}
	return asked && !w.Dynamic && word(w.Args, 0) != "confine" && word(w.Args, 0) != "hook"
}

// readings are the words of a call that may be its command: all that are no
// options, and those without the words that may be options' values. Of the options
// that may stand before a command's last word, --json takes no value and --session
// does.
func (w WritCall) readings() [][]string {
	var all, without []string
	value := false
	for i, a := range w.Args {
		if strings.HasPrefix(a, "-") {
			value = !strings.Contains(a, "=") && a != "--json" && a != "--"
			continue
		}
		if i > 0 && w.Args[i-1] == "--session" {
			value = false
			continue
		}
		all = append(all, a)
		if !value {
			without = append(without, a)
		}
		value = false
	}
	if slices.Equal(all, without) {
		return [][]string{all}
	}
	return [][]string{all, without}
}

// word is the i-th word, "" where there are fewer.
func word(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}
