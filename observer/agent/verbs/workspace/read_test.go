package workspace

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
)

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func TestRead(t *testing.T) {
	png, _ := base64.StdEncoding.DecodeString(pixel)
	b := newBench(t, map[string]string{
		"a.txt": "one\ntwo\nthree\n", "no end": "one\ntwo", "empty": "", "crlf": "a\r\nb\r\n", "p.png": string(png), "bin": "\x7fELF\x00\x01",
		"utf16": "\xff\xfeh\x00\xe9\x00\n\x00", "d/x": "in d\n", "odd": "a\xffb\n",
	})
	for _, c := range []struct{ args, want string }{
		{"a.txt", "a.txt: 3 lines, 14 bytes\n\none\ntwo\nthree\n"},
		{" a.txt ", "a.txt: 3 lines, 14 bytes\n\none\ntwo\nthree\n"},
		{"./d/../a.txt:2", "a.txt: lines 2 to 2 of 3, 14 bytes in all\n\ntwo\n"},
		{"a.txt:2-", "a.txt: lines 2 to 3 of 3, 14 bytes in all\n\ntwo\nthree\n"},
		{"a.txt:1-2", "a.txt: lines 1 to 2 of 3, 14 bytes in all\n\none\ntwo\n"},
		{"a.txt:2-99", "a.txt: lines 2 to 3 of 3, 14 bytes in all\n\ntwo\nthree\n"},
		{"a.txt:4", "ERR: a.txt has 3 lines. Adapt: ask for lines that there are."},
		{"a.txt:3-2", "ERR: the lines 3-2 end before they begin."},
		{"no end", "no end: 2 lines, 7 bytes\n\none\ntwo"},
		{"no end:2", "no end: lines 2 to 2 of 2, 7 bytes in all\n\ntwo"},
		{"empty", "empty: an empty file\n"},
		{"crlf", "crlf: 2 lines, 6 bytes\n\na\r\nb\r\n"},
		{"utf16", "utf16: 1 lines, 8 bytes\n\nhé\n"},
		{"odd", "odd: 1 lines, 4 bytes\n\na\xffb\n"},
		{filepath.Join(b.dir, "d/x"), "d/x: 1 lines, 5 bytes\n\nin d\n"},
		{"bin", "bin is binary: application/octet-stream, 6 bytes, sha256 "},
		{"d", "ERR: d is a folder. Adapt: /map d shows what is in it."},
		{"nothing", "ERR: there is no nothing. Adapt: /map shows what there is."},
		{"a.txt/x", "ERR: a.txt/x cannot be read: not a directory."},
		{".", "ERR: the workspace is a folder."},
		{"#1", "ERR: this conversation keeps no artifacts."},
		{"a\\b", "ERR: \"a\\\\b\" is no path"},
		{"a\x00b", "ERR: \"a\\x00b\" is no path"},
	} {
		r := b.call("read", c.args, nil)
		if r.Text != c.want && (strings.HasSuffix(c.want, "\n") || !strings.HasPrefix(r.Text, c.want)) {
			t.Errorf("/read %s: %q", c.args, r.Text)
		}
		if failed := strings.HasPrefix(c.want, "ERR:"); failed != (r.Outcome == verbs.Failed) || !failed && r.Trust != verbs.TrustFile {
			t.Errorf("/read %s: %q, %q", c.args, r.Outcome, r.Trust)
		}
	}
	if r := b.call("read", "p.png", nil); len(r.Images) != 1 || r.Images[0].MIME != "image/png" || !bytes.Equal(r.Images[0].Data, png) {
		t.Errorf("%+v", r)
	}
}

// TestReadGoesOn follows what each result says until the file is through.
func TestReadGoesOn(t *testing.T) {
	var whole strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&whole, "line %d %s\n", i, strings.Repeat("ü", i%50))
	}
	b := newBench(t, map[string]string{"long.txt": whole.String()})
	var got strings.Builder
	for args, rounds := "long.txt", 0; args != ""; rounds++ {
		r := b.call("read", args, nil)
		if len(r.Text) > b.limits.Body {
			t.Fatalf("%s: %d bytes", args, len(r.Text))
		}
		_, body, _ := strings.Cut(r.Text, "\n\n")
		body, rest, more := strings.Cut(body, "[cut; go on with /read ")
		got.WriteString(body)
		if args = ""; more {
			args = strings.TrimSuffix(rest, "]\n")
		}
		if rounds > 100 {
			t.Fatal("it never ends")
		}
	}
	if got.String() != whole.String() {
		t.Errorf("%d bytes of %d", got.Len(), whole.Len())
	}
}

func TestReadOfALongLine(t *testing.T) {
	b := newBench(t, map[string]string{"min.js": strings.Repeat("é", 50_000) + "\nnext\n"})
	r := b.call("read", "min.js", nil)
	if len(r.Text) > b.limits.Body || !strings.Contains(r.Text, "[line 1 goes on: it has 100001 bytes]") || !strings.Contains(r.Text, "/read min.js:2-2]") || strings.Contains(r.Text, "\uFFFD") {
		t.Errorf("%d bytes, ending %q", len(r.Text), r.Text[len(r.Text)-200:])
	}
	if r := b.call("read", "min.js:2", nil); !strings.HasSuffix(r.Text, "\n\nnext\n") {
		t.Errorf("%q", r.Text)
	}
}

