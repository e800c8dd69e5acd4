package hosts

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/test/hosts/script"
)

// everyday are commands that agents run all day and that write nothing.
const everyday = "testdata/everyday.txt"

// atOnce is how many of them a model asks for in one answer: an agent that looks
// for loops takes many short ones for one.
const atOnce = 10

// ownWords are an agent's about a run: which process it was, how long it took,
// and that a hook has changed the command.
var ownWords = regexp.MustCompile(`<shellId: \d+|Process Group PGID: \d+|Wall time [\d.]+ seconds|"chunk_id":"\w+"|"wall_time_seconds":[\d.e-]+|\s*\[System\] Tool input parameters were modified by a hook before execution\.`)

// runsCode are the commands of whose text nobody can tell what they write: they run
// where they are held, and are asked for elsewhere.
var runsCode = regexp.MustCompile(`^python3 -c|^node -|^sqlite3`)

// TestEverydayCommands: what an agent's model is told of commands that only read
// is the same with Writ as without, and so is the project afterwards.
func TestEverydayCommands(t *testing.T) {
	folders(t)
	raw, err := os.ReadFile(everyday)
	if err != nil {
		t.Fatal(err)
	}
	commands := strings.Split(strings.TrimSpace(string(raw)), "\n")
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			if a.slow && os.Getenv("WRIT_TEST_HOSTS_SLOW") == "" {
				t.Skip("it takes seconds to start: WRIT_TEST_HOSTS_SLOW=1 drives it as well")
			}
			t.Parallel()
			without, before := looks(bare(t, a), commands)
			with, after := looks(guarded(t, a), commands)
			if len(with) != len(commands) || len(without) != len(commands) {
				t.Fatalf("%d commands have %d results with Writ and %d without:\n%s", len(commands), len(with), len(without), tail(strings.Join(with, "\n--\n")))
			}
			for i, command := range commands {
				switch {
				case !a.confines && runsCode.MatchString(command):
					if !strings.Contains(with[i], unjudged) {
						t.Errorf("%s runs as it is where nothing holds it:\n%s", command, tail(with[i]))
					}
				case strings.Contains(without[i], "Command injection detected"):
					// What Gemini CLI does not run at all runs where it is held.
				case with[i] != without[i]:
					t.Errorf("%s\nwith Writ:\n%s\nwithout:\n%s", command, tail(with[i]), tail(without[i]))
				}
			}
			if before != after {
				t.Errorf("the project afterwards, with Writ:\n%s\nwithout:\n%s", after, before)
			}
		})
	}
}

// looks has the agent run each command in a project of some files, and returns
// what its model was told and what the project's files are afterwards.
func looks(r *rig, commands []string) (results []string, files string) {
	r.t.Helper()
	for path, text := range map[string]string{
		"README.md": "# Shop\n\nIt sells.\n", "data.csv": "pear,3\napple,5\npear,8\n", "package.json": `{"name": "shop", "version": "1.0.0"}` + "\n",
		"src/cart.py": "def total(prices):\n    return sum(prices)\n", "src/tax.py": "def tax(total):\n    return total * 0.19\n", "Makefile": "all:\n\ttouch made\n",
	} {
		r.write(path, text)
	}
	r.must("git", "add", "README.md", "data.csv", "package.json", "src", "Makefile")
	r.must("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "sell")
	r.write(".git/info/exclude", ".*/\n") // the settings that guard it
	prompt := "Have a look around."
	var steps []script.Reply
	together := atOnce
	if r.agent.sideBySide {
		together = 1
	}
	for some := range slices.Chunk(commands, together) {
		var reply script.Reply
		for _, command := range some {
			reply.Calls = append(reply.Calls, r.agent.shell(command))
		}
		steps = append(steps, reply)
	}
	r.model.Scripts = map[string][]script.Reply{prompt: append(steps, script.Reply{Text: "That is what there is."})}
	_, results = r.turn(prompt)
	for i, result := range results {
		results[i] = strings.TrimSpace(ownWords.ReplaceAllString(strings.ReplaceAll(result, filepath.Dir(r.project), ""), ""))
	}
	var all strings.Builder
	err := filepath.WalkDir(r.project, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != r.project {
			return fs.SkipDir
		}
		if d.Type().IsRegular() {
			raw, err := os.ReadFile(path)
			all.WriteString(strings.TrimPrefix(path, r.project) + "\n" + string(raw))
			return err
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return results, all.String()
}
