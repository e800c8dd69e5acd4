package shell

import (
	"maps"
	"path"
	"regexp"
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
	goTools   = []string{"go", "gofmt", "golangci-lint", "staticcheck", "govulncheck", "errcheck", "deadcode", "nilaway"}
	paging    = []string{"man", "git", "gh", "systemctl", "journalctl", "psql", "bat", "aws"}
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
	"GOROOT":                {programs: goTools},
	"GOTOOLDIR":             {programs: goTools},
	"GOMODCACHE":            {programs: goTools},
	"GOCACHE":               {programs: goTools},
	"GOCACHEPROG":           {programs: goTools},
	"GOPATH":                {programs: goTools},
	"GOBIN":                 {programs: goTools},
	"GOTMPDIR":              {programs: goTools},
	"GOPACKAGESDRIVER":      {programs: goTools},
	"CC":                    {programs: goTools},
	"CXX":                   {programs: goTools},
	"FC":                    {programs: goTools},
	"AR":                    {programs: goTools},
	"PKG_CONFIG":            {programs: goTools},
	"LESS":                  {programs: []string{"less", "man", "git", "zless", "bat", "systemctl", "journalctl"}},
	"MANOPT":                {programs: []string{"man"}},
	"BROWSER":               {kind: runsCommand, programs: []string{"man", "gh", "npm"}},
	"TAPE":                  {programs: []string{"tar", "gtar", "bsdtar"}},
	"ZIPOPT":                {programs: []string{"zip"}},
	"ZIP":                   {programs: []string{"zip"}},
	"UNZIP":                 {programs: []string{"unzip"}},
	"RSYNC_CONNECT_PROG":    {kind: runsCommand, programs: []string{"rsync"}},
	"MAKEFILES":             {programs: []string{"make", "gmake"}},
	"GNUMAKEFLAGS":          {programs: []string{"make", "gmake"}},
	"FFREPORT":              {programs: []string{"ffprobe", "ffmpeg"}},
	"GIT_PAGER":             {kind: runsCommand, programs: gitOnly},
	"DELTA_PAGER":           {kind: runsCommand, programs: []string{"delta", "git"}},
	"BAT_PAGER":             {kind: runsCommand, programs: []string{"bat", "batcat"}},
	"MANROFFOPT":            {programs: []string{"man"}},
	"AWS_PAGER":             {kind: runsCommand, programs: []string{"aws"}},
	"GH_EDITOR":             {kind: runsCommand, programs: []string{"gh"}},
	"KUBECTL_EXTERNAL_DIFF": {kind: runsCommand, programs: []string{"kubectl"}},
	"KUBE_EDITOR":           {kind: runsCommand, programs: []string{"kubectl"}},
	"SYSTEMD_PAGER":         {kind: runsCommand, programs: []string{"systemctl", "journalctl"}},
	"SYSTEMD_EDITOR":        {kind: runsCommand, programs: []string{"systemctl"}},
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

// families are the variables of one program, by their common beginning: every
// one of them counts, but those that are known to name neither files nor
// programs.
var families = []struct {
	prefix   string
	programs []string
	safe     map[string]bool
}{
	{"GIT_", gitOnly, setOf(`GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE
		GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_CONFIG_NOSYSTEM GIT_MERGE_AUTOEDIT GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS
		GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS GIT_LFS_SKIP_SMUDGE GIT_DISCOVERY_ACROSS_FILESYSTEM GIT_CEILING_DIRECTORIES GIT_FLUSH
		GIT_CURL_VERBOSE GIT_SSL_NO_VERIFY GIT_HTTP_LOW_SPEED_LIMIT GIT_HTTP_LOW_SPEED_TIME GIT_DIFF_OPTS GIT_REFLOG_ACTION
		GIT_SSH_VARIANT GIT_ADVICE GIT_DEFAULT_HASH GIT_PAGER_IN_USE GIT_PRINT_SHA1_ELLIPSIS GIT_NO_LAZY_FETCH GIT_NO_REPLACE_OBJECTS`)},
	{"npm_config_", nodeOnly, nil},
	{"NPM_CONFIG_", nodeOnly, nil},
	{"YARN_", nodeOnly, nil},
	{"PIP_", pyOnly, setOf("PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_INPUT PIP_NO_COLOR PIP_QUIET PIP_VERBOSE PIP_DEFAULT_TIMEOUT PIP_RETRIES")},
	{"CARGO", []string{"cargo"}, setOf("CARGO_TERM_COLOR CARGO_NET_OFFLINE CARGO_INCREMENTAL CARGO_TERM_VERBOSE CARGO_TERM_QUIET CARGO_TERM_PROGRESS_WHEN")},
	{"RUST", []string{"cargo", "rustfmt", "rustc", "rustup"}, setOf("RUST_BACKTRACE RUST_LOG RUST_TEST_THREADS RUSTFLAGS")},
	{"TF_", []string{"terraform", "tofu", "terragrunt"}, setOf("TF_LOG TF_INPUT TF_IN_AUTOMATION TF_WORKSPACE")},
	{"AWS_", []string{"aws"}, setOf(`AWS_PROFILE AWS_DEFAULT_PROFILE AWS_REGION AWS_DEFAULT_REGION AWS_DEFAULT_OUTPUT AWS_ACCESS_KEY_ID
		AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_MAX_ATTEMPTS AWS_RETRY_MODE AWS_ENDPOINT_URL AWS_STS_REGIONAL_ENDPOINTS`)},
	{"DOCKER_", []string{"docker", "docker-compose", "podman"}, setOf("DOCKER_BUILDKIT DOCKER_CLI_HINTS DOCKER_DEFAULT_PLATFORM DOCKER_CONTEXT DOCKER_TLS_VERIFY DOCKER_API_VERSION")},
	{"KUBE", []string{"kubectl", "oc", "k", "helm"}, nil},
	{"HELM_", []string{"helm"}, setOf("HELM_NAMESPACE HELM_DEBUG HELM_MAX_HISTORY HELM_KUBECONTEXT")},
	{"GH_", []string{"gh"}, setOf("GH_TOKEN GH_HOST GH_REPO GH_PROMPT_DISABLED GH_NO_UPDATE_NOTIFIER GH_FORCE_TTY GH_DEBUG GH_ENTERPRISE_TOKEN GH_SPINNER_DISABLED")},
	{"FZF_", []string{"fzf", "sk"}, nil},
	{"BAT_", []string{"bat", "batcat"}, setOf("BAT_THEME BAT_STYLE BAT_TABSTOP")},
	{"ACK", []string{"ack"}, nil},
	{"SYSTEMD_", []string{"systemctl", "journalctl"}, setOf("SYSTEMD_COLORS SYSTEMD_LESS SYSTEMD_URLIFY SYSTEMD_PAGERSECURE")},
}

// hazardOf finds a variable in the table, or in a family.
func hazardOf(name string) (h hazardous, ok bool) {
	if h, ok = hazardTable[name]; ok {
		return h, true
	}
	for _, f := range families {
		if strings.HasPrefix(name, f.prefix) {
			safe := f.safe[name] || f.prefix == "TF_" && strings.HasPrefix(name, "TF_VAR_")
			return hazardous{programs: f.programs}, !safe
		}
	}
	return hazardous{}, false
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
	case name == "GOFLAGS" && value.known && plainGoFlags.MatchString(value.val):
		return
	case name == "LESS" && value.known && !strings.ContainsAny(value.val, "+oOkK"):
		return
	case (name == "GOCACHE" || name == "GOMODCACHE" || name == "GOTMPDIR" || name == "GOPATH") && value.known && sh.caches(value.val):
		return
	case name == "CC" && value.known && (value.val == "gcc" || value.val == "clang" || value.val == "cc"),
		name == "CXX" && value.known && (value.val == "g++" || value.val == "clang++" || value.val == "c++"):
		return
	case name == "KUBECONFIG" && value.known && sh.trustedFile(value.val):
		return
	case strings.EqualFold(name, "npm_config_yes") || strings.EqualFold(name, "npm_config_loglevel") || strings.EqualFold(name, "npm_config_fund") || strings.EqualFold(name, "npm_config_audit"):
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

// plainGoFlags are settings of the go command that neither run a program nor
// write a file.
var plainGoFlags = regexp.MustCompile(`^(?:\s*--?(?:mod=(?:vendor|readonly)|tags=[\w,.]*|trimpath|buildvcs=\w+|count=\d+|race|v|x|p=\d+|short|timeout=\w+|parallel=\d+|json|buildmode=\w+|insecure)(?:=true|=false)?\s*)*$`)

// caches reports a folder outside the project for what is kept between builds.
func (sh *shell) caches(dir string) bool {
	return dir == "off" || strings.HasPrefix(dir, "/") && !upwards(dir) && !inside(path.Clean(dir), sh.a.env.Project) && sh.temporary(dir)
}

// trustedFile reports a file outside the project and the scratch folders.
func (sh *shell) trustedFile(name string) bool {
	paths, ok := sh.resolve(name)
	return ok && len(paths) == 1 && !upwards(paths[0]) && sh.trustedFolder(path.Dir(paths[0]))
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
var harmlessEditors = map[string]struct{}{"true": {}, ":": {}, "cat": {}, "less": {}, "more": {}, "false": {}, "echo": {}, "ssh": {}, "delta": {}}
