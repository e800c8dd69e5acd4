package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// ruleFile is the smallest rule with an id, and edges if any.
func ruleFile(id string, targets ...string) *fstest.MapFile {
	var b strings.Builder
	b.WriteString("---\nid: " + id + "\nseverity: low\ntrigger: when\nstatement: do\n")
	for i, target := range targets {
		if i == 0 {
			b.WriteString("edges:\n")
		}
		b.WriteString("  - {type: RELATED_TO, target: " + target + "}\n")
	}
	b.WriteString("---\n")
	return &fstest.MapFile{Data: []byte(b.String())}
}

func TestLoad(t *testing.T) {
	folder := fstest.MapFS{
		"README.md":      {Data: []byte("# Rules\n")},
		"notes.txt":      {Data: []byte("no rule")},
		".git/x.md":      {Data: []byte("no rule")},
		"go/b.md":        ruleFile("B-B-B", "A-A-A"),
		"go/a.MD":        ruleFile("A-A-A", "B-B-B", "C-C-C"),
		"go/deep/b2.md":  ruleFile("B-B-B"),
		"py/broken.md":   {Data: []byte("---\nid: D-D-D\nseverity: urgent\ncolour: red\n---\n")},
		"0/battle.md":    {Data: append([]byte(nil), strings.Replace(string(ruleFile("E-E-E").Data), "trigger", "confidence: battle-tested\ntrigger", 1)...)},
		"py/too-long.md": {Data: []byte(strings.Repeat("x", MaxSize+1))},
	}
	files, problems := Load(folder)

	var got []string
	for _, f := range files {
		got = append(got, f.Rule.ID+" "+f.Path)
		sum := sha256.Sum256(folder[f.Path].Data)
		if f.Hash != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: hash %s is not that of the file", f.Path, f.Hash)
		}
	}
	want := []string{"A-A-A go/a.MD", "B-B-B go/b.md", "E-E-E 0/battle.md"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c := files[2].Rule.Confidence; c != "production-validated" {
		t.Errorf("battle-tested was taken as %q", c)
	}

	got = nil
	for _, p := range problems {
		got = append(got, string(p.Kind)+" "+p.ID+" "+p.Target+" "+p.String())
	}
	want = []string{
		"downgraded E-E-E  0/battle.md:4: battle-tested is granted by recorded outcomes only: taken as production-validated",
		"unknown_target A-A-A C-C-C go/a.MD:8: edge RELATED_TO points to C-C-C, which no file here defines: correct the id, or add that rule",
		"duplicate B-B-B  go/deep/b2.md:2: id B-B-B is taken by go/b.md: give one of them another id",
		"invalid D-D-D  py/broken.md:4: unknown key \"colour\": remove it, or correct its spelling",
		"invalid   py/too-long.md:1: file has 1048577 bytes or more, the limit is 1048576: move the long part elsewhere and link to it",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLoadChecksBothEnds(t *testing.T) {
	playbook := &fstest.MapFile{Data: []byte("---\ntype: Playbook\nid: P-P-P\nseverity: low\ntrigger: when\nstatement: do\nedges:\n" +
		"  - {type: DISPATCHES, target: A-A-A}\n  - {type: TEACHES, target: A-A-A}\nplaybook: {phases: [X]}\n---\n")}
	files, problems := Load(fstest.MapFS{"a.md": ruleFile("A-A-A"), "p.md": playbook})
	if len(files) != 2 || len(problems) != 1 || problems[0].Kind != KindWrongEndpoint || problems[0].String() !=
		"p.md:8: edge DISPATCHES from a Playbook points to Skill, Playbook, Technique or SubagentRole, but A-A-A is a Rule" {
		t.Errorf("files %v, problems %v", files, problems)
	}
}

func TestLoadEmpty(t *testing.T) {
	files, problems := Load(fstest.MapFS{})
	if len(files) != 0 || len(problems) != 0 {
		t.Errorf("files %v, problems %v", files, problems)
	}
}

// unreadable fails to open one file of a folder.
type unreadable struct {
	fstest.MapFS
	name string
}

func (u unreadable) Open(name string) (fs.File, error) {
	if name == u.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return u.MapFS.Open(name)
}

func TestLoadReportsWhatItCannotRead(t *testing.T) {
	files, problems := Load(unreadable{fstest.MapFS{"a.md": ruleFile("A-A-A"), "b.md": ruleFile("B-B-B")}, "b.md"})
	if len(files) != 1 || files[0].Rule.ID != "A-A-A" {
		t.Errorf("files %v", files)
	}
	if len(problems) != 1 || problems[0].String() != "b.md: cannot read: open b.md: permission denied" {
		t.Errorf("problems %v", problems)
	}
}

func TestErrorWrapsInvalid(t *testing.T) {
	err := error(&Error{Problems: []Problem{{Path: "a.md", Line: 3, Reason: "x"}, {Path: "b.md", Reason: "y"}}})
	if !errors.Is(err, ErrInvalid) || err.Error() != "a.md:3: x\nb.md: y" {
		t.Errorf("%q", err)
	}
}
