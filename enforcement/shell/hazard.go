package shell

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// hazardKind says what an environment variable does to a program.
type hazardKind int

const (
	loadsCode   hazardKind = iota // code or configuration is loaded: cannot tell
	runsCommand                   // the value is a command line the program may run
	searchPath                    // a list of folders in which programs are found
)

// hazardous is an environment variable that turns a safe program into another
// one. programs are the ones it acts on; none means every program.
type hazardous struct {
	kind     hazardKind
	programs []string
}

var (
	gitOnly   = []string{"git"}
	nodeOnly  = []string{"node", "npm", "npx", "yarn", "pnpm", "tsc", "eslint", "prettier", "bun", "deno", "corepack"}
	shellOnly = []string{"bash", "sh", "dash", "ksh", "zsh", "ash"}
	pyOnly    = []string{"python", "python3", "pip", "pip3", "pytest", "black", "ruff", "mypy", "poetry", "uv"}
	rubyOnly  = []string{"ruby", "gem", "bundle", "rake", "irb"}
	editing   = []string{"git", "crontab", "sudoedit", "visudo", "hg", "svn", "gh", "kubectl", "psql", "systemctl"}
	paging    = []string{"man", "gh", "systemctl", "journalctl", "psql", "bat", "aws"}
)

var hazardTable = map[string]hazardous{
	"PATH":                  {kind: searchPath},
	"BASH_ENV":              {programs: shellOnly},
	"ENV":                   {programs: shellOnly},
	"ZDOTDIR":               {programs: shellOnly},
	"SHELLOPTS":             {programs: shellOnly},
	"BASHOPTS":              {programs: shellOnly},
	"PS4":                   {programs: shellOnly},
	"LD_PRELOAD":            {},
	"LD_LIBRARY_PATH":       {},
	"LD_AUDIT":              {},
	"LD_DEBUG_OUTPUT":       {},
	"LD_PROFILE":            {},
	"LD_PROFILE_OUTPUT":     {},
	"MALLOC_TRACE":          {},
	"GCOV_PREFIX":           {},
	"LLVM_PROFILE_FILE":     {},
	"OPENSSL_CONF":          {},
	"OPENSSL_MODULES":       {},
	"OPENSSL_ENGINES":       {},
	"SSLKEYLOGFILE":         {},
	"CURL_HOME":             {programs: []string{"curl"}},
	"WGETRC":                {programs: []string{"wget"}},
	"RIPGREP_CONFIG_PATH":   {programs: []string{"rg"}},
	"BAT_CONFIG_PATH":       {programs: []string{"bat"}},
	"LESSHISTFILE":          {programs: []string{"less", "man", "git"}},
	"LESSKEY":               {programs: []string{"less", "man", "git"}},
	"NODE_V8_COVERAGE":      {programs: nodeOnly},
	"NODE_COMPILE_CACHE":    {programs: nodeOnly},
	"PYTHONPYCACHEPREFIX":   {programs: pyOnly},
	"DYLD_INSERT_LIBRARIES": {},
	"DYLD_LIBRARY_PATH":     {},
	"GCONV_PATH":            {},
	"PERL5OPT":              {programs: []string{"perl"}},
	"PERL5LIB":              {programs: []string{"perl"}},
	"PERL5DB":               {programs: []string{"perl"}},
	"PERLLIB":               {programs: []string{"perl"}},
	"NODE_OPTIONS":          {programs: nodeOnly},
	"NODE_PATH":             {programs: nodeOnly},
	"PYTHONPATH":            {programs: pyOnly},
	"PYTHONHOME":            {programs: pyOnly},
	"PYTHONSTARTUP":         {programs: pyOnly},
	"RUBYOPT":               {programs: rubyOnly},
	"RUBYLIB":               {programs: rubyOnly},
	"JAVA_TOOL_OPTIONS":     {programs: []string{"java", "javac", "jar", "mvn", "gradle"}},
	"GOFLAGS":               {programs: []string{"go"}},
	"GOTOOLCHAIN":           {programs: []string{"go"}},
	"GOENV":                 {programs: []string{"go"}},
	"RUSTC_WRAPPER":         {programs: []string{"cargo"}},
	"RUSTC":                 {programs: []string{"cargo"}},
	"MAKEFLAGS":             {programs: []string{"make", "gmake"}},
	"TAR_OPTIONS":           {programs: []string{"tar", "gtar", "bsdtar"}},
	"RSYNC_RSH":             {kind: runsCommand, programs: []string{"rsync"}},
	"LESSOPEN":              {kind: runsCommand, programs: []string{"less", "zless", "man", "git"}},
	"LESSCLOSE":             {kind: runsCommand, programs: []string{"less", "zless", "man", "git"}},
	"PAGER":                 {kind: runsCommand, programs: paging},
	"MANPAGER":              {kind: runsCommand, programs: []string{"man"}},
	"GH_PAGER":              {kind: runsCommand, programs: []string{"gh"}},
	"EDITOR":                {kind: runsCommand, programs: editing},
	"VISUAL":                {kind: runsCommand, programs: editing},
	"FCEDIT":                {kind: runsCommand, programs: editing},
	"HOME":                  {programs: append([]string{"npm", "cargo", "vim", "ssh"}, gitOnly...)},
	"XDG_CONFIG_HOME":       {programs: gitOnly},
	"GIT_EDITOR":            {kind: runsCommand, programs: gitOnly},
	"GIT_SEQUENCE_EDITOR":   {kind: runsCommand, programs: gitOnly},
	"GIT_EXTERNAL_DIFF":     {kind: runsCommand, programs: gitOnly},
	"GIT_SSH":               {kind: runsCommand, programs: gitOnly},
	"GIT_SSH_COMMAND":       {kind: runsCommand, programs: gitOnly},
	"GIT_ASKPASS":           {kind: runsCommand, programs: gitOnly},
	"SSH_ASKPASS":           {kind: runsCommand, programs: append([]string{"ssh", "scp"}, gitOnly...)},
	"GIT_PROXY_COMMAND":     {kind: runsCommand, programs: gitOnly},
	"GIT_EXEC_PATH":         {programs: gitOnly},
	"GIT_TEMPLATE_DIR":      {programs: gitOnly},
	"GIT_DIR":               {programs: gitOnly},
	"GIT_WORK_TREE":         {programs: gitOnly},
	"GIT_INDEX_FILE":        {programs: gitOnly},
	"GIT_OBJECT_DIRECTORY":  {programs: gitOnly},
	"GIT_TRACE":             {programs: gitOnly},
	"GIT_CONFIG":            {programs: gitOnly},
	"GIT_CONFIG_GLOBAL":     {programs: gitOnly},
	"GIT_CONFIG_SYSTEM":     {programs: gitOnly},
	"GIT_CONFIG_COUNT":      {programs: gitOnly},
	"GIT_CONFIG_PARAMETERS": {programs: gitOnly},
}

