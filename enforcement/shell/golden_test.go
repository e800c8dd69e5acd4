package shell

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/commands.golden anew")

const goldenCommands = "testdata/commands.golden"

// TestCommandsStayJudged has every program of the table, bare, with operands and
// with each of its options, and how it is judged. A line that turns from w or ?
// to r lets a writer pass for a reader.
func TestCommandsStayJudged(t *testing.T) {
	golden, err := os.ReadFile(goldenCommands)
	if err != nil && !*update {
		t.Fatal(err)
	}
	commands := map[string]bool{}
	for line := range strings.Lines(string(golden)) {
		want, command, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		commands[command] = true
		if got := judgement(command); got != want && !*update {
			t.Errorf("%s: %s, was %s", command, got, want)
		}
	}
	var missing []string
	for _, command := range tableCommands() {
		if !commands[command] {
			missing = append(missing, command)
		}
	}
	if len(missing) > 0 && !*update {
		t.Errorf("%d commands of the table are not in %s, the first is %q; -update adds them", len(missing), goldenCommands, missing[0])
	}
	if !*update {
		return
	}
	var b strings.Builder
	missing = slices.AppendSeq(missing, maps.Keys(commands))
	slices.Sort(missing)
	for _, command := range slices.Compact(missing) {
		b.WriteString(judgement(command) + " " + command + "\n")
	}
	if err := os.WriteFile(goldenCommands, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// judgement is r for a reader, w for a writer, m for one of git's own data and ?
// for what cannot be told.
func judgement(command string) string {
	switch r := Analyse(command, repoEnv()); {
	case r.Effect == ReadsOnly:
		return "r"
	case r.GitMetadata:
		return "m"
	case r.Effect == Writes:
		return "w"
	}
	return "?"
}

// tableCommands are calls of all programs of the table: those of an entry's first
// name have its options, too.
func tableCommands() (commands []string) {
	entries := map[*entry]bool{}
	registered := registry()
	options := tableOptions()
	for _, name := range slices.Sorted(maps.Keys(registered)) {
		if strings.HasPrefix(name, "%") {
			continue
		}
		call := strings.NewReplacer("/", " ", "!", " ").Replace(name)
		commands = append(commands, call, call+" a.txt b.txt")
		if e := registered[name]; e.name == name && !entries[e] {
			for _, o := range options[name] {
				commands = append(commands, call+" "+o+" v a.txt b.txt")
			}
		}
	}
	slices.Sort(commands)
	return slices.Compact(commands)
}

// tableOptions are the words with a dash in the text of each entry; letters that
// take a value stand together there.
func tableOptions() map[string][]string {
	options := map[string][]string{}
	name, program := "", ""
	for line := range strings.Lines(commandsTable) {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "let ") {
			continue
		}
		words := strings.Fields(line)
		if len(words) > 0 && !strings.HasPrefix(line, "\t") {
			if name = words[0]; strings.HasPrefix(name, "/") || strings.HasPrefix(name, "!") {
				name = program + name
			}
			program, _, _ = strings.Cut(name, "/")
		}
		takes := false
		for i, w := range words {
			takes = w == "takes" || takes && (i == 0 || !strings.HasSuffix(words[i-1], ";"))
			w = strings.Trim(w, "!;*?")
			switch {
			case len(w) < 2 || w[0] != '-' || w == "--" || w == "->":
			case takes && w[1] != '-':
				for _, letter := range w[1:] {
					options[name] = append(options[name], "-"+string(letter))
				}
			default:
				options[name] = append(options[name], w)
			}
		}
	}
	return options
}
