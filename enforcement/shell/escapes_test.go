package shell

import "testing"

// TestNoWriterPassesForAReader has ways to write a file that once passed for
// reading, and their harmless neighbours.
func TestNoWriterPassesForAReader(t *testing.T) {
	for command, writes := range map[string]bool{
		"GIT_TRACE2=$PWD/src/a.py git log -1":                  true,
		"GIT_TRACE2_EVENT=/p/src/a.py git status":              true,
		"env GIT_TRACE_SETUP=/p/src/a.py git status":           true,
		"export GIT_TRACE_PERFORMANCE=/p/src/a.py; git status": true,
		"GIT_TRACE=1 git status":                               false,
		"GIT_TRACE2=0 git status":                              false,
		"git reflog --output=src/a.py":                         true,
		"git stash list --output=src/a.py":                     true,
		"git stash show -p":                                    false,
		"git reflog":                                           false,
		"LD_DEBUG=libs LD_DEBUG_OUTPUT=$PWD/src/ld ls":         true,
		"LD_PROFILE=libc.so.6 LD_PROFILE_OUTPUT=$PWD/src ls":   true,
		"LD_DEBUG=libs ls":                                     false,
		"SSLKEYLOGFILE=src/a.py curl -s https://localhost":     true,
		"OPENSSL_CONF=/tmp/evil.cnf curl -s https://localhost": true,
		"CURL_HOME=/tmp/evil curl -s https://localhost":        true,
		"RIPGREP_CONFIG_PATH=/tmp/evil rg x":                   true,
		"LESSHISTFILE=src/a.py less Makefile":                  true,
		"LESSHISTFILE=/dev/null less Makefile":                 false,
		"gcc -xc -o src/a.py - <<< 'int main(){}'":             true,
		"gcc -fsyntax-only -Wl,-Map=src/a.py x.c":              true,
		"gcc -fsyntax-only x.c":                                false,
		"gcc -E -MF src/a.py x.c":                              true,
		"ulimit -c unlimited; kill -ABRT $$":                   true,
		"ulimit -Sc 100; kill -ABRT $$":                        true,
		"ulimit -c 0":                                          false,
		"ulimit -n 4096":                                       false,
		"ulimit -a":                                            false,
	} {
		r := Analyse(command, Env{Dir: "/p", Home: "/home/u", Project: "/p"})
		if got := r.Effect != ReadsOnly; got != writes {
			t.Errorf("%s: %s, %v", command, r.Effect, r.Reasons)
		}
	}
}
