package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/enforcement/owncommand"
)

// Every command is on one side of the table of who may do what, and the table
// knows no others.
func TestEveryCommandIsSomebodys(t *testing.T) {
	left := owncommand.Commands()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		_, path, _ := strings.Cut(c.CommandPath(), " ")
		if _, known := left[path]; !known && path != "" {
			t.Errorf("nobody says whose `writ %s` is", path)
		}
		if len(c.Aliases) > 0 {
			t.Errorf("`writ %s` has other names, which the table does not know: %v", path, c.Aliases)
		}
		delete(left, path)
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk((&app{&client.Client{}}).tree())
	for _, made := range []string{"help", "completion"} { // cobra adds them when it runs
		delete(left, made)
	}
	for path := range left {
		t.Errorf("there is no command `writ %s`", path)
	}
}

// What is not an agent's is refused below one, whatever the hook let through.
func TestPersonsCommandsAreRefusedBelowAnAgent(t *testing.T) {
	for path, side := range owncommand.Commands() {
		words := strings.Fields(path)
		found, _, err := (&app{&client.Client{}}).tree().Find(words)
		if err != nil || side != owncommand.Person {
			continue
		}
		a := &app{&client.Client{Env: client.Env{Vars: []string{"CLAUDECODE=1"}}}}
		tree := a.tree()
		refused := tree.PersistentPreRunE(found, nil)
		if refused == nil || !strings.Contains(refused.Error(), "for the user alone") {
			t.Errorf("`writ %s` runs for an agent: %v", path, refused)
		}
	}
}
