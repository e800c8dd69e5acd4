package confine

import "testing"

// TestWhatAHostHasItsShellDoBefore is found in its script, and nothing is taken for
// it that is part of a command.
func TestWhatAHostHasItsShellDoBefore(t *testing.T) {
	for script, want := range map[string]string{
		`source /h/s.sh 2>/dev/null || true && shopt -u extglob && eval '/w/writ confine --data /d -c '"'"'ls'"'"'' < /dev/null && pwd -P`: "source /h/s.sh 2>/dev/null || true && shopt -u extglob",
		`eval '/w/writ confine --data /d -c ls'`:                       "",
		`/w/writ confine --data /d -c 'eval "$x"'`:                     "",
		`source /h/s.sh && eval 'ls'`:                                  "",
		"shopt -s x\neval 'cd src && /w/writ confine --data /d -c ls'": "shopt -s x",
	} {
		if got := preparation([]byte(script)); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}