// hazardOf finds a variable in the table. Git has a dozen of one family, each of
// which names a file to write.
func hazardOf(name string) (h hazardous, ok bool) {
	if strings.HasPrefix(name, "GIT_TRACE") {
		name = "GIT_TRACE"
	}
	h, ok = hazardTable[name]
	return h, ok
}

// hazard notes an assignment to a variable of the table. Values that switch a
// feature off are no hazard.
func (sh *shell) hazard(name string, value arg) {
	h, ok := hazardOf(name)
	if !ok {
		return
	}
	if name == "PS4" {
		if strings.ContainsAny(value.val, "$`") || !value.known {
			sh.a.unsure(name, "a trace prompt that runs what is in it")
		}
		return
	}
	delete(sh.env, name)
	switch {
	case value.known && (value.val == "" || value.val == "/dev/null"):
		return
	case strings.HasPrefix(name, "GIT_TRACE") && value.known && !strings.Contains(value.val, "/"):
		return
	case name == "GOFLAGS" && value.known && !strings.Contains(value.val, "exec") && !strings.Contains(value.val, "-o"):
		return
	case name == "GOTOOLCHAIN" && value.known && !strings.Contains(value.val, "path"):
		return
	case name == "HOME" && value.known && value.val == sh.a.env.Home:
		return
	case name == "NODE_OPTIONS" && value.known && strings.HasPrefix(value.val, "--max-old-space-size") && !strings.Contains(value.val, " "):
		return
	case h.kind == searchPath && sh.trustedPath(value):
		return
	}
	sh.env[name] = value
}

// trustedPath reports a search path on which every folder before the usual ones
// holds installed programs.
func (sh *shell) trustedPath(value arg) bool {
	system := false
	for dir := range strings.SplitSeq(value.val, ":") {
		if sh.trustedFolder(dir) {
			system = system || path.Clean(dir) == "/usr/bin" || path.Clean(dir) == "/bin"
			continue
		}
		// Folders after the usual ones cannot take the place of a usual program.
		if !system {
			return false
		}
	}
	return true
}

// hazards judges the variables that act on the program about to run.
func (sh *shell) hazards(c *call, line string) {
	for _, name := range slices.Sorted(maps.Keys(sh.env)) {
		value := sh.env[name]
		h, _ := hazardOf(name)
		if len(h.programs) > 0 && !slices.Contains(h.programs, c.name) {
			continue
		}
		if h.kind != runsCommand {
			sh.a.unsure(line, "the variable "+name+" changes what the program does")
			continue
		}
		words, simple := []arg(nil), false
		if value.known {
			words, simple = sh.fork().split(value.val)
		}
		if !simple || len(words) == 0 {
			sh.a.unsure(line, "the variable "+name+" is a command line")
			c.text(value)
			continue
		}
		// The program adds the file to edit or compare.
		if _, harmless := harmlessEditors[words[0].val]; !harmless || strings.Contains(value.val, "Command") {
			sh.fork().exec(append(words, arg{val: string(hole)}))
		}
	}
}

// harmlessEditors leave the file that an editor or pager is given as it is.
var harmlessEditors = map[string]struct{}{"true": {}, ":": {}, "cat": {}, "less": {}, "more": {}, "false": {}, "echo": {}, "ssh": {}, "delta": {}, "bat": {}}
