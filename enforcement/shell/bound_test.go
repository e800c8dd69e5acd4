package shell

import (
	"strings"
	"testing"
)

// TestLargeCommandsAreNotFollowed checks the bounds that keep an answer within
// its time: what lies beyond them is said to be unknown, never to be harmless.
func TestLargeCommandsAreNotFollowed(t *testing.T) {
	for name, command := range map[string]string{
		"text":       "echo " + strings.Repeat("a ", maxPlain/2),
		"conditions": strings.Repeat("if ", maxNesting+1),
		"loops":      strings.Repeat("while ", maxNesting+1),
		"words":      strings.Repeat("touch "+strings.Repeat("{a,b}", 40)+";", 10),
		"a program":  "perl -ne '" + strings.Repeat("1;", maxOneLiner) + "'",
	} {
		if r := Analyse(command, repoEnv()); r.Effect != CannotTell {
			t.Errorf("%s: %v", name, r.Effect)
		}
	}
	for name, command := range map[string]string{
		"a here-document":               "cat > src/a.go <<'EOF'\n" + strings.Repeat("if x { y(); }\n", 8000) + "EOF\n",
		"one in a command substitution": "git commit -m \"$(cat <<'EOF'\n" + strings.Repeat("for while if\n", 8000) + "EOF\n)\"",
		"two":                           "cat > a <<A && cat > b <<B\n" + strings.Repeat("x\n", 9000) + "A\n" + strings.Repeat("y\n", 9000) + "B\n",
	} {
		if r := Analyse(command, repoEnv()); r.Effect != Writes {
			t.Errorf("%s: %v %v", name, r.Effect, r.Reasons)
		}
	}
}
