package verbs

import (
	"slices"
	"strings"
)

// secret are parts of the names of variables that hold what a command of an
// agent must not have.
var secret = []string{"KEY", "TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "AUTH", "COOKIE", "DSN", "PRIVATE"}

// running are variables that make programs run something else, or load it, beside
// those that begin with one of the prefixes in [Environment].
var running = strings.Fields(`BASH_ENV ENV ZDOTDIR SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND EDITOR VISUAL PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE
	SSH_ASKPASS PYTHONSTARTUP PYTHONPATH PYTHONHOME PERL5OPT PERL5LIB PERL5DB RUBYOPT RUBYLIB NODE_OPTIONS NODE_PATH JAVA_TOOL_OPTIONS
	JDK_JAVA_OPTIONS _JAVA_OPTIONS RUSTC_WRAPPER MAKEFLAGS MAKEFILES GNUMAKEFLAGS TAR_OPTIONS RSYNC_RSH`)

// Environment leaves out of the daemon's variables, in the form of os.Environ,
// what is Writ's own, what looks like a secret, and what makes programs run
// something else: what is left is for programs that agents start.
func Environment(vars []string) []string {
	return slices.DeleteFunc(slices.Clone(vars), func(v string) bool {
		name, value, _ := strings.Cut(strings.ToUpper(v), "=")
		switch {
		case strings.HasPrefix(name, "WRIT_"), strings.HasPrefix(name, "LD_"), strings.HasPrefix(name, "DYLD_"), strings.HasPrefix(name, "BASH_FUNC_"),
			strings.HasPrefix(name, "GIT_"), slices.Contains(running, name):
			return true
		case strings.Contains(value, "://") && strings.Contains(value, "@"):
			return true // an address with a password in it
		}
		return slices.ContainsFunc(secret, func(part string) bool { return strings.Contains(name, part) })
	})
}
