package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoLinkIsLaidWhereOthersWrite: a host's shell writes where it stands to a file of a
// temp folder, by a name that a command can find out, and follows a link that it finds
// there. In folders of a temp folder links are laid as ever.
func TestNoLinkIsLaidWhereOthersWrite(t *testing.T) {
	needLandlock(t)
	lays := []string{
		`ln -s $P/src/main.go $T/cwd`,
		`cd $T && ln -s $P/src/main.go cwd`,
		`mkdir $T/d; ln -s $P/src/main.go $T/d/l; mv $T/d/l $T/cwd`,
		`mkdir $T/d; ln -s $P/src/main.go $T/d/l; ln -P $T/d/l $T/cwd`,
		`mkdir $T/d; ln -s $P/src/main.go $T/d/../cwd`,
		`mkdir $T/d; cd $T/d; ln -s $P/src/main.go /proc/self/cwd/../cwd`,
		`cd $T; ln -s $P/src/main.go /proc/./self/cwd/cwd`,
	}
	for user, uid := range users() {
		for _, profile := range []Profile{ReadOnly, Implementation} {
			t.Run(user+"/"+string(profile), func(t *testing.T) {
				for _, lay := range lays {
					for _, held := range []bool{false, true} {
						w := newWorld(t, uid)
						command := w.plain("/bin/sh", "-c", lay)
						if held {
							command = w.confined(w.options(profile, "/bin/sh", "-c", lay))
						}
						said, _ := w.result(command)
						out, _ := w.result(w.plain("/bin/sh", "-c", `pwd > $T/cwd`))
						raw, err := os.ReadFile(filepath.Join(w.project, "src", "main.go"))
						if changed := !strings.HasPrefix(string(raw), "package"); changed == held {
							t.Errorf("held %v, %s: src/main.go is %q, %v: %s%s", held, lay, raw, err, said, out)
						}
					}
				}
				w := newWorld(t, uid)
				out, exit := w.run(profile, `set -e; mkdir $T/d; ln -s file $T/d/a; cd $T/d; ln -s file b; echo x > a; cat b; ln -s /nonexistent/$(printf %01000d) c; readlink c | wc -c; ! ln -s x b 2>/dev/null
(until [ -e go ]; do sleep .01; done; ln -s file late; touch done) >/dev/null 2>&1 &`)
				if exit != 0 || out != "x\n1014\n" {
					t.Errorf("links in a folder of a temp folder: %d, %s", exit, out)
				}
				if out, _ := w.result(w.plain("/bin/sh", "-c", `cd $T/d; touch go; until [ -e done ]; do sleep .01; done; readlink late`)); out != "file\n" {
					t.Errorf("a link that a job lays: %q", out)
				}
			})
		}
	}
}
