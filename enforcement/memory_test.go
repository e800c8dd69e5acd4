package enforcement

import "testing"

// TestMemoryOfProcessesIsNotRead: credentials lie open in the daemon's memory.
func TestMemoryOfProcessesIsNotRead(t *testing.T) {
	for command, refused := range map[string]bool{
		"strings /proc/4711/mem":                      true,
		"strings /proc/$(pgrep writd)/mem":            true,
		"dd if=/proc/4711/task/4712/mem bs=1 count=9": true,
		"cat /proc/kcore | strings":                   true,
		"head -c 9 /dev/mem":                          true,
		"cat /proc/meminfo":                           false,
		"cat /proc/self/status":                       false,
		"ls /proc/4711":                               false,
	} {
		x := newSession(t, ModeConversation)
		d := x.shell(command)
		if got := d.Verdict == Deny && d.Rule == RuleProtected; got != refused {
			t.Errorf("%s: %s %s %s", command, d.Verdict, d.Rule, d.Reason)
		}
	}
}
