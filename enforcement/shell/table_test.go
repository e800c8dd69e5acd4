package shell

import (
	"slices"
	"strings"
	"testing"
)

// TestTableReads: the table has no mistake in its notation, whatever is behind
// "as" is there, and no function is kept for nothing.
func TestTableReads(t *testing.T) {
	entries := readTable(commandsTable)
	words := strings.FieldsFunc(commandsTable, func(r rune) bool { return strings.ContainsRune(" \t\n;", r) })
	used := map[string]bool{}
	for i, w := range words[:len(words)-1] {
		switch next := words[i+1]; {
		case w == "as" && entries[next] == nil && next != "ENTRY" && next != "another" && strings.ContainsAny(next, "%/"):
			t.Errorf("nothing is called %s", next)
		case w == "go":
			used[next] = true
		}
	}
	for name := range programs {
		if !used[name] {
			t.Errorf("the table does not use the function %s", name)
		}
	}
}

// TestTableRefusesMistakes: a word that the notation does not know is not passed
// over, which could make a writer a reader.
func TestTableRefusesMistakes(t *testing.T) {
	for _, line := range []string{
		"x", "x : wrote operands", "x : maybe -o -> stop", "x : write everything", "x : go nowhere", "x : operands many -> stop",
		"x : any~ ( -> stop", "x y x :", "x : write operands:y",
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q passes", line)
				}
			}()
			readTable(line)
		}()
	}
}

// TestUnknownProgramsAreNotReaders names nothing that is in the table.
func TestUnknownProgramsAreNotReaders(t *testing.T) {
	names := []string{"nosuchprogram", "%kube", "npm/install", "git!push", "go/build"}
	for _, name := range names {
		if r := Analyse(name+" a", repoEnv()); r.Effect != CannotTell {
			t.Errorf("%s: %v", name, r.Effect)
		}
	}
	if !slices.Contains(names, "%kube") {
		t.Fatal("no entry that is only meant for others")
	}
}