// TestTakeLines compares with a plain way to do it, for all small limits.
func TestTakeLines(t *testing.T) {
	for _, text := range []string{"", "\n", "a", "a\n", "ab\ncd\nef", "\n\nx\n", "éé\né\n"} {
		all := strings.SplitAfter(text, "\n")
		if all[len(all)-1] == "" {
			all = all[:len(all)-1]
		}
		for from := 0; from < 5; from++ {
			for to := 0; to < 5; to++ {
				for limit := 0; limit < 10; limit++ {
					got, err := takeLines(strings.NewReader(text), dialect.Lines{From: from, To: to}, limit)
					if err != nil {
						t.Fatal(err)
					}
					want, taken := "", 0
					for i, line := range all {
						if i+1 < from || to > 0 && i+1 > to {
							continue
						}
						if len(want)+len(line) > limit {
							break
						}
						want, taken = want+line, taken+1
					}
					if got.total != len(all) || got.cut == 0 && (string(got.body) != want || got.taken != taken) {
						t.Errorf("%q %d-%d in %d: %q, %+v; expected %q", text, from, to, limit, got.body, got, want)
					}
					if got.cut > 0 && (taken != 0 || len(got.body) > limit || got.cut <= limit) {
						t.Errorf("%q %d-%d in %d: cut %q, %+v", text, from, to, limit, got.body, got)
					}
				}
			}
		}
	}
}

func TestReadStaysInside(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "inside\n", "docs/b.txt": "granted\n", "private/data": "not for agents\n"})
	b.link(b.outside, "out")
	b.link("../outside/secret", "secret")
	b.link("a.txt", "in")
	b.link(filepath.Join(b.dir, "a.txt"), "absolute")
	b.link("loop", "loop")
	b.link("../a.txt", "docs/up")
	b.options.Private = []string{filepath.Join(b.dir, "private")}
	b.handlers = Handlers(b.options)
	for _, name := range []string{
		"../outside/secret", b.outside + "/secret", "/etc/passwd", "out/secret", "secret", "docs/../../outside/secret", b.dir + "/../outside/secret",
		"loop", "private/data", b.dir + "x", "~/x",
	} {
		r := b.call("read", name, nil)
		if !strings.HasPrefix(r.Text, "ERR: ") || strings.Contains(r.Text, "the secret") || strings.Contains(r.Text, "not for") {
			t.Errorf("/read %s: %q", name, r.Text)
		}
	}
	for _, name := range []string{"in", "absolute", "docs/up"} {
		if r := b.call("read", name, nil); !strings.HasSuffix(r.Text, "inside\n") {
			t.Errorf("/read %s: %q", name, r.Text)
		}
	}
	b.grants = []string{"/read path=docs/**"}
	if r := b.call("read", "docs/b.txt", nil); !strings.HasSuffix(r.Text, "granted\n") {
		t.Errorf("%q", r.Text)
	}
	if r := b.call("read", "docs/up", nil); !strings.Contains(r.Text, "leads to a.txt, which is not granted") {
		t.Errorf("%q", r.Text)
	}
}

func TestArtifacts(t *testing.T) {
	b := newBench(t, nil)
	if r := b.call("list", "", nil); r.Text != "OK: no artifacts" {
		t.Errorf("%q", r.Text)
	}
	b.options.Artifacts = shelf{{ID: "1", Name: "a.txt", MIME: "text/plain", Data: []byte("one\ntwo\n"), Size: 8}}
	b.handlers = Handlers(b.options)
	for args, want := range map[string]string{
		"#1": "#1 a.txt: 2 lines, 8 bytes\n\none\ntwo\n", "#1:2": "#1 a.txt: lines 2 to 2 of 2, 8 bytes in all\n\ntwo\n",
		"#2": "ERR: there is no artifact #2. Adapt: /list shows those there are.", "#": "ERR: there is no artifact #. Adapt: /list shows those there are.",
	} {
		if r := b.call("read", args, nil); r.Text != want {
			t.Errorf("/read %s: %q", args, r.Text)
		}
	}
	if r := b.call("list", "", nil); r.Text != "#1 a.txt (text/plain, 8 bytes)\n" {
		t.Errorf("%q", r.Text)
	}
	if r := b.call("list", "x", nil); r.Outcome != verbs.Failed {
		t.Errorf("%q", r.Text)
	}
}

func TestAWorkspaceThatIsGone(t *testing.T) {
	b := newBench(t, nil)
	if err := os.RemoveAll(b.dir); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"read", "map", "write", "exec"} {
		if r := b.call(verb, "x", []byte{}); !strings.HasPrefix(r.Text, "ERR: the workspace ") {
			t.Errorf("/%s: %q", verb, r.Text)
		}
	}
}
