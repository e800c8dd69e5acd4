package vocabulary

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/scanner"
)

var update = flag.Bool("update", false, "write help/verbs.md")

type scanned struct {
	commands []scanner.Command
	notes    []string
}

func (*scanned) Prose([]byte)                {}
func (s *scanned) Command(c scanner.Command) { s.commands = append(s.commands, c) }
func (s *scanned) Diagnostic(d scanner.Diagnostic) {
	s.notes = append(s.notes, string(d.Kind)+" "+d.Name)
}

func scan(text string) *scanned {
	found := &scanned{}
	s := scanner.New(Table(), found)
	_, _ = s.Write([]byte(text))
	_ = s.Close()
	return found
}

// Every verb of the table is a command of the scanner as the table says, and is
// in the help, in an agent's prompt and in the reference.
func TestTheScannerKnowsTheTable(t *testing.T) {
	prompt, page := dialect.Prompt(dialect.NewGrant([]string{"*"})), reference()
	overview, _ := dialect.Help("")
	for _, v := range dialect.Verbs() {
		args := "x"
		if v.Block != nil {
			args = strings.Join(append(v.Block.Words[:len(v.Block.Words):len(v.Block.Words)], "x"), " ")
		}
		text := fmt.Sprintf("/%s %s\n", v.Name, args)
		if v.Block != nil {
			for _, end := range v.Block.Terminators {
				found := scan(text + "body\n/" + end + "\n")
				if len(found.commands) != 1 || !found.commands[0].HasBody || found.commands[0].Body != "body\n" {
					t.Errorf("/%s with /%s: %+v %v", v.Name, end, found.commands, found.notes)
				}
			}
		} else if found := scan(text); len(found.commands) != 1 || found.commands[0].Verb != v.Name || found.commands[0].Args != args {
			t.Errorf("/%s: %+v", v.Name, found)
		}
		bare := scan("/" + v.Name + "\n")
		if missing := len(bare.notes) > 0 && strings.HasPrefix(bare.notes[0], "missing_argument"); missing != v.Required {
			t.Errorf("/%s alone: %v, required %v", v.Name, bare.notes, v.Required)
		}
		for name, doc := range map[string]string{"the overview": overview, "the prompt": prompt, "the reference": page} {
			if !strings.Contains(doc, "/"+v.Name) {
				t.Errorf("/%s is not in %s", v.Name, name)
			}
		}
		about, ok := dialect.Help(v.Name)
		for _, sub := range v.Subs {
			if use := "/" + v.Name + " " + sub.Name; !ok || !strings.Contains(about, use) || !strings.Contains(page, use) {
				t.Errorf("%s is not explained", use)
			}
		}
	}
}

func TestReferenceIsCurrent(t *testing.T) {
	path := filepath.Join("help", "verbs.md")
	if *update {
		if err := os.WriteFile(path, []byte(reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(committed), "\r\n", "\n") != reference() {
		t.Errorf("%s does not say what the table says; go test ./observer/agent/vocabulary -update writes it", path)
	}
}
